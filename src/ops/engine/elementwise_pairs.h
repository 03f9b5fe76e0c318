// SPDX-License-Identifier: BSD-2-Clause
// Part of elementwise_convert.c: elements at every second position, such as the real parts of complex numbers.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H

#define GET_PAIRS(type, read)                                                                                          \
    if (step == 2 * (int64_t)sizeof(type)) {                                                                           \
        const type *f = (const type *)(const void *)from;                                                              \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const type v = f[2 * k];                                                                                   \
            t[k] = read;                                                                                               \
        }                                                                                                              \
        return;                                                                                                        \
    }

#endif
