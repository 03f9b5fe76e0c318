// SPDX-License-Identifier: BSD-2-Clause
// Tests that dicts keep the order of insertion, as Python's do, when they grow and after removals, and compare keys as
// Python does.
#include <stdlib.h>

#include "tests/unit/heap_fixture.h"

static void keeps_order(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_dict *d = taper_dict_new(f.heap, &taper_type_int, &taper_type_int);
    enum { COUNT = 5000 };
    for (int64_t i = 0; i < COUNT; i++) { // the low bits of these keys collide
        assert_int_equal(taper_dict_set(d, taper_val_int(i * 4096), taper_val_int(i), NULL), TAPER_OK);
    }
    for (int64_t i = 0; i < COUNT; i += 2) {
        taper_val value;
        assert_true(taper_dict_remove(d, taper_val_int(i * 4096), &value));
        assert_int_equal(value.as.i, i);
    }
    // Setting an existing key does not change its position.
    assert_int_equal(taper_dict_set(d, taper_val_int(4096), taper_val_int(-1), NULL), TAPER_OK);
    // A removed key that is set again becomes the last key.
    assert_int_equal(taper_dict_set(d, taper_val_int(0), taper_val_int(-2), NULL), TAPER_OK);
    assert_int_equal(d->count, COUNT / 2 + 1);
    assert_int_equal(taper_dict_value(d, 0).as.i, -1);
    for (size_t i = 1; i < COUNT / 2; i++) {
        assert_int_equal(taper_dict_key(d, i).as.i, (int64_t)(2 * i + 1) * 4096);
        assert_int_equal(taper_dict_find(d, taper_dict_key(d, i))->as.i, 2 * (int64_t)i + 1);
    }
    assert_int_equal(taper_dict_value(d, COUNT / 2).as.i, -2);
    assert_null(taper_dict_find(d, taper_val_int(2 * 4096)));
    taper_dict_clear(d);
    assert_int_equal(d->count, 0);
    assert_null(taper_dict_find(d, taper_val_int(4096)));
    taper_val_release(TAPER_VAL(d));
    close_heap(&f);
}

static void strings_are_keys_by_content(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_dict *d = taper_dict_new(f.heap, &taper_type_string, NULL);
    char name[16];
    for (int i = 0; i < 300; i++) {
        const size_t n = (size_t)snprintf(name, sizeof name, "key%d", i);
        assert_int_equal(taper_dict_set(d, TAPER_VAL(taper_string_new(f.heap, name, n)), taper_val_int(i), NULL),
                         TAPER_OK);
    }
    for (int i = 0; i < 300; i++) {
        const size_t n = (size_t)snprintf(name, sizeof name, "key%d", i);
        assert_int_equal(taper_dict_find_string(d, name, n)->as.i, i);
        const taper_val key = TAPER_VAL(taper_string_new(f.heap, name, n));
        const taper_val *found = taper_dict_find(d, key);
        assert_non_null(found);
        assert_int_equal(found->as.i, i);
        taper_val_release(key);
    }
    assert_null(taper_dict_find_string(d, "key1\0x", 6));
    assert_null(taper_dict_find_string(d, "key", 3));
    // The bytes after the NUL belong to the key.
    const taper_val nul = TAPER_VAL(taper_string_new(f.heap, "key1\0x", 6));
    assert_null(taper_dict_find(d, nul));
    taper_val_release(nul);
    taper_val_release(TAPER_VAL(d));
    close_heap(&f);
}

static void no_memory_leaves_it_whole(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_dict *d = taper_dict_new(f.heap, NULL, NULL);
    size_t failures = 0;
    for (int64_t i = 0; i < 2000; i++) {
        f.memory.fail_at = atomic_load(&f.memory.calls) + 1;
        if (taper_dict_set(d, taper_val_int(i), taper_val_int(i), NULL) != TAPER_OK) {
            failures++;
            f.memory.fail_at = 0;
            assert_null(taper_dict_find(d, taper_val_int(i)));
            assert_int_equal(taper_dict_set(d, taper_val_int(i), taper_val_int(i), NULL), TAPER_OK);
        }
    }
    f.memory.fail_at = 0;
    assert_true(failures > 3);
    for (int64_t i = 0; i < 2000; i++) {
        assert_int_equal(taper_dict_find(d, taper_val_int(i))->as.i, i);
    }
    taper_val_release(TAPER_VAL(d));
    close_heap(&f);
}

// In all these complex keys, real and imaginary part have the same sum. If the keys collided, inserting all of them
// would take minutes.
static void complex_keys_of_one_sum(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_dict *d = taper_dict_new(f.heap, NULL, NULL);
    enum { COUNT = 300000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t im = UINT64_C(0x3ff0000000000000) + i, re = UINT64_C(0x4050000000000000) ^ im * 31;
        double parts[2];
        memcpy(&parts[0], &re, sizeof re);
        memcpy(&parts[1], &im, sizeof im);
        const taper_val key = TAPER_VAL(taper_complex_new(f.heap, parts[0], parts[1]));
        assert_int_equal(taper_dict_set(d, key, taper_val_int((int64_t)i), NULL), TAPER_OK);
    }
    assert_int_equal(d->count, COUNT);
    taper_val_release(TAPER_VAL(d));
    close_heap(&f);
}

// NaN is not equal to itself, so each NaN is a new key. Zeros of either sign are the same key.
static void odd_numbers(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_dict *d = taper_dict_new(f.heap, NULL, NULL);
    const double nan = strtod("nan", NULL);
    enum { COUNT = 300000 };
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(taper_dict_set(d, taper_val_double(nan), taper_val_int(i), NULL), TAPER_OK);
    }
    assert_int_equal(d->count, COUNT);
    assert_null(taper_dict_find(d, taper_val_double(nan)));
    const taper_val keys[] = {taper_val_double(0), TAPER_VAL(taper_complex_new(f.heap, 0, 1)),
                              TAPER_VAL(taper_complex_new(f.heap, nan, 1)), taper_val_double(-0.0),
                              TAPER_VAL(taper_complex_new(f.heap, -0.0, 1))};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_int_equal(taper_dict_set(d, keys[i], taper_val_int((int64_t)i), NULL), TAPER_OK);
    }
    assert_int_equal(d->count, COUNT + 3);
    assert_int_equal(taper_dict_value(d, COUNT).as.i, 3);
    assert_int_equal(taper_dict_value(d, COUNT + 1).as.i, 4);
    taper_val_release(TAPER_VAL(d));
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_order), cmocka_unit_test(strings_are_keys_by_content),
                                       cmocka_unit_test(complex_keys_of_one_sum), cmocka_unit_test(odd_numbers),
                                       cmocka_unit_test(no_memory_leaves_it_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
