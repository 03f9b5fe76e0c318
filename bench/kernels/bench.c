// SPDX-License-Identifier: BSD-2-Clause
// See bench.h.
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ops/kernels/arch.h"
#include "tests/cpu_mask.h"

#ifdef TAPER_ARCH_x86
#include <immintrin.h>
#elif defined(TAPER_ARCH_arm)
#include <arm_neon.h>
#endif

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

float *bench_floats(size_t count)
{
    const size_t bytes = (count * sizeof(float) + 64 + 63) / 64 * 64;
    float *p = aligned_alloc(64, bytes);
    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    uint32_t seed = 1;
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(int32_t)seed * 4.6566129e-10f;
    }
    return p;
}

void bench_free(float *p)
{
    free(p);
}

uint64_t bench_cpu(void)
{
    const uint64_t mask = test_cpu_mask();
    return taper_cpu_features() & (mask != 0 ? mask : UINT64_MAX);
}

#define STEPS 20000

#ifdef TAPER_ARCH_x86
__attribute__((target("avx512f"))) static float peak_avx512(void)
{
    __m512 s[20];
    const __m512 x = _mm512_set1_ps(0.5f);
    TAPER_UNROLL
    for (int i = 0; i < 20; i++)
        s[i] = _mm512_set1_ps((float)i);
    TAPER_NO_UNROLL
    for (int n = 0; n < STEPS; n++) {
        TAPER_UNROLL
        for (int i = 0; i < 20; i++)
            s[i] = _mm512_fmadd_ps(s[i], x, x);
    }
    for (int i = 1; i < 20; i++)
        s[0] = _mm512_add_ps(s[0], s[i]);
    return _mm512_cvtss_f32(s[0]);
}
__attribute__((target("avx2,fma"))) static float peak_avx2(void)
{
    __m256 s[12];
    const __m256 x = _mm256_set1_ps(0.5f);
    TAPER_UNROLL
    for (int i = 0; i < 12; i++)
        s[i] = _mm256_set1_ps((float)i);
    TAPER_NO_UNROLL
    for (int n = 0; n < STEPS; n++) {
        TAPER_UNROLL
        for (int i = 0; i < 12; i++)
            s[i] = _mm256_fmadd_ps(s[i], x, x);
    }
    for (int i = 1; i < 12; i++)
        s[0] = _mm256_add_ps(s[0], s[i]);
    return _mm256_cvtss_f32(s[0]);
}
#elif defined(TAPER_ARCH_arm)
static float peak_neon(void)
{
    float32x4_t s[20];
    const float32x4_t x = vdupq_n_f32(0.5f);
    TAPER_UNROLL
    for (int i = 0; i < 20; i++)
        s[i] = vdupq_n_f32((float)i);
    TAPER_NO_UNROLL
    for (int n = 0; n < STEPS; n++) {
        TAPER_UNROLL
        for (int i = 0; i < 20; i++)
            s[i] = vfmaq_f32(x, s[i], x);
    }
    for (int i = 1; i < 20; i++)
        s[0] = vaddq_f32(s[0], s[i]);
    return vgetq_lane_f32(s[0], 0);
}
#endif
static float peak_scalar(void)
{
    float s[12];
    TAPER_UNROLL
    for (int i = 0; i < 12; i++)
        s[i] = (float)i;
    TAPER_NO_UNROLL
    for (int n = 0; n < STEPS; n++) {
        TAPER_UNROLL
        for (int i = 0; i < 12; i++)
            s[i] = s[i] * 0.5f + 0.5f;
    }
    for (int i = 1; i < 12; i++)
        s[0] += s[i];
    return s[0];
}

double bench_peak(uint64_t cpu)
{
    float (*loop)(void) = peak_scalar;
    double flops = 12 * 2;
    // Each instruction set implies the sets that it requires, and the implied sets decide the width of its registers.
#define ISA(key, architecture, bit, needs, probe, flags, hints)                                                        \
    if ((cpu & TAPER_ISA_##key) != 0)                                                                                  \
        cpu |= TAPER_WITH_##key;
#include "platform/isa_list.inc"
#undef ISA
#ifdef TAPER_ARCH_x86
    if (cpu & TAPER_ISA_avx512) {
        loop = peak_avx512;
        flops = 20 * 16 * 2;
    } else if (cpu & TAPER_ISA_avx2) {
        loop = peak_avx2;
        flops = 12 * 8 * 2;
    }
#elif defined(TAPER_ARCH_arm)
    if (cpu & TAPER_ISA_neon) {
        loop = peak_neon;
        flops = 20 * 4 * 2;
    }
#endif
    (void)cpu;
    double best = 0;
    volatile float sink = 0;
    for (int i = 0; i < 8; i++) {
        const double t = bench_now();
        sink = loop();
        const double rate = flops * STEPS / (bench_now() - t) * 1e-9;
        if (rate > best)
            best = rate;
    }
    (void)sink;
    return best;
}

double bench_best(void (*work)(void *argument), void *argument, int rounds, double seconds)
{
    work(argument);
    double t = bench_now();
    work(argument);
    const double once = bench_now() - t;
    size_t repeat = 1;
    if (once < seconds)
        repeat = once > 1e-9 ? (size_t)(seconds / once) + 1 : 1000;
    double best = once;
    for (int r = 0; r < rounds; r++) {
        t = bench_now();
        for (size_t i = 0; i < repeat; i++)
            work(argument);
        const double each = (bench_now() - t) / (double)repeat;
        if (each < best)
            best = each;
    }
    return best;
}
