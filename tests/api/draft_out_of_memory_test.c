// SPDX-License-Identifier: BSD-2-Clause
// Each allocation while loading a draft, optimizing it, adding a sample and saving it fails once. Nothing may crash or
// leak, and the status must be TAPER_ERROR_RESOURCE.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

typedef struct rewriting {
    const char *file;
    taper_device_kind device; // device to optimize for; 0 if the draft is not optimized
    int flatbuffer;
    bool bundles;
    int debug_info;
    const char *layout; // layout of the sample with which the draft is converted for NNAPI; NULL if it is not converted
    bool unbundles;     // true to remove the bundled inputs of the file
} rewriting;

static taper_status make_sample(taper_context *context, taper_value **input, taper_error *error)
{
    static const int64_t sizes[] = {1, 3, 10, 12};
    const taper_status status = taper_value_tensor(context, TAPER_F32, 4, sizes, input, error);
    if (status == TAPER_OK) {
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_value_get_tensor(*input, &info, NULL), TAPER_OK);
        memset(info.data, 0, info.bytes);
    }
    return status;
}

static taper_status add_sample(taper_context *context, taper_draft *draft, taper_error *error)
{
    taper_value *input;
    taper_status status = make_sample(context, &input, error);
    if (status == TAPER_OK) {
        status = taper_draft_bundle(draft, NULL, &input, 1, error);
        taper_value_release(input);
    }
    return status;
}

static void count_modules(void *user, const taper_placement *placement)
{
    *(int *)user = placement->segment >= *(int *)user ? placement->segment + 1 : *(int *)user;
}

static taper_status optimize(taper_context *context, const rewriting *r, taper_draft *draft, taper_error *error)
{
    taper_value *input = NULL;
    int modules = 0;
    taper_optimize_options options = {.struct_size = sizeof options, .device = r->device};
    if (r->layout == NULL) {
        return taper_draft_optimize(draft, &options, error);
    }
    taper_status status = make_sample(context, &input, error);
    if (status == TAPER_OK) {
        options.inputs = &input;
        options.input_count = 1;
        taper_nnapi_conversion conversion = {.struct_size = sizeof conversion};
        assert_int_equal(taper_nnapi_conversion_parse(r->layout, &conversion, NULL), TAPER_OK);
        options.nnapi = &conversion;
        options.report = count_modules;
        options.report_user = &modules;
        status = taper_draft_optimize(draft, &options, error);
        assert_true(status != TAPER_OK || modules != 0);
        taper_value_release(input);
    }
    return status;
}

static taper_status once(taper_context *context, const void *what, taper_error *error)
{
    const rewriting *r = what;
    char path[512];
    test_path(r->file, path, sizeof path);
    const taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    const taper_save_options save = {
        .struct_size = sizeof save, .flatbuffer = r->flatbuffer, .debug_info = r->debug_info};
    taper_draft *draft;
    void *bytes = NULL;
    size_t size = 0;
    taper_status status = taper_draft_load(context, path, &load, &draft, error);
    if (status != TAPER_OK) {
        assert_null(draft);
        return status;
    }
    if (r->unbundles) {
        status = taper_draft_unbundle(draft, error);
    }
    if (status == TAPER_OK && r->device != 0) {
        status = optimize(context, r, draft, error);
    }
    if (status == TAPER_OK && r->bundles) {
        status = add_sample(context, draft, error);
    }
    if (status == TAPER_OK) {
        status = taper_draft_save_memory(draft, &save, &bytes, &size, error);
        assert_true((status == TAPER_OK) == (bytes != NULL));
    }
    taper_saved_free(draft, bytes, size);
    taper_draft_release(draft);
    return status;
}

static void sweep(const rewriting *r)
{
    test_each_allocation_fails(r->file, once, r);
}

static void optimized_script(void **state)
{
    (void)state;
    sweep(&(rewriting){.file = "s01_convnet.pt", .device = TAPER_DEVICE_CPU, .bundles = true});
    sweep(&(rewriting){.file = "s05_methods.pt", .device = TAPER_DEVICE_CPU, .debug_info = 1});
}

static void bundled_inputs_taken_out(void **state)
{
    (void)state;
    sweep(&(rewriting){.file = "s17_bundled.ptl", .unbundles = true});
}

static void optimized_for_metal(void **state)
{
    (void)state;
    sweep(&(rewriting){.file = "s01_convnet.ptl", .device = TAPER_DEVICE_METAL, .flatbuffer = 1});
}

static void optimized_for_nnapi(void **state)
{
    (void)state;
    const rewriting script = {.file = "s01_convnet.pt", .device = TAPER_DEVICE_NNAPI, .layout = "layout=nhwc"};
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    const bool without = once(context, &script, error) == TAPER_ERROR_UNSUPPORTED &&
                         strstr(taper_error_message(error), "this build has no NNAPI") != NULL;
    taper_error_destroy(error);
    taper_context_release(context);
    if (without) {
        skip();
    }
    sweep(&script);
    sweep(&(rewriting){
        .file = "s02_traced.ptl", .device = TAPER_DEVICE_NNAPI, .layout = "layout=pytorch", .flatbuffer = 1});
    sweep(&(rewriting){.file = "int8_convnet.ptl", .device = TAPER_DEVICE_NNAPI, .layout = "layout=nhwc,level=29"});
    sweep(&(rewriting){.file = "s02_traced.ptl", .device = TAPER_DEVICE_NNAPI, .layout = "flexible=sizes"});
}

static void converted(void **state)
{
    (void)state;
    sweep(&(rewriting){.file = "s05_methods.ptl"});
    sweep(&(rewriting){.file = "s06_raise.ptl", .flatbuffer = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimized_script), cmocka_unit_test(bundled_inputs_taken_out),
                                       cmocka_unit_test(optimized_for_metal), cmocka_unit_test(optimized_for_nnapi),
                                       cmocka_unit_test(converted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
