// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution in plain C, and the packing of its weights.
#include "ops/kernels/simd_scalar.h"

#include "ops/kernels/dwconv_f32_tmpl.h"

TAPER_UNLESS(TAPER_LAST_RESORT, TAPER_OP_IF(dwconv_k3, DWCONV(k3s1, 3, 1)))
TAPER_UNLESS(TAPER_LAST_RESORT, TAPER_OP_IF(dwconv_k3, DWCONV(k3s2, 3, 2)))
DWCONV_TAPS

size_t taper_dwconv_f32_chunk(const taper_dwconv_entry *entry, size_t channels, size_t in_width, size_t l1_bytes)
{
    const size_t rows = entry->kernel + 1;
    if (in_width > SIZE_MAX / sizeof(float) / rows)
        return channels;
    const size_t chunk = l1_bytes / (in_width * sizeof(float) * rows + 1) / entry->block * entry->block;
    // If a chunk has less than 512 contiguous bytes of a row, cache misses cost more time than the L1 cache saves
    // (measured). So all channels are then one chunk.
    return chunk < 128 || chunk > channels ? channels : chunk;
}

size_t taper_dwconv_f32_packed_count(size_t block, size_t channels, size_t taps)
{
    const size_t blocks = channels / block + (channels % block != 0);
    if (taps > SIZE_MAX / sizeof(float) / block - 1)
        return 0;
    const size_t each = (taps + 1) * block;
    return blocks > SIZE_MAX / sizeof(float) / each ? 0 : blocks * each;
}

void taper_dwconv_f32_pack(size_t block, size_t channels, size_t taps, const float *weights, const float *scale,
                           const float *bias, float *packed)
{
    for (size_t c0 = 0; c0 < channels; c0 += block) {
        for (size_t j = 0; j < block; j++) {
            const size_t c = c0 + j;
            packed[j] = c < channels && bias != NULL ? bias[c] : 0.0f;
            for (size_t t = 0; t < taps; t++) {
                packed[(t + 1) * block + j] =
                    c < channels ? weights[c * taps + t] * (scale != NULL ? scale[c] : 1.0f) : 0.0f;
            }
        }
        packed += (taps + 1) * block;
    }
}
