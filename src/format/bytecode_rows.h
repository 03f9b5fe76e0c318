// SPDX-License-Identifier: BSD-2-Clause
// The instructions of the lite interpreter that stand for an operator (from bytecode 8 on, some always).
#ifndef TAPER_FORMAT_BYTECODE_ROWS_H
#define TAPER_FORMAT_BYTECODE_ROWS_H

// The operator that an instruction stands for.
typedef struct taper_bytecode_row {
    const char *name, *overload;
    int inputs; // that it takes from the stack; -1: as many as its x says
} taper_bytecode_row;
const taper_bytecode_row *taper_bytecode_row_of(unsigned op); // NULL: none
// The instruction that the operator is since bytecode 8, when files do not list it among their operators; -1: none.
int taper_bytecode_instruction_of(const char *name, const char *overload);

#endif
