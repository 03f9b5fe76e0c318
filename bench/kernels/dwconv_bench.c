// SPDX-License-Identifier: BSD-2-Clause
// Measures the depthwise kernels on the layers of MobileNetV2 and V3 in one thread, as a fraction of the FMA rate.
//   dwconv_bench [part of an entry's name [bytes of L1]]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "ops/kernels/kernel_select.h"

typedef struct shape {
    size_t kernel, stride, width, channels, count; // kernel: side of the filter; count: layers in MobileNetV2
} shape;

static const shape shapes[] = {
    {3, 1, 112, 32, 1}, {3, 2, 112, 96, 1}, {3, 1, 56, 144, 1}, {3, 2, 56, 144, 1}, {3, 1, 28, 192, 2},
    {3, 2, 28, 192, 1}, {3, 1, 14, 384, 4}, {3, 1, 14, 576, 2}, {3, 2, 14, 576, 1}, {3, 1, 7, 960, 3},
    {5, 2, 56, 72, 0},  {5, 1, 28, 120, 0}, {5, 1, 14, 672, 0}, {5, 2, 14, 672, 0}, {5, 1, 7, 960, 0},
    {7, 1, 56, 96, 0},  {7, 1, 14, 384, 0}, {7, 1, 7, 768, 0},
};

typedef struct job {
    const taper_dwconv_entry *entry;
    taper_dwconv_rows rows;
    size_t chunk;
} job;

static void run(void *argument)
{
    const job *j = argument;
    taper_dwconv_rows r = j->rows;
    for (size_t c = 0; c < j->rows.channels; c += j->chunk) {
        r.channel_offset = c;
        r.channels = j->rows.channels - c < j->chunk ? j->rows.channels - c : j->chunk;
        r.w = j->rows.w + c * (j->entry->kernel * j->entry->kernel + 1);
        r.out = j->rows.out + c;
        j->entry->run(&r);
    }
}

int main(int argc, char **argv)
{
    const uint64_t cpu = bench_cpu();
    const size_t l1 = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 49152;
    double total = 0, ideal = 0;
    printf("%-12s %5s %5s %9s %9s %6s\n", "", "width", "c", "us", "GFLOP/s", "peak");
    for (size_t x = 0; taper_dwconv_f32_entry(x) != NULL; x++) {
        const taper_dwconv_entry *e = taper_dwconv_f32_entry(x);
        if ((e->cpu & cpu) != e->cpu)
            continue;
        if (argc > 1 && strstr(e->name, argv[1]) == NULL)
            continue;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const shape *s = &shapes[i];
            if (s->kernel != e->kernel || s->stride != e->stride)
                continue;
            const size_t w = s->width, c = s->channels, pad = s->kernel / 2, out = (w - 1) / s->stride + 1;
            float *in = bench_floats(w * w * c), *result = bench_floats(out * out * c);
            float *weights = bench_floats(taper_dwconv_f32_packed_count(e->block, c, s->kernel * s->kernel));
            const float *rows[160];
            for (size_t y = 0; y < (out - 1) * s->stride + s->kernel; y++)
                rows[y] = y - pad < w ? in + (y - pad) * w * c : NULL;
            job j = {e, {rows, 0, c, w, c, pad, out, out, c, out * c, weights, result, 0, 6}, 0};
            j.chunk = taper_dwconv_f32_chunk(e, c, w, l1);
            double best = 1e9, peak = 0;
            for (int round = 0; round < 5; round++) {
                const double p = bench_peak(e->cpu), t = bench_best(run, &j, 2, 0.01);
                if (p > peak)
                    peak = p;
                if (t < best)
                    best = t;
            }
            const double flop = 2e-9 * (double)(out * out * c * s->kernel * s->kernel);
            printf("%-12s %5zu %5zu %9.1f %9.1f %5.1f%%  chunk %zu\n", e->name, w, c, best * 1e6, flop / best,
                   100 * flop / best / peak, j.chunk);
            total += best * (double)s->count, ideal += flop / peak * (double)s->count;
            bench_free(in), bench_free(result), bench_free(weights);
        }
    }
    if (argc > 1)
        printf("MobileNetV2: %.3f ms, at the FMA rate %.3f ms, %.1f%%\n", total * 1e3, ideal * 1e3,
               100 * ideal / total);
    return 0;
}
