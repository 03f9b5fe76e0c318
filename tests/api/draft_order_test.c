// SPDX-License-Identifier: BSD-2-Clause
// Tests that a draft refuses calls in a wrong order, which would write a wrong file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

static taper_status save(taper_draft *draft, taper_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    const taper_status status = taper_draft_save_memory(draft, NULL, &bytes, &size, error);
    taper_saved_free(draft, bytes, size);
    return status;
}

// Saving makes the methods of bundled inputs, which refer to attributes by their index. Optimizing after saving would
// change the indices.
static void optimized_after_a_save(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 3, 10, 12};
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    const taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    char path[512];
    test_path("s02_traced.ptl", path, sizeof path);
    for (int bundles = 0; bundles < 2; bundles++) {
        taper_draft *draft;
        taper_value *input;
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_draft_load(context, path, &load, &draft, error), TAPER_OK);
        assert_int_equal(taper_value_tensor(context, TAPER_F32, 4, sizes, &input, error), TAPER_OK);
        assert_int_equal(taper_value_get_tensor(input, &info, NULL), TAPER_OK);
        memset(info.data, 0, info.bytes);
        if (bundles) {
            assert_int_equal(taper_draft_bundle(draft, NULL, &input, 1, error), TAPER_OK);
        }
        assert_int_equal(save(draft, error), TAPER_OK);
        const taper_status status = taper_draft_optimize(draft, NULL, error);
        assert_int_equal(status, bundles ? TAPER_ERROR_ARGUMENT : TAPER_OK);
        if (bundles) {
            assert_non_null(strstr(taper_error_message(error), "optimize it before it is saved"));
        }
        assert_int_equal(save(draft, error), TAPER_OK); // the draft is unchanged
        taper_value_release(input);
        taper_draft_release(draft);
    }
    taper_error_destroy(error);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimized_after_a_save)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
