// SPDX-License-Identifier: BSD-2-Clause
// The body of the convolution of planes, written with the functions of simd_scalar.h. A tile is a block of outputs by
// several vectors of positions; their number leaves registers for the inputs.
#include <math.h>

#include "ops/kernels/planar_f32.h"

enum { MOST_OUTPUTS = SIMD_REGISTERS == 32 ? 8 : 4, MOST_VECTORS = 4 };

#define VECTORS_FOR(outputs)                                                                                           \
    ((SIMD_REGISTERS - 2) / ((outputs) + 1) < MOST_VECTORS ? (SIMD_REGISTERS - 2) / ((outputs) + 1) : MOST_VECTORS)

// Computes one tile, whose first position is x. t selects the lanes of the last vector.
TAPER_TEMPLATE void tile(const size_t outputs, const size_t vectors, const taper_planar *p, const float *x, float *y,
                         VT t)
{
    V acc[MOST_OUTPUTS][MOST_VECTORS], in[MOST_VECTORS];
    const float *w = p->w;
    TAPER_UNROLL
    for (size_t o = 0; o < outputs; o++) {
        TAPER_UNROLL
        for (size_t v = 0; v < vectors; v++)
            acc[o][v] = v_set(w[o]);
    }
    // Skips the weights of the taps that the call does not use, between one input and the next.
    const size_t left_out = p->w_taps != 0 ? (p->w_taps - p->taps) * outputs : 0;
    w += (1 + p->w_first) * outputs;
    TAPER_NO_UNROLL
    for (size_t input = 0; input < p->inputs; input++, x += p->x_plane, w += left_out) {
        TAPER_NO_UNROLL
        for (size_t tap = 0; tap < p->taps; tap++, w += outputs) {
            const float *from = x + p->offsets[tap];
            TAPER_UNROLL
            for (size_t v = 0; v < vectors; v++)
                in[v] = v_load(from + v * VN);
            TAPER_UNROLL
            for (size_t o = 0; o < outputs; o++) {
                const V weight = v_set(w[o]);
                TAPER_UNROLL
                for (size_t v = 0; v < vectors; v++)
                    acc[o][v] = v_fma(weight, in[v], acc[o][v]);
            }
        }
    }
    const V low = v_set(p->min), high = v_set(p->max);
    TAPER_UNROLL
    for (size_t o = 0; o < outputs; o++, y += p->y_plane) {
        TAPER_UNROLL
        for (size_t v = 0; v + 1 < vectors; v++)
            v_store(y + v * VN, v_min(high, v_max(low, acc[o][v])));
        v_store_t(y + (vectors - 1) * VN, v_min(high, v_max(low, acc[o][vectors - 1])), t);
    }
}

// Computes whole tiles, then one tile with the vectors that are left.
TAPER_TEMPLATE void line(const size_t outputs, const taper_planar *p, size_t count)
{
    const size_t vectors = VECTORS_FOR(outputs);
    size_t at = 0;
    for (; at + vectors * VN <= count; at += vectors * VN)
        tile(outputs, vectors, p, p->x + at, p->y + at, v_first(VN));
    const size_t left = count - at;
    const VT t = v_first((left - 1) % VN + 1);
    if (left > 3 * VN)
        tile(outputs, 4, p, p->x + at, p->y + at, t);
    else if (left > 2 * VN)
        tile(outputs, 3, p, p->x + at, p->y + at, t);
    else if (left > VN)
        tile(outputs, 2, p, p->x + at, p->y + at, t);
    else if (left > 0)
        tile(outputs, 1, p, p->x + at, p->y + at, t);
}

#define LINE(outputs)                                                                                                  \
    TAPER_INSTANCE void line_##outputs(const taper_planar *p, size_t count)                                            \
    {                                                                                                                  \
        line(outputs, p, count);                                                                                       \
    }
LINE(1)
LINE(2)
LINE(3)
LINE(4)
#if SIMD_REGISTERS == 32
LINE(5)
LINE(6)
LINE(7)
LINE(8)
#define LINES line_1, line_2, line_3, line_4, line_5, line_6, line_7, line_8
#else
#define LINES line_1, line_2, line_3, line_4
#endif
#undef LINE

void SIMD(taper_planar_f32)(const taper_planar *planar, size_t count)
{
    static taper_planar_f32_function *const lines[] = {LINES};
    lines[planar->outputs - 1](planar, count);
}
