// SPDX-License-Identifier: BSD-2-Clause
// Tests that all schemas of the operator list can be parsed. Some schemas are checked in detail, and damaged schemas
// must be refused.
#include <stdio.h>

#include "ops/lang/torchbind.h"
#include "ops/list/registry.h"
#include "tests/unit/heap_fixture.h"

static void know_class(void *user, const char *name)
{
    ++*(size_t *)user;
    if (taper_torchbind_is_missing(name)) {
        fail_msg("a row names the class %s, of which list_class.inc has none", name);
    }
}

static void the_whole_list(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_registry *registry;
    taper_error *error = taper_error_create();
    assert_int_equal(taper_registry_create(&f.memory.allocator, f.types, &registry, NULL), TAPER_OK);
    for (size_t row = 0; row < taper_row_count; row++) {
        const taper_schema *schema;
        if (taper_registry_schema(registry, &taper_ops[row], &schema, error) != TAPER_OK) {
            fail_msg("row %zu: %s", row, taper_error_message(error));
        }
        // The operator must be found by its name. This fails if two operators of the list have the same name.
        const taper_op *found = taper_row_find(schema->name, schema->overload);
        if (found != &taper_ops[row]) {
            fail_msg("%s is found as row %td", schema->text, found != NULL ? found - taper_ops : (ptrdiff_t)-1);
        }
        assert_non_null(taper_row_kernel(&taper_ops[row]));
        if (schema->in_place) {
            assert_true(schema->args[0].written);
        }
    }
    size_t classes = 0;
    taper_types_each_class(f.types, TAPER_TORCHBIND_PREFIX, know_class, &classes);
    assert_true(classes != 0);
    assert_true(taper_torchbind_is_missing("__torch__.torch.classes.my_ext.Options"));
    assert_false(taper_torchbind_is_missing("__torch__.Options"));
    assert_null(taper_row_find("aten::nothing", ""));
    assert_null(taper_row_find("aten::relu", "nothing"));
    assert_null(taper_row_find("aten::ad", "Tensor"));
    taper_registry_destroy(registry);
    taper_error_destroy(error);
    close_heap(&f);
}

static void parts(void **state)
{
    (void)state;
    heap_fixture f;
    open_heap(&f);
    taper_arena arena;
    taper_arena_init(&arena, &f.memory.allocator);
    taper_schema s;
    assert_int_equal(taper_schema_parse(&arena, f.heap, f.types,
                                        "aten::x.out(Tensor(b) self, int[2] stride=1, str mode=\"mean\", float? "
                                        "eps=1e-05, float slope=0.33333, float low=-1000.5, *, "
                                        "bool flag=False, Tensor(a!) out) -> Tensor(a!)",
                                        &s, NULL),
                     TAPER_OK);
    assert_string_equal(s.name, "aten::x");
    assert_string_equal(s.overload, "out");
    assert_int_equal(s.arg_count, 8);
    assert_int_equal(s.args[0].alias, 'b');
    assert_false(s.args[0].written);
    assert_int_equal(s.args[1].size, 2);
    assert_int_equal(s.args[1].default_value.as.list->count, 2);
    assert_int_equal(s.args[1].default_value.as.list->items[1].as.i, 1);
    assert_true(taper_val_string_is(s.args[2].default_value, "mean"));
    assert_true(s.args[3].default_value.as.f == 1e-05);
    assert_true(s.args[4].default_value.as.f == 0.33333);
    assert_true(s.args[5].default_value.as.f == -1000.5);
    assert_true(s.args[6].keyword_only && s.args[6].has_default && !s.args[6].default_value.as.b);
    assert_false(s.args[5].keyword_only);
    assert_true(s.args[7].written);
    assert_int_equal(s.out_count, 1);
    assert_false(s.in_place);
    for (uint32_t i = 0; i < s.arg_count; i++) {
        taper_val_release(s.args[i].default_value);
    }
    assert_int_equal(taper_schema_parse(&arena, f.heap, f.types, "prim::f(...) -> ...", &s, NULL), TAPER_OK);
    assert_true(s.vararg && s.varret);
    assert_int_equal(taper_schema_parse(&arena, f.heap, f.types,
                                        "aten::add_(Tensor(a!) self, Tensor other) -> Tensor(a!)", &s, NULL),
                     TAPER_OK);
    assert_true(s.in_place);
    static const char *const broken[] = {"",
                                         "aten::x",
                                         "aten::x(",
                                         "aten::x(Tensor",
                                         "aten::x(Tensor a",
                                         "aten::x(Tensor a)",
                                         "aten::x(Tensor a) ->",
                                         "aten::x(Tensor(a a) -> Tensor",
                                         "aten::x(int[ a) -> int",
                                         "aten::x(Nonsense?? a=) -> int"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_true(taper_schema_parse(&arena, f.heap, f.types, broken[i], &s, NULL) != TAPER_OK);
    }
    taper_arena_free(&arena);
    close_heap(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_whole_list), cmocka_unit_test(parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
