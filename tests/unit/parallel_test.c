// SPDX-License-Identifier: BSD-2-Clause
// Tests how operators share work: small work is not divided, pieces are short, and the host can stop work between
// pieces.
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/atomic.h"
#include "ops/call/parallel.h"
#include "ops/list/op_table.h"
#include "platform/denormals.h"
#include "tests/unit/heap_fixture.h"

enum { COUNT = 1000 };

typedef struct seen {
    pthread_t caller;
    atomic_uint ran[COUNT], pieces, elsewhere;
    atomic_size_t longest;
} seen;

static void note(void *argument, size_t begin, size_t end)
{
    seen *s = argument;
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add(&s->ran[i], 1u);
    }
    atomic_fetch_add(&s->pieces, 1u);
    if (!pthread_equal(pthread_self(), s->caller)) {
        atomic_fetch_add(&s->elsewhere, 1u);
    }
    for (size_t had = atomic_load(&s->longest); end - begin > had;) {
        if (atomic_compare_exchange_weak(&s->longest, &had, end - begin)) {
            break;
        }
    }
}

static taper_pool *make_pool(unsigned threads)
{
    taper_pool *pool;
    assert_int_equal(taper_pool_create(&taper_allocator_system, threads, NULL, &pool, NULL), TAPER_OK);
    return pool;
}

static void look(taper_run *run, seen *s, size_t grain, double work)
{
    memset(s, 0, sizeof *s);
    s->caller = pthread_self();
    assert_int_equal(taper_run_range(run, note, s, COUNT, grain, work), TAPER_OK);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(atomic_load(&s->ran[i]), 1);
    }
}

static void pieces(void **state)
{
    (void)state;
    seen s;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        taper_run run = {.pool = make_pool(threads)};
        look(&run, &s, 1, 4e3); // the work is too small to be divided
        assert_int_equal(atomic_load(&s.pieces), 1);
        assert_int_equal(atomic_load(&s.elsewhere), 0);
        look(&run, &s, 2 * COUNT, 1e6); // the grain is large
        assert_int_equal(atomic_load(&s.pieces), 1);
        look(&run, &s, 1, 1e6); // cost of an item, about 1 us
        assert_true(atomic_load(&s.longest) <= (threads > 1 ? 100 : COUNT));
        look(&run, &s, 300, 1e6); // the grain decides the size of a piece
        assert_int_equal(atomic_load(&s.longest), threads > 1 ? 300 : COUNT);
        look(&run, &s, 0, 1e18); // a piece is one item
        assert_int_equal(atomic_load(&s.longest), 1);
        assert_int_equal(taper_run_range(&run, note, &s, 0, 1, 1e6), TAPER_OK);
        assert_true(taper_run_pieces(&run, 1e6) == (threads > 1 ? (threads == 3 ? 13 : 20) : 1));
        taper_pool_destroy(run.pool);
    }
    taper_run alone = {.pool = NULL};
    look(&alone, &s, 1, 1e6);
    assert_int_equal(atomic_load(&s.pieces), 1);
}

// ---- denormal numbers

static volatile float tiny = 1e-40f;

static void count_kept(void *argument, size_t begin, size_t end)
{
    seen *s = argument;
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add(&s->ran[i], 1u);
        if (tiny * 1.0f != 0.0f) {
            atomic_fetch_add(&s->pieces, 1u);
        }
    }
    if (!pthread_equal(pthread_self(), s->caller)) {
        atomic_fetch_add(&s->elsewhere, 1u);
    }
}

static taper_status product(taper_call *call)
{
    assert_true(tiny * 1.0f == 0.0f);
    return taper_run_range(call->run, count_kept, (void *)(intptr_t)call->args[0].as.i, COUNT, 1, 1e7);
}

