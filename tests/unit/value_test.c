// SPDX-License-Identifier: BSD-2-Clause
// Tests values: references, lists, equality, types of values, and how types are printed.
#include "tests/unit/heap_fixture.h"

static taper_val text(const heap_fixture *f, const char *s)
{
    return TAPER_VAL(taper_string_new(f->heap, s, strlen(s)));
}

static void lists(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_list *l = taper_list_new(f.heap, &taper_type_int, 0);
    for (int64_t i = 0; i < 100; i++) {
        assert_int_equal(taper_list_insert(l, (size_t)(i / 2), taper_val_int(i), NULL), TAPER_OK);
    }
    assert_int_equal(l->count, 100);
    assert_int_equal(l->items[0].as.i, 1);
    assert_int_equal(l->items[99].as.i, 0);
    assert_int_equal(taper_list_remove(l, 0).as.i, 1);
    assert_int_equal(l->items[0].as.i, 3);
    taper_list_clear(l);
    assert_int_equal(l->count, 0);
    const taper_val s = text(&f, "kept");
    assert_int_equal(taper_list_append(l, taper_val_retain(s), NULL), TAPER_OK);
    assert_int_equal(taper_refs_count(&s.as.obj->refs), 2);
    taper_val_release(taper_list_remove(l, 0));
    assert_int_equal(taper_refs_count(&s.as.obj->refs), 1);
    taper_val_release(s);
    taper_val_release(TAPER_VAL(l));
    close_heap(&f);
}

static taper_val pair(const heap_fixture *f, taper_val a, taper_val b)
{
    taper_tuple *t = taper_tuple_new(f->heap, NULL, 2);
    t->items[0] = a;
    t->items[1] = b;
    return TAPER_VAL(t);
}

static void equality(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    assert_true(taper_val_equal(taper_val_int(1), taper_val_double(1.0)));
    assert_true(taper_val_equal(taper_val_bool(true), taper_val_int(1)));
    assert_false(taper_val_equal(taper_val_int(1), taper_val_none()));
    assert_false(taper_val_same(taper_val_int(1), taper_val_double(1.0)));
    const taper_val nan = taper_val_double(__builtin_nan(""));
    assert_false(taper_val_equal(nan, taper_val_double(0)));
    taper_val a = pair(&f, text(&f, "x"), taper_val_int(2)), b = pair(&f, text(&f, "x"), taper_val_double(2)), c;
    c = pair(&f, text(&f, "xy"), taper_val_int(2));
    assert_true(taper_val_equal(a, b));
    assert_false(taper_val_equal(a, c));
    assert_false(taper_val_same(a, b));
    assert_true(taper_val_same(a, a));
    taper_val_release(a);
    taper_val_release(b);
    taper_val_release(c);
    close_heap(&f);
}

static void expect_type(taper_val value, const char *wanted)
{
    taper_text out = taper_text_make(&taper_allocator_system);
    taper_val_type_print(value, &out);
    assert_string_equal(taper_text_get(&out), wanted);
    taper_text_free(&out);
}

static const taper_type *parse(const heap_fixture *f, const char *s)
{
    const taper_type *type;
    assert_int_equal(taper_type_parse(f->types, s, strlen(s), &type, NULL), TAPER_OK);
    return type;
}

