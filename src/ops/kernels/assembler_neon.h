// SPDX-License-Identifier: BSD-2-Clause
// Macros for kernels whose inner loops are assembler for arm64. One asm statement contains a whole loop. Such a
// statement can have at most 30 operands, but there are 32 vector registers, so the statement names these registers
// directly; compilers choose the other registers.
#ifndef TAPER_KERNELS_ASSEMBLER_NEON_H
#define TAPER_KERNELS_ASSEMBLER_NEON_H

// Compilers accept the asm strings, although these are longer than ISO C's limit.
#pragma GCC diagnostic ignored "-Woverlength-strings"

#define LINE(text) text "\n\t"
// Expands macro(arguments), where an argument may be a list of registers.
#define SPREAD(macro, ...) macro(__VA_ARGS__)
// The clobber list: every vector register.
#define VECTOR_REGISTERS                                                                                               \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",       \
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"

#endif
