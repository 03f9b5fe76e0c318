// SPDX-License-Identifier: BSD-2-Clause
// Tests taper_load_options.methods: a model loaded with this list has only forward, the methods of bundled inputs and
// the listed methods.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

static bool has(const taper_model *model, const char *method)
{
    for (size_t i = 0; i < taper_model_method_count(model); i++) {
        if (strcmp(taper_model_method_name(model, i), method) == 0) {
            return true;
        }
    }
    return false;
}

static taper_model *load(taper_context *context, const char *file, const char *const *methods, size_t count)
{
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .methods = methods, .method_count = count};
    char path[512];
    taper_model *model;
    test_path(file, path, sizeof path);
    assert_int_equal(taper_model_load(context, path, &options, &model, NULL), TAPER_OK);
    return model;
}

static void only_some(void **state)
{
    (void)state;
    static const char *const names[] = {"twice", "absent"};
    taper_context *context = test_context(NULL, 1);
    taper_model *all = load(context, "s05_methods.pt", NULL, 0);
    taper_model *one = load(context, "s05_methods.pt", names, 0);
    taper_model *two = load(context, "s05_methods.pt", names, 2);
    taper_model *lite = load(context, "s05_methods.ptl", names, 0);
    assert_true(has(all, "forward") && has(all, "twice") && has(all, "set_count"));
    assert_true(has(one, "forward") && !has(one, "twice") && !has(one, "set_count"));
    assert_true(has(two, "forward") && has(two, "twice") && !has(two, "set_count"));
    assert_true(has(lite, "forward") && has(lite, "twice")); // a lite model always has all its methods

    const test_call call = {"s05_methods.pt", "forward", "f3,2", TAPER_OK, false};
    taper_model *const models[] = {all, one, two};
    taper_value *results[3];
    for (size_t i = 0; i < 3; i++) { // forward may call unlisted methods; the host may not
        taper_session *session;
        assert_int_equal(taper_session_create(models[i], NULL, &session, NULL), TAPER_OK);
        assert_int_equal(test_run(context, session, &call, &results[i], NULL), TAPER_OK);
        taper_session_destroy(session);
        assert_true(test_same(results[0], results[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        taper_value_release(results[i]);
        taper_model_release(models[i]);
    }
    taper_model_release(lite);
    taper_context_release(context);
}

// A draft loaded with fewer methods is saved without the other methods.
static void drafts(void **state)
{
    (void)state;
    static const char *const names[] = {"twice"};
    taper_context *context = test_context(NULL, 1);
    char path[512];
    test_path("s05_methods.pt", path, sizeof path);
    for (size_t count = 0; count < 2; count++) {
        void *files[2];
        size_t sizes[2];
        taper_draft *made[2];
        for (size_t i = 0; i < 2; i++) {
            const taper_load_options options = {.struct_size = sizeof options,
                                                .compiler = taper_compiler(),
                                                .methods = i != 0 ? names : NULL,
                                                .method_count = count};
            const taper_optimize_options how = {.struct_size = sizeof how, .preserve = names, .preserve_count = count};
            assert_int_equal(taper_draft_load(context, path, &options, &made[i], NULL), TAPER_OK);
            assert_int_equal(taper_draft_optimize(made[i], &how, NULL), TAPER_OK);
            assert_int_equal(taper_draft_save_memory(made[i], NULL, &files[i], &sizes[i], NULL), TAPER_OK);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(files[0], files[1], sizes[0]);
        for (size_t i = 0; i < 2; i++) {
            taper_saved_free(made[i], files[i], sizes[i]);
            taper_draft_release(made[i]);
        }
    }
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_some), cmocka_unit_test(drafts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
