// SPDX-License-Identifier: BSD-2-Clause
// Tests type strings, the table of types, equality and matching.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "ir/value.h"
#include "tests/api/fixture.h"

static taper_types *new_types(void)
{
    taper_types *types;
    assert_int_equal(taper_types_create(&taper_allocator_system, &types, NULL), TAPER_OK);
    return types;
}

static const taper_type *parse(taper_types *types, const char *text)
{
    const taper_type *type;
    assert_int_equal(taper_type_parse(types, text, strlen(text), &type, NULL), TAPER_OK);
    return type;
}

static void expect_print(const taper_type *type, const char *expected)
{
    taper_text text = taper_text_make(&taper_allocator_system);
    taper_type_print(type, &text);
    assert_string_equal(taper_text_get(&text), expected);
    taper_text_free(&text);
}

static void reads_and_prints(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        // The text in a file, and the printed text, or NULL if both texts are equal.
        {"Tensor", NULL},
        {"int", NULL},
        {"float", NULL},
        {"bool", NULL},
        {"complex", NULL},
        {"str", NULL},
        {"NoneType", NULL},
        {"Any", NULL},
        {"number", NULL},
        {"Scalar", "number"},
        {"Device", NULL},
        {"Generator", NULL},
        {"Stream", NULL},
        {"list", NULL},
        {"tuple", NULL},
        {"Layout", "int"},
        {"t", NULL},
        {"List[int]", NULL},
        {"List[Optional[Tensor]]", NULL},
        {"Dict[str,Tensor]", "Dict[str, Tensor]"},
        {"Dict[str, List[int]]", NULL},
        {"Tuple[Tensor, int, Tuple[float, str]]", NULL},
        {"Tuple[()]", NULL},
        {"Future[Tensor]", NULL},
        {"RRef[int]", NULL},
        {"Union[int, List[str]]", "Union[int, List[str]]"},
        {"__torch__.Net", NULL},
        {"__torch__.torch.classes.xnnpack.Conv2dOpContext", NULL},
        {"List[__torch__.a.___torch_mangle_3.B]", NULL},
        {" List[ int ] ", "List[int]"},
    };
    taper_types *types = new_types();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        expect_print(parse(types, texts[i][0]), texts[i][1] != NULL ? texts[i][1] : texts[i][0]);
    }
    assert_ptr_equal(parse(types, "List[int]"), &taper_type_list_int);
    assert_ptr_equal(parse(types, "Optional[Tensor]"), &taper_type_optional_tensor);
    assert_ptr_equal(parse(types, "Dict[str, Tensor]"), parse(types, "Dict[str,Tensor]"));
    taper_types_release(types);
}

static void reads_named_tuples(void **state)
{
    (void)state;
    taper_types *types = new_types();
    assert_int_equal(parse(types, "__torch__.Pair")->kind, TAPER_TYPE_CLASS);
    const taper_type *pair = parse(types, "__torch__.Pair[NamedTuple, [[first, Tensor],[second, List[int]]]]");
    assert_int_equal(pair->kind, TAPER_TYPE_TUPLE);
    assert_int_equal(pair->count, 2);
    assert_string_equal(pair->name, "__torch__.Pair");
    assert_string_equal(pair->fields[0], "first");
    assert_string_equal(pair->fields[1], "second");
    assert_ptr_equal(pair->items[1], &taper_type_list_int);
    expect_print(pair, "__torch__.Pair");
    assert_ptr_equal(parse(types, "__torch__.Pair"), pair);
    assert_ptr_equal(parse(types, "List[__torch__.Pair]")->items[0], pair);
    // After a second definition, the name has the new meaning. In a new scope, it has no meaning yet.
    const taper_type *other = parse(types, "__torch__.Pair[NamedTuple, [[only, int]]]");
    assert_ptr_equal(parse(types, "__torch__.Pair"), other);
    assert_false(taper_type_equal(pair, other));
    taper_type_scope *scope;
    const taper_type *type;
    assert_int_equal(taper_type_scope_create(&taper_allocator_system, &scope, NULL), TAPER_OK);
    assert_int_equal(taper_type_parse_in(types, scope, "__torch__.Pair", 14, &type, NULL), TAPER_OK);
    assert_int_equal(type->kind, TAPER_TYPE_CLASS);
    taper_type_scope_destroy(scope);
    const taper_type *none = parse(types, "__torch__.Empty[NamedTuple, []]");
    assert_int_equal(none->count, 0);
    taper_types_release(types);
}

