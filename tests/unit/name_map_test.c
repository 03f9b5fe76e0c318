// SPDX-License-Identifier: BSD-2-Clause
// Tests names as keys: all bytes of a name count, and if several names are equal, the first name keeps its number.
// Names that would collide without a seed must not collide. The time to read long names is charged to the budget of the
// load.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/name_map.h"
#include "tests/api/fixture.h"

static void finds_what_was_added(void **state)
{
    (void)state;
    test_allocator a;
    test_allocator_init(&a);
    enum { COUNT = 3000 };
    static char names[COUNT][16];
    taper_name_map map = {.size = 0};
    assert_null(taper_name_find(&a.allocator, &map, "", 0));
    for (size_t i = 0; i < COUNT; i++) {
        const size_t length = (size_t)snprintf(names[i], sizeof names[i], "name%zu", i);
        assert_int_equal(taper_name_add(&a.allocator, &map, names[i], length, i, NULL), TAPER_OK);
        assert_int_equal(taper_name_add(&a.allocator, &map, names[i], length, 7777, NULL), TAPER_OK);
    }
    assert_int_equal(taper_name_add(&a.allocator, &map, "", 0, 5, NULL), TAPER_OK);
    assert_int_equal(map.count, COUNT + 1);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t *at = taper_name_find(&a.allocator, &map, names[i], strlen(names[i]));
        assert_non_null(at);
        assert_int_equal(*at, i);
    }
    assert_int_equal(*taper_name_find(&a.allocator, &map, "", 0), 5);
    assert_null(taper_name_find(&a.allocator, &map, "name1\0", 6));
    assert_null(taper_name_find(&a.allocator, &map, "nam", 3));
    taper_name_free(&a.allocator, &map);
    assert_int_equal(atomic_load(&a.blocks), 0);
}

// The first words of a and b differ in one bit. Multiplying and shifting changes only few bits of such a difference, so
// the second words can cancel it for every seed. taper_hash_keyed must not have this weakness of taper_hash_mix.
static void no_pairs_collide_for_all_seeds(void **state)
{
    (void)state;
    const uint64_t a[2] = {1, 2}, b[2] = {1 ^ UINT64_C(1) << 63, 2 ^ UINT64_C(1) << 63 ^ UINT64_C(1) << 31};
    assert_int_equal(taper_hash_mix(taper_hash_mix(9, a[0]), a[1]), taper_hash_mix(taper_hash_mix(9, b[0]), b[1]));
    size_t equal = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        equal += taper_hash_keyed(seed, a, sizeof a) == taper_hash_keyed(seed, b, sizeof b);
    }
    assert_int_equal(equal, 0);
}

static void long_names_are_charged(void **state)
{
    (void)state;
    test_allocator a;
    test_allocator_init(&a);
    enum { LENGTH = 100000, STEPS = 1000000 };
    static char name[LENGTH];
    memset(name, 'n', sizeof name);
    taper_budget *budget;
    assert_int_equal(taper_budget_create(&a.allocator, 0, 1 << 20, STEPS, &budget, NULL), TAPER_OK);
    const taper_allocator *allocator = taper_budget_allocator(budget);
    taper_name_map map = {.size = 0};
    assert_int_equal(taper_name_add(allocator, &map, name, sizeof name, 1, NULL), TAPER_OK);
    size_t finds = 0;
    while (taper_spend(allocator, 1)) {
        assert_non_null(taper_name_find(allocator, &map, name, sizeof name));
        assert_true(++finds < 100);
    }
    assert_true(finds > 5);
    taper_name_free(allocator, &map);
    taper_budget_release(budget);
    assert_int_equal(atomic_load(&a.blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_was_added),
                                       cmocka_unit_test(no_pairs_collide_for_all_seeds),
                                       cmocka_unit_test(long_names_are_charged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
