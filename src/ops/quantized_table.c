// SPDX-License-Identifier: BSD-2-Clause
// Functions of one quantized byte, as tables of their 256 results.
#include "ops/quantized_walk.h"

void taper_q_translate(const uint8_t *table, size_t count, const uint8_t *x, uint8_t *y)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint8_t eight[8]; // so that the stores do not wait for the loads
        for (size_t k = 0; k < 8; k++) {
            eight[k] = table[x[i + k]];
        }
        memcpy(y + i, eight, 8);
    }
    for (; i < count; i++) {
        y[i] = table[x[i]];
    }
}
