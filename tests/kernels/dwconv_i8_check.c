// SPDX-License-Identifier: BSD-2-Clause
// Checks quantized depthwise convolution: every kernel must be bit-exact, for all remainders of channels and kernels of
// 1 to 49 taps.
#include <math.h>
#include <string.h>

#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { MOST_TAPS = 49, MOST_ROWS = 16, MOST_POINTERS = 3 * (MOST_ROWS + 2) };

static void fill_bytes(void *to, size_t count, bool extreme)
{
    uint8_t *p = to;
    for (size_t i = 0; i < count; i++)
        p[i] = extreme && check_below(4) != 0 ? (uint8_t)(check_below(2) ? 255 : 128) : (uint8_t)check_random();
}

static uint8_t expected(int64_t sum, float scale, const taper_i8_epilogue *e)
{
    const float y = nearbyintf((float)(int32_t)(uint32_t)(uint64_t)sum * scale);
    int32_t q = y >= 32767.0f ? 32767 : y <= -32768.0f ? -32768 : (int32_t)y;
    q += e->zero_point;
    return (uint8_t)(q < e->min ? e->min : q > 255 ? 255 : q);
}

// Checks one case. rows: number of rows of output that a call computes for 3x3 with stride 1, otherwise 1; columns:
// true for a row with stride 2; edged: true if the last column of these rows has pointers of its own.
static void one(const taper_dwconv_i8_entry *entry, size_t channels, size_t taps, size_t pixels, size_t rows,
                bool columns, bool edged)
{
    const check_place place = check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL;
    const bool extreme = check_below(3) == 0;
    const size_t step = check_below(4) == 0 ? 0 : channels + check_below(9), c_stride = channels + check_below(9);
    const size_t places = taper_dwconv_i8_places(entry, channels);
    const uint8_t *a[MOST_POINTERS] = {NULL}, *pointers[MOST_POINTERS];
    // The columns of several rows overlap. Taps of single pixels may be at any address. With stride 2, the last column
    // of a pixel's window is the first column of the next pixel's window, even if the kernel does not use this. The
    // first column of the first pixel may be at a separate address.
    const bool overlap = rows > 1 && pixels > 1, alone = check_below(2) == 0;
    const bool meet = columns || (rows == 1 && taps == 9 && check_below(2) == 0);
    const size_t row = (pixels - 1) * step + channels;
    uint8_t *first[MOST_ROWS + 2] = {NULL};
    for (size_t t = 0; t < (rows > 1 ? 3 * (rows + 2) : taps); t++) {
        if (overlap && t % 3 != 0) {
            a[t] = a[t - 1] + step;
            continue;
        }
        if (meet && t % 3 == 2) {
            a[t] = a[t - 2] + step;
            continue;
        }
        const size_t length = overlap ? row + 2 * step : meet ? row + step : row;
        uint8_t *bytes = check_bytes(length, place, entry->over_read);
        fill_bytes(bytes, length, extreme);
        a[t] = bytes;
    }
    memcpy(pointers, a, sizeof pointers);
    for (size_t r = 0; r < rows + 2 && (overlap || columns) && alone; r++) {
        first[r] = check_bytes(channels, place, entry->over_read);
        fill_bytes(first[r], channels, extreme);
        pointers[3 * r] = first[r];
    }
    uint8_t *edge = check_bytes(channels, place, entry->over_read);
    fill_bytes(edge, channels, extreme);
    int8_t *weights = check_bytes(channels * taps, CHECK_TAIL, 0);
    fill_bytes(weights, channels * taps, extreme);
    int32_t *bias = check_bytes(places * sizeof *bias, CHECK_TAIL, 0);
    int32_t *sums = check_bytes(places * sizeof *sums, CHECK_TAIL, 0);
    float *scale = check_floats(places, CHECK_TAIL, 0);
    const size_t kind = check_below(3);
    for (size_t c = 0; c < places; c++) {
        bias[c] = (int32_t)(check_below(8) == 0 ? check_random() : check_random() % 4096 - 2048);
        scale[c] = kind == 0   ? ldexpf(1.0f, -1 - (int)check_below(16))
                   : kind == 1 ? check_uniform(1e-4f, 1e-2f)
                               : ldexpf(check_uniform(1.0f, 2.0f), -1 - (int)check_below(120));
    }
    int8_t *packed = check_bytes(taper_dwconv_i8_packed_bytes(entry, channels, taps), CHECK_TAIL, 0);
    taper_dwconv_i8_pack(entry, channels, taps, weights, taps, 1, packed, sums);
    const int32_t zero_point = (int32_t)check_below(256), min = check_below(2) ? zero_point : 0;
    const taper_i8_epilogue e = {.bias = bias, .scale = scale, .zero_point = zero_point, .min = min};
    const size_t c_row = pixels * c_stride + check_below(5);
    const size_t count = (rows - 1) * c_row + (pixels - 1) * c_stride + channels;
    uint8_t *c = check_bytes(count, place, 0);
    memset(c, 0x5A, count);
    const taper_dwconv_i8 job = {.pixels = pixels,
                                 .channels = channels,
                                 .taps = taps,
                                 .rows = rows,
                                 .columns = columns,
                                 .a = pointers,
                                 .edge = edged ? edge : NULL,
                                 .step = step,
                                 .w = packed,
                                 .c = c,
                                 .c_stride = c_stride,
                                 .c_row = c_row,
                                 .e = e};
    entry->run(&job);
    for (size_t at = 0; at < count && !check_failed(); at++) {
        const size_t r = at / c_row < rows ? at / c_row : rows - 1, i = (at - r * c_row) / c_stride,
                     n = (at - r * c_row) % c_stride;
        uint8_t want = 0x5A;
        if (n < channels && i < pixels) {
            const size_t slot = taper_dwconv_i8_place(entry, channels, n);
            int64_t sum = bias[slot], of_weights = 0;
            for (size_t t = 0; t < taps; t++) {
                const bool is_edge = edged && i == pixels - 1 && t % 3 == 2;
                const bool is_first = i == 0 && t % 3 == 0 && rows + columns > 1 && first[t / 3 + r] != NULL;
                const int32_t x = is_edge ? edge[n] : is_first ? first[t / 3 + r][n] : a[t + 3 * r][i * step + n];
                sum += (x - (int32_t)entry->shift) * weights[n * taps + t];
                of_weights += weights[n * taps + t];
            }
            want = expected(sum, scale[slot], &e);
            check_that(sums[slot] == of_weights, "sum of weights of channel %zu", n);
        }
        check_that(c[at] == want, "rows %zu channels %zu taps %zu: row %zu (%zu, %zu) is %d, not %d", rows, channels,
                   taps, r, i, n, c[at], want);
    }
    check_memory_reset();
}

