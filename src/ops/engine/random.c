// SPDX-License-Identifier: BSD-2-Clause
// The Mersenne Twister, and the uniform and normal numbers of PyTorch's CPU generator.
#include "ops/engine/random.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

void taper_rng_seed(taper_rng *rng, uint64_t seed)
{
    rng->seed = seed;
    rng->has_normal = false;
    rng->normal = 0;
    rng->words[0] = (uint32_t)(seed & 0xffffffffu); // PyTorch's engine uses the low 32 bits of a seed
    for (uint32_t i = 1; i < TAPER_RNG_WORDS; i++) {
        const uint32_t before = rng->words[i - 1];
        rng->words[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
    rng->at = TAPER_RNG_WORDS;
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t far)
{
    const uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return far ^ (mixed >> 1) ^ ((low & 1u) != 0 ? 0x9908b0dfu : 0u);
}

static void next_state(taper_rng *rng)
{
    enum { N = TAPER_RNG_WORDS, M = 397 };
    uint32_t *w = rng->words;
    for (uint32_t i = 0; i < N - M; i++) {
        w[i] = twist(w[i], w[i + 1], w[i + M]);
    }
    for (uint32_t i = N - M; i < N - 1; i++) {
        w[i] = twist(w[i], w[i + 1], w[i + M - N]);
    }
    w[N - 1] = twist(w[N - 1], w[0], w[M - 1]);
    rng->at = 0;
}

uint32_t taper_rng_u32(taper_rng *rng)
{
    if (rng->at >= TAPER_RNG_WORDS) {
        next_state(rng);
    }
    uint32_t y = rng->words[rng->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint64_t taper_rng_u64(taper_rng *rng)
{
    const uint64_t high = taper_rng_u32(rng);
    return high << 32 | taper_rng_u32(rng);
}

float taper_rng_uniform_f32(taper_rng *rng)
{
    return (float)(taper_rng_u32(rng) & 0xffffffu) * (1.0f / 16777216.0f);
}

double taper_rng_uniform_f64(taper_rng *rng)
{
    return (double)(taper_rng_u64(rng) & ((UINT64_C(1) << 53) - 1)) * (1.0 / 9007199254740992.0);
}

double taper_rng_normal(taper_rng *rng)
{
    if (rng->has_normal) {
        rng->has_normal = false;
        return rng->normal;
    }
    const double a = taper_rng_uniform_f64(rng), b = taper_rng_uniform_f64(rng);
    const double radius = sqrt(-2.0 * log1p(-b)), angle = 2.0 * PI * a;
    rng->normal = radius * sin(angle);
    rng->has_normal = true;
    return radius * cos(angle);
}

static void normal_block_f32(float *p, float mean, float deviation)
{
    for (int i = 0; i < 8; i++) {
        const float radius = sqrtf(-2.0f * logf(1.0f - p[i])), angle = (float)(2.0 * PI * (double)p[i + 8]);
        p[i] = radius * cosf(angle) * deviation + mean;
        p[i + 8] = radius * sinf(angle) * deviation + mean;
    }
}

void taper_rng_fill_normal_f32(taper_rng *rng, float *data, int64_t count, float mean, float deviation)
{
    for (int64_t i = 0; i < count; i++) {
        data[i] = taper_rng_uniform_f32(rng);
    }
    for (int64_t i = 0; i + 16 <= count; i += 16) {
        normal_block_f32(data + i, mean, deviation);
    }
    if (count % 16 != 0) {
        float *tail = data + (count - 16);
        for (int i = 0; i < 16; i++) {
            tail[i] = taper_rng_uniform_f32(rng);
        }
        normal_block_f32(tail, mean, deviation);
    }
}

static void normal_block_f64(double *p, double mean, double deviation)
{
    for (int i = 0; i < 8; i++) {
        const double radius = sqrt(-2.0 * log(1.0 - p[i])), angle = 2.0 * PI * p[i + 8];
        p[i] = radius * cos(angle) * deviation + mean;
        p[i + 8] = radius * sin(angle) * deviation + mean;
    }
}

void taper_rng_fill_normal_f64(taper_rng *rng, double *data, int64_t count, double mean, double deviation)
{
    for (int64_t i = 0; i < count; i++) {
        data[i] = taper_rng_uniform_f64(rng);
    }
    for (int64_t i = 0; i + 16 <= count; i += 16) {
        normal_block_f64(data + i, mean, deviation);
    }
    if (count % 16 != 0) {
        double *tail = data + (count - 16);
        for (int i = 0; i < 16; i++) {
            tail[i] = taper_rng_uniform_f64(rng);
        }
        normal_block_f64(tail, mean, deviation);
    }
}
