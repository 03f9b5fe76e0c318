// SPDX-License-Identifier: BSD-2-Clause
// The instructions of the lite interpreter that replace a call of an operator. Some of these instructions exist in
// every version, the others since bytecode version 8.
#ifndef TAPER_FORMAT_BYTECODE_ROWS_H
#define TAPER_FORMAT_BYTECODE_ROWS_H

// The operator that an instruction replaces.
typedef struct taper_bytecode_row {
    const char *name, *overload;
    int inputs; // number of values that the instruction takes from the stack; -1 if its operand x gives the number
} taper_bytecode_row;
// Returns the operator that instruction `op` replaces, or NULL if the instruction replaces no operator.
const taper_bytecode_row *taper_bytecode_row_of(unsigned op);
// Returns the instruction that replaces the operator from bytecode version 8 on, or -1 if no instruction does. Files do
// not list an operator that an instruction replaces.
int taper_bytecode_instruction_of(const char *name, const char *overload);

#endif
