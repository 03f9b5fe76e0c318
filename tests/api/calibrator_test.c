// SPDX-License-Identifier: BSD-2-Clause
// Tests quantization with the public functions: the order of calls, invalid options, budgets. Each allocation while
// loading, calibrating, comparing and saving fails once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

typedef struct world {
    test_allocator allocator;
    taper_context *context;
    taper_error *error;
    taper_value *input; // input of the model s01_convnet, a float32 tensor of sizes [1, 3, 12, 12]
} world;

static taper_value *make_input(taper_context *context, taper_error *error)
{
    static const int64_t sizes[] = {1, 3, 12, 12};
    taper_value *input;
    if (taper_value_tensor(context, TAPER_F32, 4, sizes, &input, error) != TAPER_OK) {
        return NULL;
    }
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(input, &info, NULL), TAPER_OK);
    for (size_t i = 0; i < info.bytes / sizeof(float); i++) {
        ((float *)info.data)[i] = (float)(i % 37) / 18 - 1;
    }
    return input;
}

static void open_world(world *w)
{
    test_allocator_init(&w->allocator);
    w->context = test_context(&w->allocator, 1);
    w->error = taper_error_create();
    w->input = make_input(w->context, w->error);
    assert_non_null(w->input);
}

static void close_world(world *w)
{
    taper_value_release(w->input);
    taper_error_destroy(w->error);
    taper_context_release(w->context);
    assert_int_equal(atomic_load(&w->allocator.blocks), 0);
}

static taper_status load(taper_context *context, const char *file, taper_quantize_options options,
                         taper_calibrator **calibrator, taper_error *error)
{
    char path[512];
    test_path(file, path, sizeof path);
    const taper_load_options compiled = {.struct_size = sizeof compiled, .compiler = taper_compiler()};
    options.struct_size = sizeof options;
    return taper_calibrator_load(context, path, &compiled, &options, calibrator, error);
}

static taper_status save(taper_context *context, taper_calibrator *calibrator, taper_model **model, taper_error *error)
{
    const taper_save_options options = {.struct_size = sizeof options};
    taper_draft *draft;
    void *bytes = NULL;
    size_t size = 0;
    *model = NULL;
    taper_status status = taper_calibrator_finish(calibrator, &draft, error);
    assert_true((status == TAPER_OK) == (draft != NULL));
    if (status == TAPER_OK) {
        status = taper_draft_save_memory(draft, &options, &bytes, &size, error);
    }
    if (status == TAPER_OK) {
        const taper_load_options copied = {.struct_size = sizeof copied, .flags = TAPER_LOAD_COPY};
        status = taper_model_load_memory(context, bytes, size, NULL, NULL, &copied, model, error);
    }
    taper_saved_free(draft, bytes, size);
    taper_draft_release(draft);
    return status;
}

static void order_of_calls(void **state)
{
    (void)state;
    world w;
    taper_calibrator *calibrator;
    taper_draft *draft;
    open_world(&w);
    assert_int_equal(load(w.context, "s01_convnet.pt", (taper_quantize_options){0}, &calibrator, w.error), TAPER_OK);
    assert_int_equal(taper_calibrator_finish(calibrator, &draft, w.error), TAPER_ERROR_ARGUMENT);
    assert_null(draft);
    assert_int_equal(taper_calibrator_compare(calibrator, &w.input, 1, w.error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 0, w.error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_OK);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(taper_calibrator_finish(calibrator, &draft, w.error), TAPER_OK);
        taper_draft_release(draft);
    }
    // The result is NaN before any comparison.
    assert_true(taper_calibrator_sqnr(calibrator) != taper_calibrator_sqnr(calibrator));
    assert_int_equal(taper_calibrator_compare(calibrator, &w.input, 1, w.error), TAPER_OK);
    assert_true(taper_calibrator_sqnr(calibrator) > 20);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_ERROR_ARGUMENT);
    taper_calibrator_release(calibrator);
    close_world(&w);
}

// Returns the scale that calibration found for the input, or 0.
static double input_scale(const taper_calibrator *calibrator)
{
    double scale;
    int64_t zero_point;
    return taper_calibrator_input(calibrator, 0, &scale, &zero_point) ? scale : 0;
}

static void finish(taper_calibrator *calibrator, taper_error *error)
{
    taper_draft *draft;
    assert_int_equal(taper_calibrator_finish(calibrator, &draft, error), TAPER_OK);
    taper_draft_release(draft);
}

// A quantized draft uses all calibration runs before it, including runs between an earlier draft and itself.
static void runs_between_finishes(void **state)
{
    (void)state;
    world w;
    taper_calibrator *calibrator;
    const taper_quantize_options options = {.mode = TAPER_QUANTIZE_FULL, .observer = TAPER_OBSERVER_MIN_MAX};
    open_world(&w);
    assert_int_equal(load(w.context, "s01_convnet.pt", options, &calibrator, w.error), TAPER_OK);
    assert_int_equal(taper_calibrator_layer_count(calibrator), 0);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_OK);
    assert_true(input_scale(calibrator) == 0);
    finish(calibrator, w.error);
    const double before = input_scale(calibrator);
    finish(calibrator, w.error);
    assert_true(input_scale(calibrator) == before);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(w.input, &info, NULL), TAPER_OK);
    for (size_t i = 0; i < info.bytes / sizeof(float); i++) {
        ((float *)info.data)[i] *= 100;
    }
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_OK);
    finish(calibrator, w.error);
    assert_true(before > 0 && input_scale(calibrator) > 10 * before);
    taper_calibrator_release(calibrator);
    close_world(&w);
}

