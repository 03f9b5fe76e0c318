// SPDX-License-Identifier: BSD-2-Clause
// Packing of weights into the panels that the gemm kernels read.
#include "backends/cpu/kernels/gemm_f32.h"

size_t taper_gemm_f32_packed_count(size_t nr, size_t n, size_t ks, size_t kc) {
    const size_t panels = n / nr + (n % nr != 0);
    if (kc != 0 && ks > (SIZE_MAX / sizeof(float) / nr - 1) / kc) return 0;
    const size_t panel = (ks * kc + 1) * nr;
    return panels > SIZE_MAX / sizeof(float) / panel ? 0 : panels * panel;
}

void taper_gemm_f32_pack(size_t nr, const taper_gemm_pack *pack, size_t first, size_t last, float *packed) {
    const size_t inner = pack->k_inner == 0 ? 1 : pack->k_inner;
    const size_t panel = (pack->ks * pack->kc + 1) * nr;
    for (size_t p = first; p < last; p++) {
        const size_t n0 = p * nr, width = pack->n - n0 < nr ? pack->n - n0 : nr;
        float *out = packed + p * panel;
        for (size_t j = 0; j < nr; j++) out[j] = j < width && pack->bias != NULL ? pack->bias[n0 + j] : 0.0f;
        // Column by column: reading is then in order for the usual [out, in] weights, and the panel being written
        // stays in the cache.
        for (size_t j = 0; j < nr; j++) {
            float *column = out + nr + j;
            if (j >= width) {
                for (size_t i = 0; i < pack->ks * pack->kc; i++) column[i * nr] = 0.0f;
                continue;
            }
            const float *source = pack->weights + (n0 + j) * pack->n_stride;
            const float scale = pack->scale != NULL ? pack->scale[n0 + j] : 1.0f;
            for (size_t tap = 0; tap < pack->ks; tap++) {
                const float *s = source + tap * pack->tap_stride;
                if (inner == 1) {
                    for (size_t k = 0; k < pack->kc; k++, column += nr) *column = s[k * pack->k_stride] * scale;
                } else {
                    for (size_t k = 0; k < pack->kc; k++, column += nr) {
                        *column = s[k / inner * pack->k_stride + k % inner * pack->k_inner_stride] * scale;
                    }
                }
            }
        }
    }
}
