// SPDX-License-Identifier: BSD-2-Clause
// The instructions of the lite interpreter that stand for an operator (since bytecode 8, and some always).
#ifndef TAPER_FORMAT_BYTECODE_ROWS_H
#define TAPER_FORMAT_BYTECODE_ROWS_H

// The operator behind an instruction.
typedef struct taper_bytecode_row {
    const char *name, *overload;
    int inputs; // values that it takes from the stack; -1 if the instruction's x says the number
} taper_bytecode_row;
const taper_bytecode_row *taper_bytecode_row_of(unsigned op); // NULL for other instructions
// Returns the instruction that has replaced the operator since bytecode 8, so that files do not list it among their
// operators, or -1.
int taper_bytecode_instruction_of(const char *name, const char *overload);

#endif
