// SPDX-License-Identifier: BSD-2-Clause
// Tests taper_memory.h: the blocks that are cached, reused and freed; use by several threads; lack of memory.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_memory.h>

#include "tests/api/fixture.h"

static void *get(const taper_allocator *a, size_t size)
{
    void *block = a->reallocate(a->user, NULL, 0, size);
    if (block != NULL) {
        memset(block, 0x5a, size);
    }
    return block;
}

static void give(const taper_allocator *a, void *block, size_t size)
{
    assert_null(a->reallocate(a->user, block, size, 0));
}

static taper_caching_info info_of(const taper_caching_allocator *caching)
{
    taper_caching_info info = {.struct_size = sizeof info};
    taper_caching_allocator_info(caching, &info);
    return info;
}

static taper_caching_allocator *make(test_allocator *under, size_t limit)
{
    taper_caching_allocator *caching;
    test_allocator_init(under);
    assert_int_equal(taper_caching_allocator_create(&under->allocator, limit, &caching, NULL), TAPER_OK);
    return caching;
}

static void blocks_come_back_by_size(void **state)
{
    (void)state;
    test_allocator under;
    taper_caching_allocator *caching = make(&under, 0);
    const taper_allocator a = *taper_caching_allocator_get(caching);
    void *first = get(&a, 1000), *second = get(&a, 1000), *other = get(&a, 2000);
    give(&a, first, 1000);
    give(&a, second, 1000);
    give(&a, other, 2000);
    taper_caching_info info = info_of(caching);
    assert_int_equal(info.kept_bytes, 4000);
    assert_int_equal(info.used_bytes, 0);
    assert_int_equal(info.fetched, 3);
    const size_t calls = atomic_load(&under.calls);
    assert_ptr_equal(get(&a, 1000), second); // the block freed last is reused first
    assert_ptr_equal(get(&a, 2000), other);
    assert_ptr_equal(get(&a, 1000), first);
    assert_int_equal(atomic_load(&under.calls), calls);
    info = info_of(caching);
    assert_int_equal(info.reused, 3);
    assert_int_equal(info.kept_bytes, 0);
    assert_int_equal(info.used_bytes, 4000);
    void *near = get(&a, 1001); // a block of a different size is not reused
    assert_int_equal(info_of(caching).fetched, 4);
    // After it is reallocated, a block is cached under its new size.
    first = a.reallocate(a.user, first, 1000, 3000);
    give(&a, first, 3000);
    assert_ptr_equal(get(&a, 3000), first);
    give(&a, first, 3000);
    give(&a, second, 1000);
    taper_caching_allocator_trim(caching);
    assert_int_equal(info_of(caching).kept_bytes, 0);
    assert_int_equal(info_of(caching).used_bytes, 3001);
    // Blocks that are in use when the owner releases the allocator are freed later, when they are given back.
    give(&a, other, 2000);
    taper_caching_allocator_release(caching);
    assert_true(atomic_load(&under.blocks) >= 2);
    give(&a, near, 1001);
    assert_int_equal(atomic_load(&under.blocks), 0);
    assert_int_equal(atomic_load(&under.bytes), 0);
}

static void many_sizes_and_few_kept(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static void *blocks[COUNT];
    test_allocator under;
    taper_caching_allocator *caching = make(&under, 0);
    const taper_allocator *a = taper_caching_allocator_get(caching);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            blocks[i] = get(a, i + 1);
            assert_non_null(blocks[i]);
        }
        for (size_t i = 0; i < COUNT; i++) {
            give(a, blocks[i], i + 1);
        }
    }
    assert_true(info_of(caching).reused >= 2 * (COUNT - sizeof(void *)));
    // Entries of the cache for sizes that are no longer requested are reused for other sizes.
    for (size_t i = 0; i < 5 * (size_t)COUNT; i++) {
        give(a, get(a, COUNT + i), COUNT + i);
        if (i % 16 == 0) {
            taper_caching_allocator_trim(caching);
        }
    }
    taper_caching_allocator_trim(caching);
    assert_int_equal(info_of(caching).kept_bytes, 0);
    assert_true(atomic_load(&under.bytes) < 100000);
    taper_caching_allocator_release(caching);
    assert_int_equal(atomic_load(&under.blocks), 0);

    caching = make(&under, 1000);
    a = taper_caching_allocator_get(caching);
    void *small = get(a, 600), *large = get(a, 900);
    give(a, small, 600);
    give(a, large, 900); // this block exceeds the limit of the cache
    assert_int_equal(info_of(caching).kept_bytes, 600);
    taper_caching_allocator_release(caching);
    assert_int_equal(atomic_load(&under.blocks), 0);
}

