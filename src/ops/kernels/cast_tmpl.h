// SPDX-License-Identifier: BSD-2-Clause
// The loops of cast.h; CAST_ENTRY(instruction set) makes the entry. Whoever includes it is built with that set's flags.
#include "ops/kernels/cast.h"

#define CAST(from_dtype, to_dtype, x_type, y_type, value)                                                              \
    static void cast_##from_dtype##_##to_dtype(size_t n, const void *restrict from, void *restrict to)                 \
    {                                                                                                                  \
        const x_type *restrict x = from;                                                                               \
        y_type *restrict y = to;                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const x_type v = x[i];                                                                                     \
            y[i] = value;                                                                                              \
        }                                                                                                              \
    }
TAPER_CASTS(CAST)
#undef CAST

#define CAST(from, to, x_type, y_type, value) [TAPER_CAST_##from##_##to] = cast_##from##_##to,
#define CAST_ENTRY(isa)                                                                                                \
    const taper_cast_entry taper_cast_##isa = {.name = #isa, .cpu = TAPER_ISA_##isa, .casts = {TAPER_CASTS(CAST)}};