static void refuses(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[",
        "]",
        "List[",
        "List[]",
        "List[int",
        "List[int, int]",
        "Dict[int]",
        "int]",
        "int int",
        "List[int]]",
        "Tuple[",
        "Tuple[(",
        "Tuple[()",
        "Union[int",
        "Foo[int]",
        "a.b[int]",
        "a.b[NamedTuple]",
        "a.b[NamedTuple, [[x, int]",
        "a.b[NamedTuple, [[x]]]",
        "Optional[,]",
        "int\n",
        "List[int,]",
    };
    taper_types *types = new_types();
    taper_error *error = taper_error_create();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const taper_type *type;
        assert_int_equal(taper_type_parse(types, texts[i], strlen(texts[i]), &type, error), TAPER_ERROR_FILE);
        assert_null(type);
        assert_non_null(strstr(taper_error_message(error), "character"));
    }
    const taper_type *type;
    assert_int_not_equal(taper_type_parse(types, "in\0t", 4, &type, error), TAPER_OK);
    taper_error_destroy(error);
    taper_types_release(types);
}

static void bounds_depth_and_size(void **state)
{
    (void)state;
    taper_types *types = new_types();
    for (int depth = 1; depth < 300; depth++) {
        taper_text text = taper_text_make(&taper_allocator_system);
        for (int i = 0; i < depth; i++) {
            taper_text_string(&text, "List[");
        }
        taper_text_string(&text, "int");
        for (int i = 0; i < depth; i++) {
            taper_text_string(&text, "]");
        }
        const taper_type *type;
        const taper_status status = taper_type_parse(types, text.data, text.length, &type, NULL);
        assert_true((status == TAPER_OK) == (depth <= TAPER_LIMIT_TYPE_DEPTH));
        taper_text_free(&text);
    }
    // Each type is a tuple that contains the previous type twice. The texts stay short, but the tree of the type
    // doubles each time.
    bool refused = false;
    for (int i = 1; i < 40 && !refused; i++) {
        char text[200];
        const taper_type *type;
        const int length =
            i == 1 ? snprintf(text, sizeof text, "a.N1[NamedTuple, [[x, int],[y, int]]]")
                   : snprintf(text, sizeof text, "a.N%d[NamedTuple, [[x, a.N%d],[y, a.N%d]]]", i, i - 1, i - 1);
        refused = taper_type_parse(types, text, (size_t)length, &type, NULL) == TAPER_ERROR_RESOURCE;
        assert_true(refused == (i >= 13));
    }
    taper_text wide = taper_text_make(&taper_allocator_system);
    taper_text_string(&wide, "Tuple[int");
    for (int i = 1; i < 9000; i++) {
        taper_text_string(&wide, ", int");
    }
    taper_text_string(&wide, "]");
    const taper_type *type;
    assert_int_equal(taper_type_parse(types, wide.data, wide.length, &type, NULL), TAPER_OK);
    assert_int_equal(type->count, 9000);
    taper_text_free(&wide);
    taper_types_release(types);
}

static void compares(void **state)
{
    (void)state;
    static const char *const texts[] = {"int",
                                        "List[Dict[str, Tensor]]",
                                        "Tuple[int, Optional[float]]",
                                        "__torch__.A",
                                        "__torch__.B",
                                        "Tuple[int, Optional[int]]",
                                        "__torch__.Q[NamedTuple, [[f, int]]]",
                                        "__torch__.R[NamedTuple, [[f, int]]]",
                                        "__torch__.R[NamedTuple, [[g, int]]]",
                                        "Tuple[int]",
                                        "RRef[int]",
                                        "Future[int]"};
    taper_types *one = new_types(), *two = new_types();
    const size_t count = sizeof texts / sizeof texts[0];
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            assert_true(taper_type_equal(parse(one, texts[i]), parse(two, texts[j])) == (i == j));
        }
    }
    taper_types_release(one);
    taper_types_release(two);
}