void check_dwconv_i8(bool benchmark)
{
    for (size_t x = 0; taper_dwconv_i8_entry_at(x) != NULL && !benchmark; x++) {
        const taper_dwconv_i8_entry *entry = taper_dwconv_i8_entry_at(x);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin("dwconv_i8", entry->name);
        for (size_t channels = 1; channels <= 2 * entry->block + 3; channels++) {
            one(entry, channels, 9, 1 + check_below(5), 1, false, false);
            if (entry->rows > 1) {
                one(entry, channels, 9, 1, 2, false, false);
                one(entry, channels, 9, 1 + check_below(9), 2, false, false);
                one(entry, channels, 9, 1 + check_below(9), 2, false, true);
                one(entry, channels, 9, 1 + check_below(40), 2 + 2 * check_below(entry->rows / 2), false, true);
            }
            if (entry->columns) {
                one(entry, channels, 9, 1, 1, true, false);
                one(entry, channels, 9, 1 + check_below(9), 1, true, false);
            }
            one(entry, channels, 25, 1 + check_below(3), 1, false, false);
            one(entry, channels, 1 + check_below(12), 1 + check_below(5), 1, false, false);
        }
        for (size_t taps = 1; taps <= MOST_TAPS; taps++)
            one(entry, 1 + check_below(3 * entry->block), taps, 1 + check_below(5), 1, false, false);
    }
}
