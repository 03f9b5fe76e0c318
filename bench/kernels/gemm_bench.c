// SPDX-License-Identifier: BSD-2-Clause
// Measures the gemm and igemm entries on the layer shapes of MobileNetV2 and ResNet50 in one thread, as a fraction of
// the FMA rate, which is measured between the rounds.
//   gemm_bench [part of an entry's name]
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "ops/kernels/kernel_select.h"

typedef struct shape {
    const char *name;
    size_t h, w, n, k, taps; // image size, output and input channels; taps: 1 (1x1) or 9 (3x3), with stride 1
} shape;

static const shape shapes[] = {
    {"mbv2", 112, 112, 16, 32, 1}, {"mbv2", 112, 112, 96, 16, 1}, {"mbv2", 56, 56, 24, 96, 1},
    {"mbv2", 56, 56, 144, 24, 1},  {"mbv2", 56, 56, 24, 144, 1},  {"mbv2", 28, 28, 32, 144, 1},
    {"mbv2", 28, 28, 192, 32, 1},  {"mbv2", 28, 28, 32, 192, 1},  {"mbv2", 14, 14, 64, 192, 1},
    {"mbv2", 14, 14, 384, 64, 1},  {"mbv2", 14, 14, 64, 384, 1},  {"mbv2", 14, 14, 96, 384, 1},
    {"mbv2", 14, 14, 576, 96, 1},  {"mbv2", 14, 14, 96, 576, 1},  {"mbv2", 7, 7, 160, 576, 1},
    {"mbv2", 7, 7, 960, 160, 1},   {"mbv2", 7, 7, 160, 960, 1},   {"mbv2", 7, 7, 320, 960, 1},
    {"mbv2", 7, 7, 1280, 320, 1},  {"fc", 1, 1, 1000, 1280, 1},   {"r50", 56, 56, 64, 64, 1},
    {"r50", 56, 56, 256, 64, 1},   {"r50", 56, 56, 64, 256, 1},   {"r50", 28, 28, 512, 128, 1},
    {"r50", 28, 28, 128, 512, 1},  {"r50", 14, 14, 1024, 256, 1}, {"r50", 14, 14, 256, 1024, 1},
    {"r50", 7, 7, 2048, 512, 1},   {"r50", 7, 7, 512, 2048, 1},   {"3x3", 56, 56, 64, 64, 9},
    {"3x3", 28, 28, 128, 128, 9},  {"3x3", 14, 14, 256, 256, 9},  {"3x3", 7, 7, 512, 512, 9},
    {"fc", 1, 1, 1000, 2048, 1},
};

typedef struct job {
    const taper_gemm_entry *entry;
    const shape *s;
    const float *a, *w, *zero;
    float *c;
    const float **pointers;
} job;

// Computes all strips of rows. If the weights exceed half of L2, the outer loop is over blocks of columns.
static void run(void *argument)
{
    const job *j = argument;
    const shape *s = j->s;
    const size_t m = s->h * s->w, mr = j->entry->mr, nr = j->entry->nr;
    const taper_gemm_epilogue e = {NULL, 0, 0.0f, 6.0f};
    size_t block = (size_t)1 << 20;
    const size_t panel = taper_gemm_panel_floats(j->entry, s->taps, s->k);
    block = block / sizeof(float) / panel * nr;
    if (block < nr)
        block = nr;
    for (size_t n = 0; n < s->n; n += block) {
        const size_t nc = s->n - n < block ? s->n - n : block;
        const size_t strips = (m + mr - 1) / mr;
        for (size_t i = 0; i < strips; i++) {
            const size_t first = m * i / strips, rows = m * (i + 1) / strips - first;
            const float *w = j->w + n / nr * panel;
            float *c = j->c + first * s->n + n;
            if (s->taps == 1) {
                j->entry->gemm(rows, nc, s->k, j->a + first * s->k, s->k, w, c, s->n, &e);
            } else {
                j->entry->igemm(rows, nc, s->k, s->taps, j->pointers + first, m, 0, j->zero, w, c, s->n, &e);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const uint64_t cpu = bench_cpu();
    double total[2] = {0, 0};
    const taper_gemm_entry *entry;
    size_t floats = 0;
    while (taper_gemm_f32_entry(floats) != NULL)
        floats++;
    for (size_t x = 0; (entry = x < floats ? taper_gemm_f32_entry(x) : taper_gemm_half_entry(x - floats)) != NULL;
         x++) {
        if ((entry->cpu & cpu) != entry->cpu)
            continue;
        if (argc > 1 && strstr(entry->name, argv[1]) == NULL)
            continue;
        printf("%s\n%-5s %6s %5s %5s %5s %9s %9s %6s\n", entry->name, "", "m", "n", "k", "taps", "us", "GFLOP/s",
               "peak");
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const shape *s = &shapes[i];
            const size_t m = s->h * s->w, kt = s->k * s->taps;
            job j = {entry, s, NULL, NULL, NULL, NULL, NULL};
            float *a = bench_floats(m * s->k), *zero = bench_floats(s->k), *weights = bench_floats(s->n * kt);
            float *packed = bench_floats(taper_gemm_packed_count(entry, s->n, s->taps, s->k));
            float *pointer_memory = bench_floats(m * s->taps * sizeof(void *) / sizeof(float));
            memset(zero, 0, s->k * sizeof(float));
            const taper_gemm_pack pack = {.n = s->n,
                                          .ks = s->taps,
                                          .kc = s->k,
                                          .n_stride = kt,
                                          .tap_stride = 1,
                                          .k_stride = s->taps,
                                          .weights = weights};
            taper_gemm_pack_panels(entry, &pack, 0, (s->n + entry->nr - 1) / entry->nr, packed);
            j.a = a, j.w = packed, j.zero = zero;
            j.c = bench_floats(m * s->n);
            j.pointers = (const float **)(void *)pointer_memory;
            for (size_t t = 0; t < s->taps && s->taps > 1; t++) {
                for (size_t p = 0; p < m; p++) {
                    const size_t y = p / s->w + t / 3 - 1, c = p % s->w + t % 3 - 1;
                    j.pointers[t * m + p] = y < s->h && c < s->w ? a + (y * s->w + c) * s->k : zero;
                }
            }
            double best = 1e9, peak = 0;
            for (int round = 0; round < 5; round++) {
                const double p = bench_peak(entry->cpu), t = bench_best(run, &j, 2, 0.01);
                if (p > peak)
                    peak = p;
                if (t < best)
                    best = t;
            }
            const double flop = 2e-9 * (double)m * (double)s->n * (double)kt;
            printf("%-5s %6zu %5zu %5zu %5zu %9.1f %9.1f %5.1f%%\n", s->name, m, s->n, s->k, s->taps, best * 1e6,
                   flop / best, 100 * flop / best / peak);
            total[0] += flop / peak, total[1] += best;
            bench_free(a), bench_free(zero), bench_free(weights), bench_free(packed), bench_free(pointer_memory),
                bench_free(j.c);
        }
        printf("peak %.1f GFLOP/s\n", bench_peak(entry->cpu));
    }
    return 0;
}
