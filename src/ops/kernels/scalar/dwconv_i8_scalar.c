// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution of quantized numbers in plain C, and the packing of its weights.
#include <math.h>
#include <string.h>

#include "ops/kernels/dwconv_i8.h"

#define BLOCK 4

void taper_dwconv_i8_scalar(const taper_dwconv_i8 *job)
{
    const taper_i8_epilogue *e = &job->e;
    const float low = (float)(e->min - e->zero_point), high = (float)(255 - e->zero_point);
    const size_t groups = (job->taps + 3) / 4;
    for (size_t i = 0; i < job->pixels; i++) {
        for (size_t c = 0; c < job->channels; c++) {
            const int8_t *w = job->w + c / BLOCK * (groups * 4 * BLOCK) + c % BLOCK * 4;
            uint32_t sum = (uint32_t)e->bias[c];
            for (size_t t = 0; t < job->taps; t++)
                sum += (uint32_t)(job->a[t][i * job->step + c] * w[t / 4 * (4 * BLOCK) + t % 4]);
            const float y = (float)(int32_t)sum * e->scale[c];
            job->c[i * job->c_stride + c] = (uint8_t)((int32_t)nearbyintf(y < low    ? low
                                                                          : y > high ? high
                                                                                     : y) +
                                                      e->zero_point);
        }
    }
}

// ---- packing of weights

size_t taper_dwconv_i8_places(const taper_dwconv_i8_entry *entry, size_t channels)
{
    const size_t whole = channels / entry->block * entry->block, left = channels - whole;
    return whole + (left > 0 ? taper_dwconv_i8_piece(entry->block, entry->least, left) : 0);
}

// Returns the channel's index in the kernel's own order. Kernels with 128-bit registers keep the channels in order. In
// wider registers, unpacking works within each 128 bits: the first register has the first four channels of each 16, the
// next register the following four.
size_t taper_dwconv_i8_place(const taper_dwconv_i8_entry *entry, size_t channels, size_t channel)
{
    const size_t first = channel / entry->block * entry->block, c = channel - first;
    const size_t piece = taper_dwconv_i8_piece(entry->block, entry->least, channels - first);
    return piece <= 16 ? channel : first + c % 16 / 4 * (piece / 4) + c / 16 * 4 + c % 4;
}

// Returns the number of bytes of one channel's weights.
static size_t place_bytes(const taper_dwconv_i8_entry *entry, size_t taps)
{
    return entry->words ? (taps + 1) / 2 * 2 * sizeof(int16_t) : (taps + 3) / 4 * 4;
}

size_t taper_dwconv_i8_packed_bytes(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps)
{
    const size_t places = taper_dwconv_i8_places(entry, channels);
    return taps > SIZE_MAX / 2 - 4 || places == 0 || place_bytes(entry, taps) > SIZE_MAX / places
               ? 0
               : place_bytes(entry, taps) * places;
}

void taper_dwconv_i8_pack(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, const int8_t *weights,
                          size_t channel_stride, size_t tap_stride, int8_t *packed, int32_t *sums)
{
    const size_t places = taper_dwconv_i8_places(entry, channels), bytes = place_bytes(entry, taps);
    memset(packed, 0, places * bytes);
    memset(sums, 0, places * sizeof *sums);
    for (size_t c = 0; c < channels; c++) {
        const size_t first = c / entry->block * entry->block, place = taper_dwconv_i8_place(entry, channels, c);
        const size_t piece = taper_dwconv_i8_piece(entry->block, entry->least, channels - first);
        int8_t *to = packed + first * bytes + (place - first) * 4;
        int64_t sum = 0;
        for (size_t t = 0; t < taps; t++) {
            const int8_t w = weights[c * channel_stride + t * tap_stride];
            if (entry->words) {
                const int16_t word = w;
                memcpy(to + (t / 2 * piece * 2 + t % 2) * sizeof word, &word, sizeof word);
            } else {
                const size_t at = entry->columns && taps == 9 ? t % 3 * 4 + t / 3 : t;
                to[at / 4 * piece * 4 + at % 4] = w;
            }
            sum += w;
        }
        sums[place] = (int32_t)(uint32_t)(uint64_t)sum;
    }
}

void taper_dwconv_i8_pack_ones(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, int8_t *packed)
{
    const size_t bytes = taper_dwconv_i8_packed_bytes(entry, channels, taps);
    const int16_t word = 1;
    if (entry->words) {
        for (size_t i = 0; i < bytes; i += sizeof word)
            memcpy(packed + i, &word, sizeof word);
    } else {
        memset(packed, 1, bytes);
    }
}
