// SPDX-License-Identifier: BSD-2-Clause
// What kernels share whose inner loops are assembler for arm64: one statement holds a whole loop, because operands of a
// statement are 30 at most and the vector registers alone 32. Compilers choose the other registers.
#ifndef TAPER_KERNELS_ASSEMBLER_NEON_H
#define TAPER_KERNELS_ASSEMBLER_NEON_H

#pragma GCC diagnostic ignored "-Woverlength-strings" // compilers take long ones

#define LINE(text) text "\n\t"
// macro(arguments), of which some are lists of registers.
#define SPREAD(macro, ...) macro(__VA_ARGS__)
// All of them change.
#define VECTOR_REGISTERS                                                                                               \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",       \
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"

#endif
