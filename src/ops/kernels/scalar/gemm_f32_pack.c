// SPDX-License-Identifier: BSD-2-Clause
// Packs weights into the panels that the gemm kernels read.
#include "ops/kernels/gemm_f32.h"

#include <string.h>

#include "base/fetch.h"

size_t taper_gemm_f32_packed_count(size_t nr, size_t n, size_t ks, size_t kc)
{
    const size_t panels = n / nr + (n % nr != 0);
    if (kc != 0 && ks > (SIZE_MAX / sizeof(float) / nr - 1) / kc)
        return 0;
    const size_t panel = (ks * kc + 1) * nr;
    return panels > SIZE_MAX / sizeof(float) / panel ? 0 : panels * panel;
}

// The number of k that are packed together. For up to nine taps, the rows of a panel that these k fill stay in the L1
// cache while all columns are written. In OIHW weights the elements that are read for a column are contiguous.
enum { PACK_DEPTH = 16 };

// Packs elements (n, all taps, k .. k + depth) into a column of a panel.
static void pack_column(const taper_gemm_pack *pack, size_t n, size_t k, size_t depth, size_t nr, float *column)
{
    const size_t inner = pack->k_inner == 0 ? 1 : pack->k_inner;
    const float *source = pack->weights + n * pack->n_stride;
    const float scale = pack->scale != NULL ? pack->scale[n] : 1.0f;
    for (size_t tap = 0; tap < pack->ks; tap++) {
        const float *s = source + tap * pack->tap_stride;
        float *to = column + (tap * pack->kc + k) * nr;
        if (inner == 1) {
            for (size_t i = 0; i < depth; i++) {
                to[i * nr] = s[(k + i) * pack->k_stride] * scale;
            }
        } else {
            for (size_t i = k; i < k + depth; i++, to += nr) {
                *to = s[i / inner * pack->k_stride + i % inner * pack->k_inner_stride] * scale;
            }
        }
    }
}

static void clear_column(const taper_gemm_pack *pack, size_t k, size_t depth, size_t nr, float *column)
{
    for (size_t tap = 0; tap < pack->ks; tap++) {
        for (size_t i = 0; i < depth; i++) {
            column[(tap * pack->kc + k + i) * nr] = 0.0f;
        }
    }
}

// ---- the fast method: blocks are transposed, and rows of the panel are scaled while they are copied

enum { MOST_TAPS = 25, MOST_NR = 32 };

static int is_regular(const taper_gemm_pack *pack, size_t nr)
{
    return pack->transpose != NULL && pack->k_inner <= 1 && nr <= MOST_NR &&
           (pack->k_stride == 1 || (pack->tap_stride == 1 && pack->k_stride == pack->ks && pack->ks <= MOST_TAPS));
}

// Packs one row of a panel: `width` floats of `from`, multiplied by scale (NULL: 1), and zeros up to nr.
static void put_row(const float *restrict from, const float *restrict scale, size_t width, size_t nr,
                    float *restrict to)
{
    enum { LANES = 8 }; // the compiler vectorizes loops of this length
    if (scale == NULL) {
        memcpy(to, from, width * sizeof *to);
    } else {
        size_t j = 0;
        for (; width - j >= LANES; j += LANES) {
            for (size_t i = 0; i < LANES; i++) {
                to[j + i] = from[j + i] * scale[j + i];
            }
        }
        for (; j < width; j++) {
            to[j] = from[j] * scale[j];
        }
    }
    if (width < nr) {
        memset(to + width, 0, (nr - width) * sizeof *to);
    }
}

#include "ops/kernels/scalar/gemm_f32_pack_ahead.h"

static void pack_rows(const taper_gemm_pack *pack, size_t n, size_t width, size_t k, size_t depth, size_t nr,
                      float *panel)
{
    float block[PACK_DEPTH * MOST_TAPS * MOST_NR];
    const float *source = pack->weights + n * pack->n_stride;
    const float *scale = pack->scale != NULL ? pack->scale + n : NULL;
    if (pack->k_stride == 1) {
        for (size_t tap = 0; tap < pack->ks; tap++) {
            const float *from = source + tap * pack->tap_stride + k;
            float *to = panel + (tap * pack->kc + k) * nr;
            pack_turned(pack, from, scale, width, depth, nr, block, to);
        }
        return;
    }
    pack->transpose(width, depth * pack->ks, source + k * pack->ks, pack->n_stride, block, MOST_NR);
    for (size_t i = 0; i < depth; i++) {
        for (size_t tap = 0; tap < pack->ks; tap++) {
            put_row(block + (i * pack->ks + tap) * MOST_NR, scale, width, nr, panel + (tap * pack->kc + k + i) * nr);
        }
    }
}

void taper_gemm_f32_pack(size_t nr, const taper_gemm_pack *pack, size_t first, size_t last, float *packed)
{
    const size_t panel = (pack->ks * pack->kc + 1) * nr;
    const int regular = is_regular(pack, nr);
    for (size_t p = first; p < last; p++) {
        const size_t n0 = p * nr, width = pack->n - n0 < nr ? pack->n - n0 : nr;
        float *out = packed + p * panel;
        for (size_t j = 0; j < nr; j++)
            out[j] = j < width && pack->bias != NULL ? pack->bias[n0 + j] : 0.0f;
        for (size_t k = 0; k < pack->kc; k += PACK_DEPTH) {
            const size_t depth = pack->kc - k < PACK_DEPTH ? pack->kc - k : PACK_DEPTH;
            if (regular) {
                read_panel_ahead(pack, n0, width, k);
                pack_rows(pack, n0, width, k, depth, nr, out + nr);
                continue;
            }
            for (size_t j = 0; j < nr; j++) {
                if (j < width) {
                    pack_column(pack, n0 + j, k, depth, nr, out + nr + j);
                } else {
                    clear_column(pack, k, depth, nr, out + nr + j);
                }
            }
        }
    }
}