static void matches(void **state)
{
    (void)state;
    static const struct {
        const char *have, *want;
        bool yes;
    } cases[] = {
        {"int", "int", true},
        {"int", "float", false},
        {"int", "Any", true},
        {"Any", "int", false},
        {"int", "number", true},
        {"float", "number", true},
        {"Tensor", "number", false},
        {"NoneType", "Optional[int]", true},
        {"int", "Optional[int]", true},
        {"Optional[int]", "Optional[int]", true},
        {"Optional[int]", "int", false},
        {"Optional[int]", "Optional[number]", true},
        {"List[int]", "list", true},
        {"int", "list", false},
        {"List[Tensor]", "List[Optional[Tensor]]", true},
        {"List[Optional[Tensor]]", "List[Tensor]", false},
        {"List[int]", "List[t]", true},
        {"List[int]", "List[float]", false},
        {"Dict[str, int]", "Dict[str, t]", true},
        {"Tuple[int, int]", "tuple", true},
        {"Tuple[int, int]", "Tuple[int, number]", true},
        {"Tuple[int, int]", "Tuple[int]", false},
        {"__torch__.Q[NamedTuple, [[f, int]]]", "Tuple[int]", true},
        {"Tuple[int]", "__torch__.Q[NamedTuple, [[f, int]]]", false},
        {"__torch__.A", "__torch__.A", true},
        {"__torch__.A", "__torch__.B", false},
        {"Stream", "Stream", true},
        {"Stream", "Storage", false},
        {"Future[int]", "Future[number]", true},
        {"Future[int]", "RRef[int]", false},
        {"int", "Union[int, str]", true},
        {"float", "Union[int, str]", false},
        {"Union[int, str]", "Union[int, str]", true},
        {"Union[int, str]", "int", false},
    };
    taper_types *types = new_types(), *others = new_types();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(taper_type_matches(parse(types, cases[i].have), parse(others, cases[i].want)) == cases[i].yes);
    }
    taper_types_release(others);
    taper_types_release(types);
}

static void shares_classes_and_strings(void **state)
{
    (void)state;
    taper_types *types = new_types();
    static const char *const slots[] = {"weight", "bias"}, *const swapped[] = {"bias", "weight"};
    const taper_class *a = taper_types_class(types, "__torch__.M", 2, slots);
    assert_non_null(a);
    assert_string_equal(a->slots[1], "bias");
    assert_ptr_equal(a, taper_types_class(types, "__torch__.M", 2, slots));
    assert_ptr_not_equal(a, taper_types_class(types, "__torch__.M", 2, swapped));
    assert_ptr_not_equal(a, taper_types_class(types, "__torch__.M", 1, slots));
    assert_ptr_not_equal(a, taper_types_class(types, "__torch__.M", 0, NULL));
    assert_null(taper_types_class(types, "__torch__.M", 0, NULL)->slots);
    char name[32];
    const char *kept[2000];
    for (int i = 0; i < 2000; i++) {
        const int length = snprintf(name, sizeof name, "name %d", i);
        kept[i] = taper_types_string(types, name, (size_t)length);
    }
    for (int i = 0; i < 2000; i++) {
        const int length = snprintf(name, sizeof name, "name %d", i);
        assert_ptr_equal(taper_types_string(types, name, (size_t)length), kept[i]);
        assert_string_equal(kept[i], name);
    }
    uint8_t *block = taper_types_alloc(types, 1000);
    assert_non_null(block);
    assert_int_equal(block[999], 0);
    taper_types_release(taper_types_retain(types));
    taper_types_release(types);
}

// If the definition of a named tuple cannot be stored, parsing fails, because a later use of the name would be read as
// a class.
static void remembers_or_fails(void **state)
{
    (void)state;
    static const char definition[] = "a.P[NamedTuple, [[x, int]]]";
    bool whole = false;
    for (size_t n = 1; !whole; n++) {
        test_allocator allocator;
        test_allocator_init(&allocator);
        taper_types *types;
        const taper_type *type;
        assert_int_equal(taper_types_create(&allocator.allocator, &types, NULL), TAPER_OK);
        allocator.fail_at = atomic_load(&allocator.calls) + n;
        const taper_status status = taper_type_parse(types, definition, strlen(definition), &type, NULL);
        whole = atomic_load(&allocator.calls) < allocator.fail_at;
        allocator.fail_at = 0;
        if (status == TAPER_OK) {
            assert_ptr_equal(parse(types, "a.P"), type);
        } else {
            assert_int_equal(status, TAPER_ERROR_RESOURCE);
        }
        taper_types_release(types);
        assert_int_equal(atomic_load(&allocator.blocks), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_prints),           cmocka_unit_test(reads_named_tuples), cmocka_unit_test(refuses),
        cmocka_unit_test(bounds_depth_and_size),      cmocka_unit_test(compares),           cmocka_unit_test(matches),
        cmocka_unit_test(shares_classes_and_strings), cmocka_unit_test(remembers_or_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
