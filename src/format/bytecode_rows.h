// SPDX-License-Identifier: BSD-2-Clause
// The instructions of the lite interpreter that stand for an operator (from bytecode 8 on, some always).
#ifndef TAPER_FORMAT_BYTECODE_ROWS_H
#define TAPER_FORMAT_BYTECODE_ROWS_H

#include <stdbool.h>

// The operator that an instruction stands for.
typedef struct taper_bytecode_row {
    const char *name, *overload;
    int inputs; // that it takes from the stack; -1: as many as its x says
} taper_bytecode_row;
const taper_bytecode_row *taper_bytecode_row_of(unsigned op); // NULL: none
// Whether the operator is an instruction since bytecode 8: files do not list it among their operators.
bool taper_bytecode_is_instruction(const char *name, const char *overload);

#endif
