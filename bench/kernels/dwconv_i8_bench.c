// SPDX-License-Identifier: BSD-2-Clause
// Measures the int8 depthwise kernels on the layers of MobileNetV2 in one thread.
//   dwconv_i8_bench [part of an entry's name]
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "ops/kernels/kernel_select.h"

typedef struct shape {
    size_t kernel, stride, width, channels, count; // count: number of layers of this shape in MobileNetV2
} shape;

static const shape shapes[] = {{3, 1, 112, 32, 1}, {3, 2, 112, 96, 1}, {3, 1, 56, 144, 1}, {3, 2, 56, 144, 1},
                               {3, 1, 28, 192, 2}, {3, 2, 28, 192, 1}, {3, 1, 14, 384, 4}, {3, 1, 14, 576, 2},
                               {3, 2, 14, 576, 1}, {3, 1, 7, 960, 3},  {5, 2, 56, 72, 0},  {5, 1, 28, 120, 0},
                               {5, 1, 14, 672, 0}};

typedef struct job {
    const taper_dwconv_i8_entry *entry;
    const shape *s;
    size_t out;
    const uint8_t *in; // input, padded with kernel / 2 pixels on all sides
    taper_dwconv_i8 call;
} job;

static void run(void *argument)
{
    const job *j = argument;
    const shape *s = j->s;
    const size_t width = s->width + s->kernel - 1;
    const uint8_t *a[25];
    taper_dwconv_i8 call = j->call;
    call.a = a;
    for (size_t y = 0; y < j->out; y++) {
        for (size_t t = 0; t < call.taps; t++)
            a[t] = j->in + ((y * s->stride + t / s->kernel) * width + t % s->kernel) * s->channels;
        call.c = j->call.c + y * j->out * s->channels;
        j->entry->run(&call);
    }
}

static void *bytes(size_t count)
{
    return bench_floats((count + 128) / sizeof(float));
}

int main(int argc, char **argv)
{
    const uint64_t cpu = bench_cpu();
    printf("%-12s %6s %6s %5s %5s %9s %9s\n", "", "kernel", "stride", "width", "c", "us", "GOP/s");
    for (size_t x = 0; taper_dwconv_i8_entry_at(x) != NULL; x++) {
        const taper_dwconv_i8_entry *e = taper_dwconv_i8_entry_at(x);
        double total = 0;
        if ((e->cpu & cpu) != e->cpu || (argc > 1 && strstr(e->name, argv[1]) == NULL))
            continue;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const shape *s = &shapes[i];
            const size_t taps = s->kernel * s->kernel, places = taper_dwconv_i8_places(e, s->channels);
            const size_t width = s->width + s->kernel - 1;
            job j = {e, s, (s->width - 1) / s->stride + 1, NULL, {0}};
            uint8_t *in = bytes(width * width * s->channels), *out = bytes(j.out * j.out * s->channels);
            int8_t *w = bytes(taper_dwconv_i8_packed_bytes(e, s->channels, taps));
            int32_t *bias = bytes(places * sizeof *bias);
            float *scale = bytes(places * sizeof *scale);
            for (size_t c = 0; c < places; c++)
                bias[c] = 0, scale[c] = 1e-3f;
            j.in = in;
            j.call = (taper_dwconv_i8){.pixels = j.out,
                                       .channels = s->channels,
                                       .taps = taps,
                                       .step = s->stride * s->channels,
                                       .w = w,
                                       .c = out,
                                       .c_stride = s->channels,
                                       .e = {.bias = bias, .scale = scale}};
            double best = 1e9;
            for (int round = 0; round < 5; round++) {
                const double t = bench_best(run, &j, 2, 0.01);
                best = t < best ? t : best;
            }
            printf("%-12s %6zu %6zu %5zu %5zu %9.1f %9.1f\n", e->name, s->kernel, s->stride, s->width, s->channels,
                   best * 1e6, 2e-9 * (double)(j.out * j.out * s->channels * taps) / best);
            total += best * (double)s->count;
            void *const all[] = {in, out, w, bias, scale};
            for (size_t k = 0; k < sizeof all / sizeof *all; k++)
                bench_free(all[k]);
        }
        printf("MobileNetV2: %.3f ms\n", total * 1e3);
    }
    return 0;
}
