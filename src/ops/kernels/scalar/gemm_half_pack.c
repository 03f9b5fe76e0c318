// SPDX-License-Identifier: BSD-2-Clause
// Packs weights into the panels of gemm_half.h: a few rows at a time are packed as floats, then rounded.
#include "ops/kernels/gemm_half.h"

enum { PACK_DEPTH = 16, MOST_NR = 32 };

static size_t round_up(size_t x, size_t unit)
{
    return (x + unit - 1) / unit * unit;
}

size_t taper_gemm_panel_floats(const taper_gemm_entry *entry, size_t ks, size_t kc)
{
    return entry->precision == TAPER_PRECISION_fp32 ? (ks * kc + 1) * entry->nr
                                                    : ks * round_up(kc, entry->kr) * entry->nr / 2 + entry->nr;
}

size_t taper_gemm_packed_count(const taper_gemm_entry *entry, size_t n, size_t ks, size_t kc)
{
    if (kc > SIZE_MAX - entry->kr || taper_gemm_f32_packed_count(entry->nr, n, ks, round_up(kc, entry->kr)) == 0)
        return 0;
    return (n / entry->nr + (n % entry->nr != 0)) * taper_gemm_panel_floats(entry, ks, kc);
}

void taper_gemm_pack_halves(const taper_gemm_entry *entry, const taper_gemm_pack *pack, const uint16_t *weights,
                            size_t first, size_t last, float *packed)
{
    const size_t nr = entry->nr, kr = entry->kr, length = round_up(pack->kc, kr);
    const size_t panel = taper_gemm_panel_floats(entry, 1, pack->kc);
    for (size_t p = first; p < last; p++) {
        float *out = packed + p * panel;
        uint16_t *halves = (uint16_t *)(void *)(out + nr);
        for (size_t j = 0; j < nr; j++) {
            const size_t n = p * nr + j;
            const bool there = n < pack->n;
            out[j] = there && pack->bias != NULL ? pack->bias[n] : 0.0f;
            for (size_t k = 0; k < length; k += kr) {
                for (size_t i = k; i < k + kr; i++)
                    halves[k * nr + j * kr + i - k] =
                        there && i < pack->kc ? weights[n * pack->n_stride + i * pack->k_stride] : 0;
            }
        }
    }
}

// Rounds element k of all nr columns and stores it.
static void put_row(const taper_gemm_entry *entry, const float *from, uint16_t *halves, size_t k)
{
    uint16_t *to = halves + k / entry->kr * entry->kr * entry->nr + k % entry->kr;
    if (entry->precision == TAPER_PRECISION_bf16) {
        for (size_t j = 0; j < entry->nr; j++)
            to[j * entry->kr] = taper_float_to_bf16(from[j]);
    } else {
        for (size_t j = 0; j < entry->nr; j++)
            to[j * entry->kr] = taper_float_to_f16(from[j]);
    }
}

// Packs elements [k, k + depth) of a tap. The tap starts at element `at` of each column of the panel.
static void pack_rows(const taper_gemm_entry *entry, const taper_gemm_pack *columns, size_t tap, size_t at, size_t k,
                      size_t depth, uint16_t *halves)
{
    float rows[(PACK_DEPTH + 1) * MOST_NR]; // row 0 contains the bias
    taper_gemm_pack part = *columns;
    part.weights += tap * columns->tap_stride + k / (columns->k_inner == 0 ? 1 : columns->k_inner) * columns->k_stride;
    part.ks = 1;
    part.kc = depth;
    taper_gemm_f32_pack(entry->nr, &part, 0, 1, rows);
    for (size_t i = 0; i < depth; i++)
        put_row(entry, rows + (i + 1) * entry->nr, halves, at + k + i);
}

void taper_gemm_pack_panels(const taper_gemm_entry *entry, const taper_gemm_pack *pack, size_t first, size_t last,
                            float *packed)
{
    if (entry->precision == TAPER_PRECISION_fp32) {
        taper_gemm_f32_pack(entry->nr, pack, first, last, packed);
        return;
    }
    const size_t nr = entry->nr, kr = entry->kr, kc = pack->kc, joined = pack->joined ? pack->ks : 1;
    // Number of taps, and of elements of a tap, in the products of the kernel.
    const size_t taps = pack->ks / joined, length = round_up(joined * kc, kr);
    const size_t panel = taper_gemm_panel_floats(entry, taps, joined * kc);
    const size_t most = pack->k_inner > 1 ? PACK_DEPTH / pack->k_inner * pack->k_inner : PACK_DEPTH;
    static const float zeros[MOST_NR];
    for (size_t p = first; p < last; p++) {
        const size_t n = p * nr;
        float *out = packed + p * panel;
        uint16_t *halves = (uint16_t *)(void *)(out + nr);
        taper_gemm_pack columns = *pack;
        columns.n = pack->n - n < nr ? pack->n - n : nr;
        columns.weights = pack->weights + n * pack->n_stride;
        columns.scale = pack->scale != NULL ? pack->scale + n : NULL;
        columns.bias = NULL;
        for (size_t j = 0; j < nr; j++)
            out[j] = j < columns.n && pack->bias != NULL ? pack->bias[n + j] : 0.0f;
        // In PyTorch's weights, all taps of an element of a column are contiguous. So the loop packs all taps of a few
        // elements before it reads the next elements.
        for (size_t k = 0; k < kc; k += most) {
            for (size_t tap = 0; tap < pack->ks; tap++)
                pack_rows(entry, &columns, tap, tap * (pack->joined ? kc : length), k, kc - k < most ? kc - k : most,
                          halves);
        }
        for (size_t tap = 0; tap < taps; tap++) {
            for (size_t k = joined * kc; k < length; k++)
                put_row(entry, zeros, halves, tap * length + k);
        }
    }
}