// If memory runs out, cached blocks are freed first. If there is no memory for a list of a block's size, the block is
// freed instead of cached.
static void no_memory(void **state)
{
    (void)state;
    test_allocator under;
    taper_caching_allocator *caching = make(&under, 0);
    const taper_allocator *a = taper_caching_allocator_get(caching);
    give(a, get(a, 5000), 5000);
    assert_int_equal(info_of(caching).kept_bytes, 5000);
    under.fail_at = atomic_load(&under.calls) + 1; // the next call fails, once
    void *block = get(a, 6000);
    assert_non_null(block);
    assert_int_equal(info_of(caching).kept_bytes, 0);
    give(a, get(a, 5000), 5000);
    under.fail_at = atomic_load(&under.calls) + 1;
    block = a->reallocate(a->user, block, 6000, 7000);
    assert_non_null(block);
    under.fail_at = atomic_load(&under.calls) + 1;
    under.fail_all = true;
    assert_null(get(a, 6000));
    assert_null(a->reallocate(a->user, block, 7000, 8000));
    assert_int_equal(info_of(caching).used_bytes, 7000);
    give(a, block, 7000); // the cache already has a list for this size
    assert_int_equal(info_of(caching).used_bytes, 0);
    taper_caching_allocator_release(caching);
    assert_int_equal(atomic_load(&under.blocks), 0);

    caching = make(&under, 0);
    a = taper_caching_allocator_get(caching);
    block = get(a, 100);
    under.fail_at = atomic_load(&under.calls) + 1;
    under.fail_all = true;
    give(a, block, 100); // the block is freed, because there is no memory for the first lists
    assert_int_equal(info_of(caching).kept_bytes, 0);
    taper_caching_allocator_release(caching);
    assert_int_equal(atomic_load(&under.blocks), 0);

    taper_caching_allocator *none = (taper_caching_allocator *)1;
    test_allocator_init(&under);
    under.fail_at = 1;
    assert_int_equal(taper_caching_allocator_create(&under.allocator, 0, &none, NULL), TAPER_ERROR_RESOURCE);
    assert_null(none);
}

// Blocks of one thread are freed by other threads while the owner releases the allocator.
typedef struct worker {
    pthread_t thread;
    taper_allocator allocator;
    uint32_t seed;
} worker;

enum { SLOTS = 64 };
static _Atomic(uintptr_t) slots[SLOTS]; // blocks that any thread may free, each with its size at the front

static void *work(void *argument)
{
    worker *w = argument;
    for (int i = 0; i < 5000; i++) {
        w->seed = w->seed * 1664525u + 1013904223u;
        const size_t size = sizeof(size_t) + (w->seed >> 8) % 40 * 16;
        size_t *block = get(&w->allocator, size);
        *block = size;
        size_t *other = (size_t *)atomic_exchange(&slots[(w->seed >> 20) % SLOTS], (uintptr_t)block);
        if (other != NULL) {
            give(&w->allocator, other, *other);
        }
    }
    return NULL;
}

static void any_threads(void **state)
{
    (void)state;
    test_allocator under;
    for (int round = 0; round < 4; round++) {
        worker workers[4];
        taper_caching_allocator *caching = make(&under, round % 2 == 0 ? 0 : 4000);
        void *held = get(taper_caching_allocator_get(caching), 10);
        const taper_allocator a = *taper_caching_allocator_get(caching);
        for (uint32_t i = 0; i < 4; i++) {
            workers[i] = (worker){.allocator = a, .seed = i + 1};
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < 100; i++) {
            taper_caching_allocator_trim(caching);
        }
        taper_caching_allocator_release(caching);
        for (size_t i = 0; i < 4; i++) {
            pthread_join(workers[i].thread, NULL);
        }
        for (size_t i = 0; i < SLOTS; i++) {
            size_t *block = (size_t *)atomic_exchange(&slots[i], 0);
            if (block != NULL) {
                give(&a, block, *block);
            }
        }
        assert_true(atomic_load(&under.blocks) != 0);
        give(&a, held, 10);
        assert_int_equal(atomic_load(&under.blocks), 0);
        assert_int_equal(atomic_load(&under.bytes), 0);
    }
}

// ---- contexts that use a caching allocator

