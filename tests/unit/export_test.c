// SPDX-License-Identifier: BSD-2-Clause
// Tests names and layers of exported programs in saved files: names must be read from the saved file correctly, or be
// refused when it is saved. The files are modified samples of tests/data/pt2.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <taper/taper_compile.h>

#include "tests/cpu_mask.h"
#include "tests/fuzz/made_inputs.h"
#include "tests/fuzz/pt2_sample.h"

static bytes read_file(const char *name)
{
    bytes b = {.data = NULL};
    char part[4096];
    (void)snprintf(part, sizeof part, "%s/%s", TEST_PT2, name);
    FILE *file = fopen(part, "rb");
    assert_non_null(file);
    for (size_t n; (n = fread(part, 1, sizeof part, file)) != 0;) {
        bytes_add(&b, part, n);
    }
    (void)fclose(file);
    return b;
}

typedef struct change {
    const char *from, *to;
} change;

static bytes changed(const char *name, const change *changes, size_t count)
{
    bytes file = read_file(name);
    static pt2_sample sample; // static because it is too large for the stack
    assert_true(pt2_sample_read(file.data, file.size, &sample));
    bytes_free(&file);
    for (size_t i = 0; i < count; i++) {
        assert_true(pt2_sample_replace(&sample, changes[i].from, changes[i].to));
    }
    file = pt2_sample_pack(&sample);
    pt2_sample_free(&sample);
    return file;
}

static taper_context *context_new(void)
{
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = say_nothing, .cpu_mask = test_cpu_mask()};
    taper_context *context;
    assert_int_equal(taper_context_create(&options, &context, NULL), TAPER_OK);
    return context;
}

static void refuse(const char *name, const change *changes, size_t count, const char *word)
{
    bytes file = changed(name, changes, count);
    taper_context *context = context_new();
    taper_error *error = taper_error_create();
    taper_model *model;
    const taper_load_options plain = {.struct_size = sizeof plain};
    const taper_status status =
        taper_model_load_memory(context, file.data, file.size, NULL, NULL, &plain, &model, error);
    if (status == TAPER_OK || strstr(taper_error_message(error), word) == NULL) {
        fail_msg("\"%s\" expected, status %d: %s", word, (int)status, taper_error_message(error));
    }
    taper_error_destroy(error);
    taper_context_release(context);
    bytes_free(&file);
}

// Converts a file, with or without support for NNAPI, and loads the result.
static void convert(const char *name, const change *changes, size_t count, taper_value *input)
{
    bytes file = changed(name, changes, count);
    taper_context *context = context_new();
    taper_error *error = taper_error_create();
    const taper_load_options compiled = {.struct_size = sizeof compiled, .compiler = taper_compiler()},
                             plain = {.struct_size = sizeof plain};
    taper_draft *draft;
    assert_int_equal(taper_draft_load_memory(context, file.data, file.size, &compiled, &draft, error), TAPER_OK);
    const taper_optimize_options nnapi = {
        .struct_size = sizeof nnapi, .device = TAPER_DEVICE_NNAPI, .inputs = &input, .input_count = 1};
    if (input != NULL) {
        assert_int_equal(taper_draft_optimize(draft, &nnapi, error), TAPER_OK);
    }
    for (int flatbuffer = 0; flatbuffer < 2; flatbuffer++) {
        const taper_save_options save = {.struct_size = sizeof save, .flatbuffer = flatbuffer};
        taper_model *model;
        void *saved;
        size_t size;
        assert_int_equal(taper_draft_save_memory(draft, &save, &saved, &size, error), TAPER_OK);
        if (taper_model_load_memory(context, saved, size, NULL, NULL, &plain, &model, error) != TAPER_OK) {
            fail_msg("%s: %s", name, taper_error_message(error));
        }
        taper_model_release(model);
        taper_saved_free(draft, saved, size);
    }
    taper_draft_release(draft);
    taper_error_destroy(error);
    taper_context_release(context);
    bytes_free(&file);
}

// The text of a type contains the name of the class and the names of its fields, so these names are restricted.
static void named_tuples(void **state)
{
    static const change changes[] = {{"test.Pair", "Pair"},       {"test.Pair", "test.f.<locals>.Pair [1]"},
                                     {"test.Pair", ""},           {"\"left\"", "\"\""},
                                     {"\"left\"", "\"a b], [\""}, {"\"left\"", "\"a\\u0000b\""}};
    (void)state;
    convert("2.15_containers.pt2", NULL, 0, NULL);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        convert("2.15_containers.pt2", &changes[i], 1, NULL);
    }
}

// Tests names that sort between a weight and the weights of a module with the same name.
static void weights_and_modules(void **state)
{
    (void)state;
    const change changes[] = {{"\"layer.weight\"", "\"a\""}, {"\"layer.bias\"", "\"a.c\""}, {"\"count\"", "\"a-b\""}};
    refuse("2.15_small.pt2", changes, 3, "a is a weight and a module");
}

// If the weights of a layer do not match its inputs, the layer fails only when it runs. The compiler must therefore not
// move such a layer.
static void layers_that_do_not_fit(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 3, 16, 16};
    taper_context *context = context_new();
    taper_value *input;
    assert_int_equal(taper_value_tensor(context, TAPER_F32, 4, sizes, &input, NULL), TAPER_OK);
    static const change weights[] = {{"[{\"as_int\": 8}, {\"as_int\": 3}, {\"as_int\": 3}, {\"as_int\": 3}]",
                                      "[{\"as_int\": 3}, {\"as_int\": 3}, {\"as_int\": 8}, {\"as_int\": 3}]"},
                                     {"[{\"as_int\": 5}, {\"as_int\": 8}]", "[{\"as_int\": 5}, {\"as_int\": 7}]"}};
    convert("calls/convnet.pt2", NULL, 0, input);
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        convert("calls/convnet.pt2", &weights[i], 1, input);
    }
    const change order = {"\"as_ints\": [1, 0]", "\"as_ints\": [1, 1]"};
    convert("calls/convnet_core.pt2", &order, 1, input);
    taper_value_release(input);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_tuples),
        cmocka_unit_test(weights_and_modules),
        cmocka_unit_test(layers_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
