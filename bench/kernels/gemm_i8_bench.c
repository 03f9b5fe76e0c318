// SPDX-License-Identifier: BSD-2-Clause
// Measures the int8 gemm entries on the layer shapes of MobileNetV2 and ResNet in one thread, as a multiple of the peak
// rate of float multiply-adds, which is measured between the rounds. With VNNI the largest possible multiple is 4.
//   gemm_i8_bench [part of an entry's name] [--wide]
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "ops/kernels/kernel_select.h"

typedef struct shape {
    const char *name;
    size_t h, w, n, k, taps, count; // taps: 1 (1x1) or 9 (3x3), with stride 1; count: layers of this shape
} shape;

static const shape shapes[] = {
    {"mbv2", 112, 112, 16, 32, 1, 1}, {"mbv2", 112, 112, 96, 16, 1, 1}, {"mbv2", 56, 56, 24, 96, 1, 1},
    {"mbv2", 56, 56, 144, 24, 1, 2},  {"mbv2", 56, 56, 24, 144, 1, 1},  {"mbv2", 28, 28, 32, 144, 1, 1},
    {"mbv2", 28, 28, 192, 32, 1, 3},  {"mbv2", 28, 28, 32, 192, 1, 2},  {"mbv2", 14, 14, 64, 192, 1, 1},
    {"mbv2", 14, 14, 384, 64, 1, 4},  {"mbv2", 14, 14, 64, 384, 1, 3},  {"mbv2", 14, 14, 96, 384, 1, 1},
    {"mbv2", 14, 14, 576, 96, 1, 3},  {"mbv2", 14, 14, 96, 576, 1, 2},  {"mbv2", 7, 7, 160, 576, 1, 1},
    {"mbv2", 7, 7, 960, 160, 1, 3},   {"mbv2", 7, 7, 160, 960, 1, 2},   {"mbv2", 7, 7, 320, 960, 1, 1},
    {"mbv2", 7, 7, 1280, 320, 1, 1},  {"mbv2", 1, 1, 1000, 1280, 1, 1}, {"r50", 56, 56, 64, 64, 1, 0},
    {"r50", 56, 56, 256, 64, 1, 0},   {"r50", 56, 56, 64, 256, 1, 0},   {"r50", 28, 28, 512, 128, 1, 0},
    {"r50", 28, 28, 128, 512, 1, 0},  {"r50", 14, 14, 1024, 256, 1, 0}, {"r50", 14, 14, 256, 1024, 1, 0},
    {"r50", 7, 7, 2048, 512, 1, 0},   {"r50", 7, 7, 512, 2048, 1, 0},   {"3x3", 56, 56, 64, 64, 9, 0},
    {"3x3", 28, 28, 128, 128, 9, 0},  {"3x3", 14, 14, 256, 256, 9, 0},  {"3x3", 7, 7, 512, 512, 9, 0},
};

typedef struct job {
    const taper_gemm_i8_entry *entry;
    const shape *s;
    const uint8_t **pointers;
    const int8_t *w;
    const int32_t *bias;
    const float *scale;
    uint8_t *c;
} job;

// Computes all rows at once if the kernel can, otherwise all strips of rows. If the weights exceed half of L2, the
// outer loop is over blocks of columns.
static void run(void *argument)
{
    const job *j = argument;
    const shape *s = j->s;
    const size_t m = s->h * s->w, mr = j->entry->mr, nr = j->entry->nr;
    const size_t panel = taper_gemm_i8_panel_bytes(j->entry, s->taps, s->k);
    size_t block = ((size_t)1 << 20) / panel * nr;
    if (block < nr)
        block = nr;
    const size_t strips = (m + mr - 1) / mr;
    for (size_t n = 0; n < s->n; n += block) {
        bool made = false;
        for (size_t i = 0; i < strips && !made; i++) {
            const size_t first = m * i / strips;
            const taper_gemm_i8 call = {.mr = m * (i + 1) / strips - first,
                                        .nc = s->n - n < block ? s->n - n : block,
                                        .kc = s->k,
                                        .ks = s->taps,
                                        .a = j->pointers + first,
                                        .a_tap_stride = m,
                                        // Bytes between rows of the matrix A for 1x1 convolutions; a 3x3 convolution
                                        // reads A through pointers.
                                        .a_step = s->taps == 1 ? s->k : 0,
                                        .w = j->w + n / nr * panel,
                                        .c = j->c + first * s->n + n,
                                        .c_stride = s->n,
                                        .e = {.bias = j->bias + n, .scale = j->scale + n}};
            if (i == 0 && s->taps == 1 && j->entry->rows != NULL) {
                taper_gemm_i8 all = call;
                all.mr = m;
                made = j->entry->rows(&all);
            }
            if (!made)
                j->entry->run(&call);
        }
    }
}

