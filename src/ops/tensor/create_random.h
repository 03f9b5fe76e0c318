// SPDX-License-Identifier: BSD-2-Clause
// Random fills that several operators share.
#ifndef TAPER_OPS_CREATE_RANDOM_H
#define TAPER_OPS_CREATE_RANDOM_H

#include "ops/engine/random.h"
#include "ops/tensor/create.h"

// A generator for a run that has none. The generator is a variable on the caller's stack.
typedef struct taper_fresh_rng {
    taper_rng own;
} taper_fresh_rng;

static inline taper_rng *taper_rng_of(const taper_call *call, taper_fresh_rng *fresh)
{
    if (call->run->rng != NULL) {
        return call->run->rng;
    }
    taper_rng_seed(&fresh->own, TAPER_RNG_SEED);
    return &fresh->own;
}

// These functions fill x with random numbers. Each function checks the dtype and the bounds. The storage of x must be
// writable. Integers are drawn from [from, to).
TAPER_MUST_USE taper_status taper_fill_uniform(taper_call *call, taper_tensor *x, double from, double to);
TAPER_MUST_USE taper_status taper_fill_normal(taper_call *call, taper_tensor *x, double mean, double deviation);
TAPER_MUST_USE taper_status taper_fill_integers(taper_call *call, taper_tensor *x, int64_t from, int64_t to);
// Fills x with ones, each with probability p, and zeros.
TAPER_MUST_USE taper_status taper_fill_bernoulli(taper_call *call, taper_tensor *x, double p);
// Finds the range of integers that the dtype represents exactly. Returns false if the dtype has none.
bool taper_integer_limits(taper_dtype dtype, int64_t *low, int64_t *high);

#endif