// Threads must flush denormals to zero during a product, and must not flush them after it.
static void denormals(void **state)
{
    (void)state;
    if (!TAPER_SWITCHES_DENORMALS) {
        skip();
    }
    static seen s;
    const taper_op *row = taper_row_where(TAPER_OP_PRODUCT, TAPER_OP_PRODUCT);
    assert_non_null(row);
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        taper_run run = {.pool = make_pool(threads)};
        for (int round = 0; round < 20; round++) {
            memset(&s, 0, sizeof s);
            s.caller = pthread_self();
            taper_val argument = taper_val_int((int64_t)(intptr_t)&s);
            taper_call call = {.run = &run, .op = row, .args = &argument, .arg_count = 1};
            assert_int_equal(taper_call_kernel(&call, product), TAPER_OK);
            assert_int_equal(atomic_load(&s.pieces), 0);
            assert_true(tiny * 1.0f != 0.0f);
            assert_int_equal(taper_run_range(&run, count_kept, &s, COUNT, 1, 1e7), TAPER_OK);
            assert_int_equal(atomic_load(&s.pieces), COUNT);
        }
        taper_pool_destroy(run.pool);
    }
}

static taper_status stop(taper_run *run, double ahead)
{
    (void)run, (void)ahead;
    return TAPER_ERROR_CANCELLED;
}

static void note_slowly(void *argument, size_t begin, size_t end)
{
    (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    note(argument, begin, end);
}

// An hour of work must end immediately when the host stops it.
static void stopped(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        taper_run run = {.pool = make_pool(threads), .stop = stop};
        seen s;
        memset(&s, 0, sizeof s);
        s.caller = pthread_self();
        assert_int_equal(taper_run_range(&run, note_slowly, &s, COUNT, 1, 3.6e12), TAPER_ERROR_CANCELLED);
        assert_true(atomic_load(&s.pieces) < COUNT);
        taper_pool_destroy(run.pool);
    }
}

// ---- places: memory that each thread has for itself

typedef struct user {
    taper_places places;
    atomic_uint wrong;
} user;

static void use_place(void *argument, size_t begin, size_t end)
{
    user *u = argument;
    size_t *place = taper_place_take(&u->places, begin, 5000);
    const size_t index = begin + end;
    for (size_t i = 0; i < 10; i++) {
        place[i] = index;
    }
    for (size_t i = 0; i < 10; i++) {
        if (place[i] != index) {
            atomic_fetch_add(&u->wrong, 1u);
        }
    }
    taper_place_leave(place);
}

static void places(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    for (unsigned threads = 1; threads <= 9; threads += 4) {
        taper_run run = {.heap = f.heap, .pool = make_pool(threads)};
        user u = {.wrong = 0};
        assert_true(taper_places_open(&run, 10 * sizeof(size_t), 5000, &u.places));
        assert_int_equal(u.places.count, threads);
        for (size_t item = 0; item < 5000; item++) { // each thread has a place of its own for its share, initially 0
            size_t *place = taper_place_take(&u.places, item, 5000);
            const size_t lane = item / (4999 / threads + 1);
            assert_true(*place == 0 || *place == lane + 1);
            *place = lane + 1;
            taper_place_leave(place);
        }
        assert_int_equal(taper_run_range(&run, use_place, &u, 5000, 1, 1e9), TAPER_OK);
        assert_int_equal(atomic_load(&u.wrong), 0);
        taper_places_close(&run, &u.places);
        assert_true(taper_places_open(&run, 0, 3, &u.places)); // each place has 0 bytes
        assert_null(taper_place_take(&u.places, 0, 1));
        taper_place_leave(NULL);
        taper_places_close(&run, &u.places);
        assert_false(taper_places_open(&run, SIZE_MAX - 3, 3, &u.places));
        assert_false(taper_places_open(&run, SIZE_MAX / 2, 3, &u.places));
        taper_pool_destroy(run.pool);
    }
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces), cmocka_unit_test(denormals), cmocka_unit_test(stopped),
                                       cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