static void types(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_list *ints = taper_list_new(f.heap, &taper_type_int, 0);
    const taper_val t = pair(&f, TAPER_VAL(ints), taper_val_double(0.5));
    expect_type(t, "Tuple[List[int], float]");
    expect_type(taper_val_none(), "NoneType");
    expect_type(taper_val_bool(true), "bool");
    assert_true(taper_val_is_a(t, parse(&f, "Tuple[List[int], float]")));
    assert_true(taper_val_is_a(t, parse(&f, "Any")));
    assert_true(taper_val_is_a(t, parse(&f, "Optional[Tuple[List[int], float]]")));
    assert_false(taper_val_is_a(t, parse(&f, "Tuple[List[int], int]")));
    assert_false(taper_val_is_a(t, parse(&f, "Tuple[List[int]]")));
    assert_false(taper_val_is_a(t, parse(&f, "List[int]")));
    assert_true(taper_val_is_a(taper_val_none(), parse(&f, "Optional[int]")));
    assert_false(taper_val_is_a(taper_val_none(), parse(&f, "int")));
    assert_false(taper_val_is_a(taper_val_bool(true), parse(&f, "int")));
    taper_val_release(t);
    // The type of a list without an element type depends on its items.
    taper_list *bare = taper_list_new(f.heap, NULL, 0);
    for (int64_t i = 0; i < 9; i++) {
        assert_int_equal(taper_list_append(bare, taper_val_int(i), NULL), TAPER_OK);
    }
    taper_val_release(taper_list_remove(bare, 8));
    bare->items[8] = taper_val_none(); // memory after the last item is not read
    assert_true(taper_val_is_a(TAPER_VAL(bare), parse(&f, "List[int]")));
    bare->items[0] = taper_val_none();
    assert_false(taper_val_is_a(TAPER_VAL(bare), parse(&f, "List[int]")));
    assert_true(taper_val_is_a(TAPER_VAL(bare), parse(&f, "List[Optional[int]]")));
    taper_val_release(TAPER_VAL(bare));
    close_heap(&f);
}

enum { LEVELS = 28 }; // 2^28 paths to the leaf; types may be nested 32 deep

// Returns a list that contains the same list twice on each level. The lowest list contains one number.
static taper_val shared_lists(const heap_fixture *f, double leaf)
{
    taper_list *list = taper_list_new(f->heap, NULL, 1);
    assert_int_equal(taper_list_append(list, taper_val_double(leaf), NULL), TAPER_OK);
    for (int i = 0; i < LEVELS; i++) {
        taper_list *outer = taper_list_new(f->heap, NULL, 2);
        assert_int_equal(taper_list_append(outer, taper_val_retain(TAPER_VAL(list)), NULL), TAPER_OK);
        assert_int_equal(taper_list_append(outer, TAPER_VAL(list), NULL), TAPER_OK);
        list = outer;
    }
    return TAPER_VAL(list);
}

static void nest_type(char *text, size_t size, const char *leaf)
{
    text[0] = '\0';
    for (int i = 0; i <= LEVELS; i++) {
        strncat(text, "List[", size - strlen(text) - 1);
    }
    strncat(text, leaf, size - strlen(text) - 1);
    for (int i = 0; i <= LEVELS; i++) {
        strncat(text, "]", size - strlen(text) - 1);
    }
}

// The cost must be proportional to the number of containers, not to the number of paths.
static void shared_parts(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    const taper_val a = shared_lists(&f, 1), b = shared_lists(&f, 1), other = shared_lists(&f, 2);
    const taper_val nan = shared_lists(&f, __builtin_nan(""));
    assert_true(taper_val_equal(a, a));
    assert_true(taper_val_equal(a, b));
    assert_false(taper_val_equal(a, other));
    assert_false(taper_val_equal(nan, nan));
    char text[1000];
    nest_type(text, sizeof text, "float");
    assert_true(taper_val_is_a(a, parse(&f, text)));
    nest_type(text, sizeof text, "Union[int, float]");
    assert_true(taper_val_is_a(a, parse(&f, text)));
    nest_type(text, sizeof text, "int");
    assert_false(taper_val_is_a(a, parse(&f, text)));
    taper_text out = taper_text_make(&taper_allocator_system);
    taper_val_type_print(a, &out);
    assert_false(out.failed);
    taper_text_free(&out);
    taper_val_release(a);
    taper_val_release(b);
    taper_val_release(other);
    taper_val_release(nan);
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(equality), cmocka_unit_test(types),
                                       cmocka_unit_test(shared_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
