// SPDX-License-Identifier: BSD-2-Clause
// Resizes bytes as PyTorch 2 does: with weights of 16 bits, first along the width, then along the height, with a
// rounding to bytes after each direction. A direction whose size stays is not resized, for any scale.
#include "ops/nn/resize.h"

#include <math.h>

typedef struct byte_axis {
    const taper_resize_axis *table;
    int32_t *weight; // table->weight multiplied by 1 << shift
    size_t bytes;
    int shift;
} byte_axis;

// Merges taps that read the same border position: adds their weights to the weight of the first of these taps.
static void merge(const taper_resize_axis *table, double *weight, const int64_t *index)
{
    for (int64_t t = 1; t < table->taps; t++) {
        int64_t first = t;
        while (first > 0 && index[first - 1] == index[t]) {
            first--;
        }
        if (first != t) {
            weight[first] += weight[t];
            weight[t] = 0.0;
        }
    }
}

static int64_t count_of(const taper_resize_axis *table, int64_t o)
{
    return table->count != NULL ? table->count[o] : table->taps;
}

static taper_status weights_of(const taper_call *call, const taper_resize_axis *table, byte_axis *axis)
{
    double most = 0.0;
    // The number of bytes cannot overflow, because it is not larger than the table of doubles, whose size was checked.
    *axis = (byte_axis){.table = table, .bytes = (size_t)(table->output * table->taps) * sizeof(int32_t)};
    axis->weight = taper_heap_alloc(call->run->heap, axis->bytes);
    if (axis->weight == NULL) {
        return taper_fail_memory(call->run->error);
    }
    for (int64_t o = 0; o < table->output && taper_run_goes_on(call->run, (uint64_t)table->taps * 4 + 10); o++) {
        double *weight = table->weight + o * table->taps;
        if (table->count == NULL) {
            merge(table, weight, table->index + o * table->taps);
        }
        for (int64_t t = 0; t < count_of(table, o); t++) {
            most = fmax(most, weight[t]);
        }
    }
    while (axis->shift < 22 && 0.5 + ldexp(most, axis->shift + 1) < 32768.0) {
        axis->shift++;
    }
    for (int64_t o = 0; o < table->output && taper_run_goes_on(call->run, (uint64_t)table->taps * 4 + 10); o++) {
        for (int64_t t = o * table->taps; t < o * table->taps + count_of(table, o); t++) {
            const double scaled = ldexp(table->weight[t], axis->shift);
            axis->weight[t] = (int32_t)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
        }
    }
    return TAPER_OK;
}

// Resizes one line. Output position o is at out[o · out_stride].
static void line(const byte_axis *axis, const uint8_t *in, int64_t in_stride, uint8_t *out, int64_t out_stride)
{
    const taper_resize_axis *table = axis->table;
    const int32_t half = axis->shift > 0 ? 1 << (axis->shift - 1) : 0;
    for (int64_t o = 0; o < table->output; o++) {
        if (table->output == table->input) {
            out[o * out_stride] = in[o * in_stride];
            continue;
        }
        const int64_t *index = table->index + o * table->taps;
        const int32_t *weight = axis->weight + o * table->taps;
        int64_t sum = half;
        for (int64_t t = 0; t < count_of(table, o); t++) {
            sum += (int64_t)weight[t] * in[index[t] * in_stride];
        }
        sum = sum < 0 ? 0 : sum >> axis->shift;
        out[o * out_stride] = (uint8_t)(sum > 255 ? 255 : sum);
    }
}

static void planes(taper_run *run, const byte_axis *wide, const byte_axis *high, const taper_volume *x,
                   const uint8_t *in, const taper_volume *y, uint8_t *out, uint8_t *rows)
{
    const int64_t width = wide->table->output, height = high->table->input;
    const uint64_t across = (uint64_t)(width * wide->table->taps) * 2 + 20;
    const uint64_t down = (uint64_t)(high->table->output * high->table->taps) * 2 + 20;
    for (int64_t n = 0; n < x->n; n++) {
        for (int64_t c = 0; c < x->c; c++) {
            const uint8_t *from = in + n * x->stride_n + c * x->stride_c;
            uint8_t *to = out + n * y->stride_n + c * y->stride_c;
            for (int64_t h = 0; h < height && taper_run_goes_on(run, across); h++) {
                line(wide, from + h * x->stride[1], x->stride[2], rows + h * width, 1);
            }
            for (int64_t w = 0; w < width && taper_run_goes_on(run, down); w++) {
                line(high, rows + w, width, to + w * y->stride[2], y->stride[1]);
            }
        }
    }
}

taper_status taper_resize_bytes(const taper_call *call, const taper_resize_axis *axes, const taper_volume *x,
                                const uint8_t *in, const taper_volume *y, uint8_t *out)
{
    byte_axis wide = {.bytes = 0}, high = {.bytes = 0};
    taper_heap *heap = call->run->heap;
    uint8_t *rows = NULL;
    size_t bytes;
    if (!taper_mul_size((size_t)axes[1].input, (size_t)axes[2].output, &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = weights_of(call, &axes[2], &wide);
    if (status == TAPER_OK) {
        status = weights_of(call, &axes[1], &high);
    }
    if (status == TAPER_OK) {
        rows = taper_heap_alloc(heap, bytes);
        status = rows != NULL ? taper_run_spend(call->run, 0) : taper_fail_memory(call->run->error);
    }
    if (status == TAPER_OK) {
        planes(call->run, &wide, &high, x, in, y, out, rows);
    }
    if (rows != NULL) {
        taper_heap_free(heap, rows, bytes);
    }
    if (high.weight != NULL) {
        taper_heap_free(heap, high.weight, high.bytes);
    }
    if (wide.weight != NULL) {
        taper_heap_free(heap, wide.weight, wide.bytes);
    }
    return status;
}