// The struct of an older program has fewer members; the library must write only to these members.
static void layer_of_older_header(void **state)
{
    (void)state;
    world w;
    taper_calibrator *calibrator;
    taper_quantized_layer layer;
    open_world(&w);
    assert_int_equal(load(w.context, "s01_convnet.pt", (taper_quantize_options){0}, &calibrator, w.error), TAPER_OK);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_OK);
    memset(&layer, 0x55, sizeof layer);
    layer.struct_size = offsetof(taper_quantized_layer, kept_float);
    assert_int_equal(taper_calibrator_layer(calibrator, 0, &layer, w.error), TAPER_OK);
    assert_int_equal(layer.struct_size, offsetof(taper_quantized_layer, kept_float));
    assert_int_equal(layer.operator_length, strlen("aten::conv2d"));
    const unsigned char *after = (const unsigned char *)&layer;
    for (size_t i = offsetof(taper_quantized_layer, kept_float); i < sizeof layer; i++) {
        assert_int_equal(after[i], 0x55);
    }
    taper_calibrator_release(calibrator);
    close_world(&w);
}

static void wrong_options(void **state)
{
    (void)state;
    static const char *const nothing[] = {"no.such.layer"};
    const taper_session_options unset = {0};
    const taper_quantize_options wrong[] = {
        {.mode = (taper_quantize_mode)3},
        {.observer = (taper_observer_kind)7},
        {.observer = TAPER_OBSERVER_PERCENTILE, .percentile = 101},
        {.preserve = nothing, .preserve_count = 1},
        {.budgets = &unset},
    };
    world w;
    taper_calibrator *calibrator;
    open_world(&w);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(load(w.context, "s01_convnet.pt", wrong[i], &calibrator, w.error), TAPER_OK);
        assert_null(calibrator);
        assert_int_not_equal(taper_error_status(w.error), TAPER_OK);
    }
    const taper_quantize_options kept = {.keep_float = nothing, .keep_float_count = 1};
    assert_int_equal(load(w.context, "s01_convnet.pt", kept, &calibrator, w.error), TAPER_OK);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_ERROR_ARGUMENT);
    assert_non_null(strstr(taper_error_message(w.error), "no.such.layer"));
    taper_calibrator_release(calibrator);
    close_world(&w);
}

static void budgets(void **state)
{
    (void)state;
    world w;
    taper_calibrator *calibrator;
    open_world(&w);
    {
        const taper_session_options small = {.struct_size = sizeof small, .memory_budget = 1024};
        const taper_quantize_options options = {.budgets = &small};
        assert_int_equal(load(w.context, "s01_convnet.pt", options, &calibrator, w.error), TAPER_OK);
    }
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_ERROR_RESOURCE);
    taper_calibrator_release(calibrator);
    const taper_session_options enough = {.struct_size = sizeof enough, .memory_budget = (size_t)64 << 20};
    assert_int_equal(
        load(w.context, "s01_convnet.pt", (taper_quantize_options){.budgets = &enough}, &calibrator, w.error),
        TAPER_OK);
    assert_int_equal(taper_calibrator_run(calibrator, &w.input, 1, w.error), TAPER_OK);
    assert_int_equal(taper_calibrator_compare(calibrator, &w.input, 1, w.error), TAPER_OK);
    taper_calibrator_release(calibrator);
    close_world(&w);
}

// ---- out of memory

typedef struct quantizing {
    const char *file;
    taper_quantize_options options;
} quantizing;

static taper_status once(taper_context *context, const void *what, taper_error *error)
{
    const quantizing *q = what;
    taper_calibrator *calibrator;
    taper_model *model = NULL;
    taper_status status = load(context, q->file, q->options, &calibrator, error);
    taper_value *input = status == TAPER_OK ? make_input(context, error) : NULL;
    if (status == TAPER_OK && input == NULL) {
        status = TAPER_ERROR_RESOURCE;
    }
    const bool dynamic = q->options.mode == TAPER_QUANTIZE_DYNAMIC;
    if (status == TAPER_OK && !dynamic) {
        status = taper_calibrator_run(calibrator, &input, 1, error);
    }
    if (status == TAPER_OK && !dynamic) {
        status = taper_calibrator_compare(calibrator, &input, 1, error);
    }
    if (status == TAPER_OK) {
        status = save(context, calibrator, &model, error);
    }
    taper_model_release(model);
    taper_value_release(input);
    taper_calibrator_release(calibrator);
    return status;
}

static void sweep(const char *file, taper_quantize_options options)
{
    test_each_allocation_fails(file, once, &(quantizing){file, options});
}

static void memory_for_core(void **state)
{
    (void)state;
    sweep("s01_convnet.pt", (taper_quantize_options){.per_channel = 1, .equalize = 1, .bias_correction = 1});
}

static void memory_for_full(void **state)
{
    (void)state;
    sweep("s01_convnet.ptl",
          (taper_quantize_options){.mode = TAPER_QUANTIZE_FULL, .observer = TAPER_OBSERVER_PERCENTILE});
}

static void memory_for_dynamic(void **state)
{
    (void)state;
    sweep("s01_convnet.pt", (taper_quantize_options){.mode = TAPER_QUANTIZE_DYNAMIC});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_calls),
        cmocka_unit_test(runs_between_finishes),
        cmocka_unit_test(layer_of_older_header),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(budgets),
        cmocka_unit_test(memory_for_core),
        cmocka_unit_test(memory_for_full),
        cmocka_unit_test(memory_for_dynamic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
