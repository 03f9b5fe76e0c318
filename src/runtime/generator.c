// SPDX-License-Identifier: BSD-2-Clause
// Sources of random numbers (taper_operator.h) that several sessions and operators may use.
#include "ops/call/generator.h"

#include "base/arguments.h"
#include "ops/engine/random.h"
#include "runtime/context.h"

typedef struct generator_and_numbers {
    taper_generator generator;
    taper_rng rng;
} generator_and_numbers;

taper_status taper_generator_create(taper_context *context, uint64_t seed, taper_generator **generator,
                                    taper_error *error)
{
    TAPER_NEED_OUT(generator, error);
    TAPER_NEED(context, error);
    generator_and_numbers *both = taper_alloc_zeroed(&context->allocator, sizeof *both);
    if (both == NULL) {
        return taper_fail_memory(error);
    }
    // This member is the first, so its address is also the address of the struct.
    taper_generator *made = &both->generator;
    const taper_status status = taper_mutex_create(&context->allocator, &made->lock, error);
    if (status != TAPER_OK) {
        taper_free(&context->allocator, both, sizeof *both);
        return status;
    }
    taper_refs_init(&made->refs);
    taper_context_retain(context);
    made->context = context;
    made->rng = &both->rng;
    taper_rng_seed(made->rng, seed);
    *generator = made;
    return TAPER_OK;
}

void taper_generator_release(taper_generator *generator)
{
    if (generator != NULL && taper_refs_drop(&generator->refs)) {
        taper_context *context = generator->context;
        taper_mutex_destroy(generator->lock);
        taper_free(&context->allocator, (generator_and_numbers *)generator, sizeof(generator_and_numbers));
        taper_context_release(context);
    }
}

void taper_generator_seed(taper_generator *generator, uint64_t seed)
{
    if (generator != NULL) {
        taper_mutex_lock(generator->lock);
        taper_rng_seed(generator->rng, seed);
        taper_mutex_unlock(generator->lock);
    }
}

void taper_run_draw_from(taper_run *run, taper_generator *generator, taper_rng *own)
{
    if (generator != NULL) {
        taper_refs_add(&generator->refs);
    }
    taper_generator_release(run->generator);
    run->generator = generator;
    run->rng = generator != NULL ? generator->rng : own;
}
