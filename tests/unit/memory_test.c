// SPDX-License-Identifier: BSD-2-Clause
// Tests the allocator's helper functions, growing arrays, arenas, and checked arithmetic.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "tests/api/fixture.h"

static void sizes(void **state)
{
    (void)state;
    size_t n;
    assert_true(taper_add_size(SIZE_MAX - 1, 1, &n) && n == SIZE_MAX);
    assert_false(taper_add_size(SIZE_MAX, 1, &n));
    assert_true(taper_mul_size(SIZE_MAX / 3, 3, &n));
    assert_false(taper_mul_size(SIZE_MAX / 3 + 1, 3, &n));
    int64_t i;
    assert_false(taper_mul_i64(INT64_MIN, -1, &i));
    assert_false(taper_add_i64(INT64_MAX, 1, &i));
    assert_true(taper_add_i64(INT64_MIN, INT64_MAX, &i) && i == -1);
    assert_int_equal(taper_round_up(65, 64), 128);
    assert_int_equal(taper_round_up(64, 64), 64);
}

static void blocks(void **state)
{
    (void)state;
    test_allocator a;
    test_allocator_init(&a);
    assert_null(taper_alloc(&a.allocator, 0));
    taper_free(&a.allocator, NULL, 5);
    char *p = taper_alloc_zeroed(&a.allocator, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(p[i], 0);
    }
    memset(p, 7, 100);
    p = taper_realloc(&a.allocator, p, 100, 1000);
    assert_int_equal(p[99], 7);
    taper_free(&a.allocator, p, 1000);
    assert_int_equal(atomic_load(&a.blocks), 0);
    assert_int_equal(atomic_load(&a.bytes), 0);
}

static void growth(void **state)
{
    (void)state;
    test_allocator a;
    test_allocator_init(&a);
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 100000; i++) {
        assert_int_equal(TAPER_GROW(&a.allocator, items, capacity, i + 1, NULL), TAPER_OK);
        items[i] = (uint32_t)i;
    }
    assert_true(atomic_load(&a.calls) < 64); // growth is geometric
    assert_int_equal(items[99999], 99999);
    const size_t before = capacity;
    assert_int_equal(TAPER_GROW(&a.allocator, items, capacity, SIZE_MAX / 2, NULL),
                     TAPER_ERROR_RESOURCE); // the product overflows
    assert_int_equal(capacity, before);
    a.fail_at = atomic_load(&a.calls) + 1;
    assert_int_equal(TAPER_GROW(&a.allocator, items, capacity, capacity + 1, NULL), TAPER_ERROR_RESOURCE);
    assert_int_equal(items[99999], 99999);
    taper_free(&a.allocator, items, capacity * sizeof *items);
    assert_int_equal(atomic_load(&a.bytes), 0);
}

static void arenas(void **state)
{
    (void)state;
    test_allocator a;
    test_allocator_init(&a);
    taper_arena arena;
    taper_arena_init(&arena, &a.allocator);
    assert_non_null(taper_arena_alloc(&arena, 0));
    for (size_t size = 1; size < 20000; size += 97) {
        unsigned char *p = taper_arena_alloc(&arena, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(p[i], 0);
        }
        memset(p, 0xff, size); // fills the block; later blocks must not contain these bytes
    }
    assert_null(taper_arena_array(&arena, SIZE_MAX / 4, 8));
    assert_string_equal(taper_arena_string(&arena, "abcdef", 3), "abc");
    a.fail_at = atomic_load(&a.calls) + 1;
    a.fail_all = true;
    assert_null(taper_arena_alloc(&arena, 1 << 20));
    taper_arena_free(&arena);
    assert_int_equal(atomic_load(&a.bytes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(blocks), cmocka_unit_test(growth),
                                       cmocka_unit_test(arenas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
