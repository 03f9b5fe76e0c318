// SPDX-License-Identifier: BSD-2-Clause
// Sources of random numbers (taper_operator.h) that several sessions and operators may use.
#include "ops/call/generator.h"

#include <string.h>

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
    // `generator` is the first member of `both`, so both have the same address.
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

// The layout of torch.get_rng_state on a 64-bit machine, in bytes from the start. Other bytes are 0.
enum {
    STATE_SEED = 0,          // uint64: the seed
    STATE_LEFT = 8,          // int32: 1 + number of random words that are left
    STATE_SEEDED = 12,       // int32, always 1
    STATE_NEXT = 16,         // uint64: index of the next random word
    STATE_WORDS = 24,        // uint64 for each random word
    STATE_NORMAL = 5024,     // double: a normal number that is kept for the next call
    STATE_HAS_NORMAL = 5040, // int32: 1 if STATE_NORMAL contains a number, otherwise 0
};

// PyTorch's generator makes its random words at the first draw after a seed, and its next index is 0 until then.
static bool is_fresh(const taper_rng *rng)
{
    const uint32_t first = (uint32_t)(rng->seed & 0xffffffffu);
    return rng->at == TAPER_RNG_WORDS && rng->words[0] == first &&
           rng->words[1] == 1812433253u * (first ^ (first >> 30)) + 1;
}

void taper_generator_get_state(taper_generator *generator, void *state)
{
    if (generator == NULL || state == NULL) {
        return;
    }
    unsigned char *bytes = state;
    memset(bytes, 0, TAPER_GENERATOR_STATE_SIZE);
    taper_mutex_lock(generator->lock);
    const taper_rng *rng = generator->rng;
    const bool fresh = is_fresh(rng);
    const int32_t left = fresh ? 1 : (int32_t)(TAPER_RNG_WORDS - rng->at + 1), yes = 1;
    const uint64_t next = fresh ? 0 : rng->at;
    memcpy(bytes + STATE_SEED, &rng->seed, sizeof rng->seed);
    memcpy(bytes + STATE_LEFT, &left, sizeof left);
    memcpy(bytes + STATE_SEEDED, &yes, sizeof yes);
    memcpy(bytes + STATE_NEXT, &next, sizeof next);
    for (size_t i = 0; i < TAPER_RNG_WORDS; i++) {
        const uint64_t word = rng->words[i];
        memcpy(bytes + STATE_WORDS + i * sizeof word, &word, sizeof word);
    }
    if (rng->has_normal) {
        memcpy(bytes + STATE_NORMAL, &rng->normal, sizeof rng->normal);
        memcpy(bytes + STATE_HAS_NORMAL, &yes, sizeof yes);
    }
    taper_mutex_unlock(generator->lock);
}

taper_status taper_generator_set_state(taper_generator *generator, const void *state, size_t size, taper_error *error)
{
    TAPER_NEED(generator, error);
    TAPER_NEED(state, error);
    if (size != TAPER_GENERATOR_STATE_SIZE) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the state of a generator has %d bytes, not %zu",
                   TAPER_GENERATOR_STATE_SIZE, size);
    }
    const unsigned char *bytes = state;
    taper_rng made = {0};
    int32_t left, seeded, has_normal;
    uint64_t next;
    memcpy(&made.seed, bytes + STATE_SEED, sizeof made.seed);
    memcpy(&left, bytes + STATE_LEFT, sizeof left);
    memcpy(&seeded, bytes + STATE_SEEDED, sizeof seeded);
    memcpy(&next, bytes + STATE_NEXT, sizeof next);
    if (seeded != 1 || left <= 0 || left > TAPER_RNG_WORDS || next > TAPER_RNG_WORDS) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "these bytes are no state of a generator: pass what torch.get_rng_state or "
                   "taper_generator_get_state wrote");
    }
    for (size_t i = 0; i < TAPER_RNG_WORDS; i++) {
        uint64_t word;
        memcpy(&word, bytes + STATE_WORDS + i * sizeof word, sizeof word);
        made.words[i] = (uint32_t)word;
    }
    made.at = left == 1 ? TAPER_RNG_WORDS : (uint32_t)next; // PyTorch makes new words if only 1 is left
    memcpy(&has_normal, bytes + STATE_HAS_NORMAL, sizeof has_normal);
    made.has_normal = has_normal != 0;
    if (made.has_normal) {
        memcpy(&made.normal, bytes + STATE_NORMAL, sizeof made.normal);
    }
    taper_mutex_lock(generator->lock);
    *generator->rng = made;
    taper_mutex_unlock(generator->lock);
    return TAPER_OK;
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