static void *bytes(size_t count)
{
    return bench_floats((count + 128) / sizeof(float));
}

static uint32_t next_random(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

// Returns `count` random inputs below `limit`.
static void *inputs(size_t count, uint32_t limit)
{
    uint8_t *p = bytes(count);
    for (size_t i = 0; i < count; i++)
        p[i] = (uint8_t)(next_random() % limit);
    return p;
}

// Packs weights with a realistic distribution: most are small compared with the largest.
static int8_t *packed(const taper_gemm_i8_entry *entry, const shape *s, size_t whole)
{
    const size_t count = s->n * s->k * s->taps;
    int8_t *w = bytes(count), *to = bytes(taper_gemm_i8_packed_bytes(entry, s->n, s->taps, s->k));
    int32_t *sums = bytes(whole * sizeof *sums);
    for (size_t i = 0; i < count; i++) {
        int sum = 0;
        for (int k = 0; k < 8; k++)
            sum += (int)(next_random() % 79) - 39;
        w[i] = (int8_t)(sum < -254 ? -127 : sum > 254 ? 127 : sum / 2);
    }
    const taper_gemm_i8_pack pack = {.n = s->n,
                                     .ks = s->taps,
                                     .kc = s->k,
                                     .n_stride = s->k * s->taps,
                                     .tap_stride = s->k,
                                     .k_stride = 1,
                                     .weights = w};
    taper_gemm_i8_pack_weights(entry, &pack, to, sums);
    bench_free((float *)(void *)sums);
    bench_free((float *)(void *)w);
    return to;
}

// With --wide, inputs are up to 255. Without it, they are below 128, as in models quantized to seven bits.
int main(int argc, char **argv)
{
    const uint64_t cpu = bench_cpu();
    const bool wide = argc > 1 && strcmp(argv[argc - 1], "--wide") == 0;
    argc -= wide;
    for (size_t x = 0; taper_gemm_i8_entry_at(x) != NULL; x++) {
        const taper_gemm_i8_entry *entry = taper_gemm_i8_entry_at(x);
        if ((entry->cpu & cpu) != entry->cpu || (argc > 1 && strstr(entry->name, argv[1]) == NULL))
            continue;
        printf("%s\n%-5s %6s %5s %5s %5s %9s %9s %10s\n", entry->name, "", "m", "n", "k", "taps", "us", "GOP/s",
               "float peak");
        double network = 0;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const shape *s = &shapes[i];
            const size_t m = s->h * s->w, whole = (s->n + entry->nr - 1) / entry->nr * entry->nr;
            uint8_t *a = inputs(m * s->k, wide ? 256 : 128), *zero = inputs(s->k, 128);
            job j = {.entry = entry, .s = s, .c = bytes(m * s->n)};
            int8_t *w = packed(entry, s, whole);
            int32_t *bias = bytes(whole * sizeof *bias);
            float *scale = bytes(whole * sizeof *scale);
            for (size_t n = 0; n < whole; n++)
                bias[n] = 0, scale[n] = 1e-3f;
            j.pointers = bytes(m * s->taps * sizeof *j.pointers);
            j.w = w, j.bias = bias, j.scale = scale;
            for (size_t t = 0; t < s->taps; t++) {
                for (size_t p = 0; p < m; p++) {
                    const size_t y = p / s->w + t / 3 - (s->taps > 1), c = p % s->w + t % 3 - (s->taps > 1);
                    j.pointers[t * m + p] = y < s->h && c < s->w ? a + (y * s->w + c) * s->k : zero;
                }
            }
            double best = 1e9, peak = 0;
            for (int round = 0; round < 3; round++) {
                const double p = bench_peak(entry->cpu), t = bench_best(run, &j, 2, 0.01);
                peak = p > peak ? p : peak;
                best = t < best ? t : best;
            }
            const double op = 2e-9 * (double)m * (double)s->n * (double)(s->k * s->taps);
            printf("%-5s %6zu %5zu %5zu %5zu %9.1f %9.1f %10.2f\n", s->name, m, s->n, s->k, s->taps, best * 1e6,
                   op / best, op / best / peak);
            network += best * (double)s->count;
            void *const all[] = {a, zero, w, bias, scale, j.pointers, j.c};
            for (size_t k = 0; k < sizeof all / sizeof *all; k++)
                bench_free(all[k]);
        }
        printf("MobileNetV2's products: %.3f ms; float peak %.1f GFLOP/s\n", network * 1e3, bench_peak(entry->cpu));
    }
    return 0;
}