static taper_status run_sizes(taper_context *context, taper_session *session, int64_t from, int64_t to)
{
    taper_status status = TAPER_OK;
    for (int64_t size = from; status == TAPER_OK && size < to; size++) {
        const int64_t sizes[] = {1, 3, 16 * size, 16 * (to - 1 - size) + 32};
        taper_value *input, *result = NULL;
        taper_tensor_info info = {.struct_size = sizeof info};
        status = taper_value_tensor(context, TAPER_F32, 4, sizes, &input, NULL);
        if (status == TAPER_OK) {
            assert_int_equal(taper_value_get_tensor(input, &info, NULL), TAPER_OK);
            memset(info.data, 0, info.bytes);
            status = taper_session_run(session, NULL, &input, 1, &result, NULL);
        }
        taper_value_release(input);
        taper_value_release(result);
    }
    return status;
}

// The sizes of the input change from run to run, and there are more sizes than a session has plans for. From the second
// round on, almost no calls reach the system's allocator.
static void sizes_that_change(void **state)
{
    (void)state;
    size_t calls[2];
    for (int cached = 0; cached < 2; cached++) {
        test_allocator under;
        taper_caching_allocator *caching = make(&under, 0);
        test_allocator *const plain = &under;
        taper_context_options options = {.struct_size = sizeof options, .threads = 1};
        options.allocator = cached ? taper_caching_allocator_get(caching) : &plain->allocator;
        taper_context *context;
        taper_model *model;
        taper_session *session;
        assert_int_equal(taper_context_create(&options, &context, NULL), TAPER_OK);
        assert_int_equal(test_load(context, "segmenter.ptl", true, &model, NULL), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        assert_int_equal(run_sizes(context, session, 2, 18), TAPER_OK);
        assert_int_equal(run_sizes(context, session, 2, 18), TAPER_OK);
        const size_t before = atomic_load(&under.calls);
        assert_int_equal(run_sizes(context, session, 2, 18), TAPER_OK);
        calls[cached] = atomic_load(&under.calls) - before;
        // All memory is returned: first the memory of the session, then the memory of the context, then the cached
        // blocks.
        const size_t bytes = atomic_load(&under.bytes);
        taper_session_trim(session);
        taper_context_trim(context);
        taper_caching_allocator_trim(caching);
        assert_int_equal(info_of(caching).kept_bytes, 0);
        assert_true(atomic_load(&under.bytes) < bytes / 2);
        assert_int_equal(run_sizes(context, session, 2, 4), TAPER_OK);
        taper_session_destroy(session);
        taper_model_release(model);
        taper_context_release(context);
        taper_caching_allocator_release(caching);
        assert_int_equal(atomic_load(&under.blocks), 0);
    }
    print_message("%zu calls of the allocator, %zu with what is kept\n", calls[0], calls[1]);
    assert_true(calls[1] * 8 < calls[0]);
}

// Several sessions follow one another, and the next session reuses memory of the session before it. Each allocation
// fails once.
static void sessions_over_one(void **state)
{
    (void)state;
    for (size_t fail_at = 0; fail_at < 4000; fail_at += fail_at < 40 ? 1 : 37) {
        test_allocator under;
        taper_caching_allocator *caching = make(&under, 0);
        under.fail_at = fail_at;
        under.fail_all = fail_at % 2 == 1;
        taper_context_options options = {
            .struct_size = sizeof options, .threads = 1, .allocator = taper_caching_allocator_get(caching)};
        taper_context *context;
        taper_model *model = NULL;
        size_t fetched[3] = {0};
        taper_status status = taper_context_create(&options, &context, NULL);
        if (status == TAPER_OK) {
            status = test_load(context, "s01_convnet.ptl", true, &model, NULL);
        }
        for (size_t i = 0; status == TAPER_OK && i < 3; i++) {
            taper_session *session;
            status = taper_session_create(model, NULL, &session, NULL);
            if (status == TAPER_OK) {
                const test_call *call = test_calls;
                while (strcmp(call->file, "s01_convnet.ptl") != 0) {
                    call++;
                }
                taper_value *result = NULL;
                status = test_run(context, session, call, &result, NULL);
                taper_value_release(result);
            }
            taper_session_destroy(session);
            fetched[i] = (size_t)info_of(caching).fetched;
        }
        assert_true(status == TAPER_OK || status == TAPER_ERROR_RESOURCE);
        if (fail_at == 0) {
            assert_int_equal(status, TAPER_OK);
            assert_int_equal(fetched[1], fetched[0]); // the second session has not needed any new block
            assert_int_equal(fetched[2], fetched[0]);
        }
        taper_model_release(model);
        taper_context_release(context);
        taper_caching_allocator_release(caching);
        assert_int_equal(atomic_load(&under.blocks), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_back_by_size),
        cmocka_unit_test(many_sizes_and_few_kept),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(sizes_that_change),
        cmocka_unit_test(sessions_over_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
