// SPDX-License-Identifier: BSD-2-Clause
// The random numbers of a session: the Mersenne Twister with the streams of PyTorch's CPU generator. One seed gives the
// same numbers as in PyTorch.
#ifndef TAPER_OPS_RANDOM_H
#define TAPER_OPS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum { TAPER_RNG_WORDS = 624 };

// PyTorch's initial seed, used until manual_seed is called.
#define TAPER_RNG_SEED UINT64_C(67280421310721)

typedef struct taper_rng {
    uint64_t seed;
    uint32_t words[TAPER_RNG_WORDS];
    uint32_t at; // index of the next word; TAPER_RNG_WORDS: all words are used
    bool has_normal;
    double normal; // second number of a pair of normal numbers, kept for the next call
} taper_rng;

void taper_rng_seed(taper_rng *rng, uint64_t seed);
uint32_t taper_rng_u32(taper_rng *rng);
uint64_t taper_rng_u64(taper_rng *rng);
float taper_rng_uniform_f32(taper_rng *rng);  // returns a number in [0, 1) with 24 random bits
double taper_rng_uniform_f64(taper_rng *rng); // returns a number in [0, 1) with 53 random bits
double taper_rng_normal(taper_rng *rng);      // returns a normal number with mean 0 and deviation 1

// Fills an array as normal_ does for 16 or more contiguous elements: in pairs within blocks of 16, where the last block
// overlaps the block before it.
void taper_rng_fill_normal_f32(taper_rng *rng, float *data, int64_t count, float mean, float deviation);
void taper_rng_fill_normal_f64(taper_rng *rng, double *data, int64_t count, double mean, double deviation);

#endif
