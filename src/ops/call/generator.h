// SPDX-License-Identifier: BSD-2-Clause
// A source of random numbers that several runs draw from (taper_operator.h): one operator at a time.
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
    struct taper_rng *rng; // ops/engine/random.h
};

// The run draws from it, NULL: from its own source, from now on; the run keeps it.
void taper_run_draw_from(taper_run *run, taper_generator *generator, struct taper_rng *own);

// Around an operator that draws. An operator that it is made of finds the lock held. Returns whether to leave.
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
