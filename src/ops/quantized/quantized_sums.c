// SPDX-License-Identifier: BSD-2-Clause
// The inner loop of the quantized layers. The compiler vectorizes it for the baseline instruction set.
#include "ops/quantized/quantized_layer.h"

uint32_t taper_q_dot(const uint8_t *x, const int8_t *w, int64_t count, int32_t x_zero, int32_t w_zero)
{
    // Differences fit into 16 bits, and products fit into 32 bits.
    const int16_t xz = (int16_t)x_zero, wz = (int16_t)w_zero;
    uint32_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const int16_t a = (int16_t)(x[i] - xz), b = (int16_t)(w[i] - wz);
        sum += (uint32_t)((int32_t)a * b);
    }
    return sum;
}
