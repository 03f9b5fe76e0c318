// SPDX-License-Identifier: BSD-2-Clause
// Packs int8 weights into the panels that the gemm kernels read.
#include <stdlib.h>
#include <string.h>

#include "ops/kernels/gemm_i8.h"

#if defined __aarch64__ || defined __arm__
enum { HAS_SIXTEENS = 1 };
#else
enum { HAS_SIXTEENS = 0 };
#endif

size_t taper_gemm_i8_panel_bytes(const taper_gemm_i8_entry *entry, size_t ks, size_t kc)
{
    const size_t groups = kc / entry->kr + (kc % entry->kr != 0);
    const size_t unit = (size_t)entry->kr * entry->nr;
    if (groups != 0 && ks > SIZE_MAX / 2 / unit / groups)
        return 0;
    return ks * groups * unit + taper_gemm_i8_marks(entry->marks, ks * groups);
}

size_t taper_gemm_i8_packed_bytes(const taper_gemm_i8_entry *entry, size_t n, size_t ks, size_t kc)
{
    const size_t panels = n / entry->nr + (n % entry->nr != 0);
    const size_t panel = taper_gemm_i8_panel_bytes(entry, ks, kc);
    return panel == 0 || panels > (SIZE_MAX - TAPER_GEMM_I8_TAIL) / panel ? 0 : panels * panel + TAPER_GEMM_I8_TAIL;
}

// Packs one tap of one column, and returns the sum of its weights. `to` is the address for the first weight.
static int64_t pack_tap(const taper_gemm_i8_pack *pack, const int8_t *from, size_t kr, size_t step, int8_t *to)
{
    const size_t inner = pack->k_inner == 0 ? 1 : pack->k_inner;
    const size_t used = pack->k_inner_used == 0 ? inner : pack->k_inner_used;
    int64_t sum = 0;
    size_t k = 0;
    if (inner == 1 && kr == 4) {
        const size_t s = pack->k_stride;
        for (; k + 4 <= pack->kc; k += 4, to += step, from += 4 * s) {
            const int8_t four[4] = {from[0], from[s], from[2 * s], from[3 * s]};
            memcpy(to, four, sizeof four);
            sum += four[0] + four[1] + four[2] + four[3];
        }
        for (size_t i = 0; k < pack->kc; i++, k++) {
            to[i] = from[i * s];
            sum += to[i];
        }
        return sum;
    }
    for (; k < pack->kc; k++) {
        if (k % inner >= used)
            continue;
        const int8_t w = from[k / inner * pack->k_stride + k % inner * pack->k_inner_stride];
        to[k / kr * step + k % kr] = w;
        sum += w;
    }
    return sum;
}

// Writes the marks of kind TAPER_I8_OF_SIXTEENS for a panel of `groups` groups. half is true if the last group is half
// a group.
static void mark_sixteens(const int8_t *panel, size_t nr, size_t groups, int half, int8_t *marks)
{
    const size_t pairs = (groups - (size_t)half) / 2, step = 16 * nr;
    int8_t one = 0;
    for (size_t i = 0; i < groups * step; i += 16) {
        for (size_t k = 0; k < 8; k++) {
            if (panel[i + k] == INT8_MIN && panel[i + k + 8] == INT8_MIN)
                one = TAPER_I8_ONE;
        }
    }
    for (size_t p = 0; p < pairs; p++) {
        const int8_t *w = panel + 2 * p * step;
        for (size_t i = 0; i < step; i += i % 16 == 7 ? 9 : 1) {
            // If the magnitudes of four weights add up to more than 255, the sum of their products with inputs of -128
            // may exceed 16 bits.
            if (abs(w[i]) + abs(w[i + 8]) + abs(w[i + step]) + abs(w[i + step + 8]) > 255)
                marks[p] = TAPER_I8_TWO;
        }
    }
    marks[pairs] = TAPER_I8_END;
    marks[0] = (int8_t)(marks[0] | one);
}

void taper_gemm_i8_pack_weights(const taper_gemm_i8_entry *entry, const taper_gemm_i8_pack *pack, int8_t *packed,
                                int32_t *column_sums)
{
    const size_t nr = entry->nr, kr = entry->kr, step = nr * kr;
    const size_t panel = taper_gemm_i8_panel_bytes(entry, pack->ks, pack->kc);
    const size_t panels = (pack->n + nr - 1) / nr, groups = (pack->kc + kr - 1) / kr * pack->ks;
    memset(packed, 0, panels * panel + TAPER_GEMM_I8_TAIL);
    for (size_t n = 0; n < panels * nr; n++) {
        int64_t sum = 0;
        for (size_t tap = 0; tap < pack->ks && n < pack->n; tap++) {
            const int8_t *from = pack->weights + n * pack->n_stride + tap * pack->tap_stride;
            int8_t *to = packed + n / nr * panel + tap * (groups / pack->ks * step) + n % nr * kr;
            sum += pack_tap(pack, from, kr, step, to);
        }
        column_sums[n] = (int32_t)(uint32_t)(uint64_t)sum;
    }
    for (size_t i = 0; i < panels; i++) {
        int8_t *weights = packed + i * panel, *marks = weights + groups * step;
        if (HAS_SIXTEENS && entry->marks == TAPER_I8_OF_SIXTEENS) {
            mark_sixteens(weights, nr, groups, taper_gemm_i8_half(kr, pack->ks, pack->kc), marks);
        } else if (entry->mark_steps != NULL) {
            entry->mark_steps(weights, groups, marks);
        }
    }
}
