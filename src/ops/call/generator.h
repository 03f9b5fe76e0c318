// SPDX-License-Identifier: BSD-2-Clause
// A source of random numbers for several runs (taper_operator.h). One operator at a time uses it.
#ifndef TAPER_OPS_GENERATOR_H
#define TAPER_OPS_GENERATOR_H

#include <taper/taper_operator.h>

#include "base/atomic.h"
#include "ops/call/call.h"
#include "platform/platform.h"

struct taper_generator {
    taper_refs refs;
    taper_context *context;
    taper_mutex *lock;
    struct taper_rng *rng; // the random numbers (ops/engine/random.h)
};

// Makes the run draw from the generator, or from `own` if generator is NULL. The run keeps a reference.
void taper_run_draw_from(taper_run *run, taper_generator *generator, struct taper_rng *own);

// Call these functions before and after an operator that draws random numbers. If an operator calls another operator
// that draws, the lock is already held. taper_generator_enter returns true if taper_generator_leave must be called.
static inline bool taper_generator_enter(taper_run *run)
{
    if (run->generator == NULL || run->draws) {
        return false;
    }
    taper_mutex_lock(run->generator->lock);
    return run->draws = true;
}
static inline void taper_generator_leave(taper_run *run)
{
    run->draws = false;
    taper_mutex_unlock(run->generator->lock);
}

#endif
