// SPDX-License-Identifier: BSD-2-Clause
// Calls every function of the public headers with NULL for each required argument (headers_test.sh checks that no
// function is missing), with structs of other versions of the headers, and with results stored in arguments' variables.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_app.h>
#include <taper/taper_inspect.h>
#include <taper/taper_memory.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

typedef struct world {
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_error *error;
    taper_value *tensor, *text;
    char path[512];
} world;

static const taper_load_options *compiled(void)
{
    static taper_load_options options = {.struct_size = sizeof options};
    options.compiler = taper_compiler();
    return &options;
}

static void open_world(world *w)
{
    static const int64_t sizes[] = {1, 3, 12, 12};
    w->context = test_context(NULL, 1);
    w->error = taper_error_create();
    test_path("s01_convnet.ptl", w->path, sizeof w->path);
    assert_int_equal(test_load(w->context, "s01_convnet.ptl", true, &w->model, w->error), TAPER_OK);
    assert_int_equal(taper_session_create(w->model, NULL, &w->session, w->error), TAPER_OK);
    assert_int_equal(taper_value_tensor(w->context, TAPER_F32, 4, sizes, &w->tensor, w->error), TAPER_OK);
    assert_int_equal(taper_value_string(w->context, "text", 4, &w->text, w->error), TAPER_OK);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(w->tensor, &info, w->error), TAPER_OK);
    memset(info.data, 0, info.bytes);
}

static void close_world(world *w)
{
    taper_value_release(w->tensor);
    taper_value_release(w->text);
    taper_session_destroy(w->session);
    taper_model_release(w->model);
    taper_context_release(w->context);
    taper_error_destroy(w->error);
}

static void check_failed(const world *w, taper_status status, const char *words, const char *call)
{
    if (status != TAPER_ERROR_ARGUMENT || taper_error_status(w->error) != TAPER_ERROR_ARGUMENT ||
        strstr(taper_error_message(w->error), words) == NULL) {
        fail_msg("%s: status %d, %s; wanted %s", call, (int)status, taper_error_message(w->error), words);
    }
}

// Expects the call, with the objects of the test (w), to fail with an argument error that contains the words.
#define FAILS(words, call) check_failed(&w, call, words, #call)
#define E w.error

// ---- arguments that are NULL

static void values_are_made(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_context *c = w.context;
    taper_value *v, *items[] = {w.tensor, NULL};
    const int64_t sizes[] = {1};
    FAILS("context is NULL", taper_value_none(NULL, &v, E));
    FAILS("value is NULL", taper_value_none(c, NULL, E));
    FAILS("context is NULL", taper_value_bool(NULL, 1, &v, E));
    FAILS("value is NULL", taper_value_bool(c, 1, NULL, E));
    FAILS("context is NULL", taper_value_int(NULL, 1, &v, E));
    FAILS("value is NULL", taper_value_int(c, 1, NULL, E));
    FAILS("context is NULL", taper_value_double(NULL, 1, &v, E));
    FAILS("value is NULL", taper_value_double(c, 1, NULL, E));
    FAILS("context is NULL", taper_value_complex(NULL, 1, 1, &v, E));
    FAILS("value is NULL", taper_value_complex(c, 1, 1, NULL, E));
    FAILS("context is NULL", taper_value_string(NULL, "a", 1, &v, E));
    FAILS("text is NULL", taper_value_string(c, NULL, 1, &v, E));
    FAILS("value is NULL", taper_value_string(c, "a", 1, NULL, E));
    FAILS("context is NULL", taper_value_tensor(NULL, TAPER_F32, 1, sizes, &v, E));
    FAILS("sizes is NULL", taper_value_tensor(c, TAPER_F32, 1, NULL, &v, E));
    FAILS("value is NULL", taper_value_tensor(c, TAPER_F32, 1, sizes, NULL, E));
    float data = 0;
    FAILS("context is NULL", taper_value_tensor_from(NULL, TAPER_F32, 1, sizes, NULL, &data, 4, 0, NULL, NULL, &v, E));
    FAILS("sizes is NULL", taper_value_tensor_from(c, TAPER_F32, 1, NULL, NULL, &data, 4, 0, NULL, NULL, &v, E));
    FAILS("data is NULL", taper_value_tensor_from(c, TAPER_F32, 1, sizes, NULL, NULL, 4, 0, NULL, NULL, &v, E));
    FAILS("value is NULL", taper_value_tensor_from(c, TAPER_F32, 1, sizes, NULL, &data, 4, 0, NULL, NULL, NULL, E));
    FAILS("context is NULL", taper_value_tensor_quantized(NULL, TAPER_QU8, 1, sizes, "", 1, 1, 0, &v, E));
    FAILS("sizes is NULL", taper_value_tensor_quantized(c, TAPER_QU8, 1, NULL, "", 1, 1, 0, &v, E));
    FAILS("data is NULL", taper_value_tensor_quantized(c, TAPER_QU8, 1, sizes, NULL, 1, 1, 0, &v, E));
    FAILS("value is NULL", taper_value_tensor_quantized(c, TAPER_QU8, 1, sizes, "", 1, 1, 0, NULL, E));
    FAILS("context is NULL", taper_value_quantize(NULL, w.tensor, TAPER_QU8, 1, 0, &v, E));
    FAILS("value is NULL", taper_value_quantize(c, NULL, TAPER_QU8, 1, 0, &v, E));
    FAILS("quantized is NULL", taper_value_quantize(c, w.tensor, TAPER_QU8, 1, 0, NULL, E));
    FAILS("context is NULL", taper_value_list(NULL, NULL, items, 1, &v, E));
    FAILS("items is NULL", taper_value_list(c, NULL, NULL, 1, &v, E));
    FAILS("items[1] is NULL", taper_value_list(c, NULL, items, 2, &v, E));
    FAILS("value is NULL", taper_value_list(c, NULL, items, 1, NULL, E));
    FAILS("context is NULL", taper_value_tuple(NULL, items, 1, &v, E));
    FAILS("items is NULL", taper_value_tuple(c, NULL, 1, &v, E));
    FAILS("items[1] is NULL", taper_value_tuple(c, items, 2, &v, E));
    FAILS("value is NULL", taper_value_tuple(c, items, 1, NULL, E));
    FAILS("context is NULL", taper_value_dict(NULL, NULL, NULL, &w.text, items, 1, &v, E));
    FAILS("keys is NULL", taper_value_dict(c, NULL, NULL, NULL, items, 1, &v, E));
    FAILS("keys[1] is NULL", taper_value_dict(c, NULL, NULL, items, items, 2, &v, E));
    FAILS("values is NULL", taper_value_dict(c, NULL, NULL, &w.text, NULL, 1, &v, E));
    FAILS("value is NULL", taper_value_dict(c, NULL, NULL, &w.text, items, 1, NULL, E));
    close_world(&w);
}

static void values_are_read(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_value *v, *number, *list;
    taper_tensor_info info = {.struct_size = sizeof info};
    int flag;
    int64_t integer;
    double re, im;
    const char *text;
    size_t length;
    FAILS("value is NULL", taper_value_get_tensor(NULL, &info, E));
    FAILS("out is NULL", taper_value_get_tensor(w.tensor, NULL, E));
    FAILS("value is NULL", taper_value_make_writable(NULL, E));
    FAILS("value is NULL", taper_value_to_device(NULL, &on_cpu, &v, E));
    FAILS("device is NULL", taper_value_to_device(w.tensor, NULL, &v, E));
    FAILS("moved is NULL", taper_value_to_device(w.tensor, &on_cpu, NULL, E));
    FAILS("value is NULL", taper_value_get_bool(NULL, &flag, E));
    FAILS("value is NULL", taper_value_get_int(NULL, &integer, E));
    FAILS("value is NULL", taper_value_get_double(NULL, &re, E));
    FAILS("value is NULL", taper_value_get_complex(NULL, &re, &im, E));
    FAILS("value is NULL", taper_value_get_string(NULL, &text, &length, E));
    FAILS("text is NULL", taper_value_get_string(w.text, NULL, &length, E));
    FAILS("length is NULL", taper_value_get_string(w.text, &text, NULL, E));
    assert_int_equal(taper_value_bool(w.context, 1, &number, E), TAPER_OK);
    FAILS("flag is NULL", taper_value_get_bool(number, NULL, E));
    taper_value_release(number);
    assert_int_equal(taper_value_int(w.context, 1, &number, E), TAPER_OK);
    FAILS("number is NULL", taper_value_get_int(number, NULL, E));
    taper_value_release(number);
    assert_int_equal(taper_value_double(w.context, 1, &number, E), TAPER_OK);
    FAILS("number is NULL", taper_value_get_double(number, NULL, E));
    taper_value_release(number);
    assert_int_equal(taper_value_complex(w.context, 1, 2, &number, E), TAPER_OK);
    FAILS("re is NULL", taper_value_get_complex(number, NULL, &im, E));
    FAILS("im is NULL", taper_value_get_complex(number, &re, NULL, E));
    taper_value_release(number);
    assert_int_equal(taper_value_list(w.context, NULL, &w.tensor, 1, &list, E), TAPER_OK);
    FAILS("value is NULL", taper_value_item(NULL, 0, &v, E));
    FAILS("item is NULL", taper_value_item(list, 0, NULL, E));
    FAILS("value is NULL", taper_value_key(NULL, 0, &v, E));
    FAILS("key is NULL", taper_value_key(list, 0, NULL, E));
    assert_non_null(taper_value_identity(list));
    assert_ptr_equal(taper_value_identity(list), taper_value_identity(list));
    assert_ptr_not_equal(taper_value_identity(list), taper_value_identity(w.text));
    assert_null(taper_value_identity(NULL));
    taper_value_release(list);
    char type[8] = "before";
    assert_int_equal(taper_value_type(NULL, type, sizeof type), 0);
    assert_string_equal(type, "");
    assert_int_equal(taper_value_type(w.text, NULL, 0), 3);
    assert_int_equal(taper_value_type(w.text, NULL, 5), 3);
    memcpy(type, "before", 7);
    assert_int_equal(taper_value_type(w.text, type, 3), 3);
    assert_memory_equal(type, "st\0ore", 7);
    assert_int_equal(taper_value_count(NULL), 0);
    assert_null(taper_value_field(NULL, 0));
    assert_int_equal(taper_value_kind(NULL), TAPER_KIND_NONE);
    assert_null(taper_value_retain(NULL));
    taper_value_release(NULL);
    close_world(&w);
}

static int read_nothing(void *user, uint64_t offset, void *buffer, size_t size)
{
    (void)user, (void)offset, (void)buffer, (void)size;
    return 1;
}

static void models_are_loaded(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_context *c = w.context;
    taper_model *m;
    const void *data;
    size_t size;
    FAILS("context is NULL", taper_context_create(NULL, NULL, E));
    assert_string_equal(taper_instruction_set(0, NULL), "scalar");
    assert_null(taper_instruction_set(SIZE_MAX, NULL));
    FAILS("context is NULL", taper_model_load(NULL, w.path, NULL, &m, E));
    FAILS("path is NULL", taper_model_load(c, NULL, NULL, &m, E));
    FAILS("model is NULL", taper_model_load(c, w.path, NULL, NULL, E));
    FAILS("context is NULL", taper_model_load_memory(NULL, "", 1, NULL, NULL, NULL, &m, E));
    FAILS("bytes is NULL", taper_model_load_memory(c, NULL, 1, NULL, NULL, NULL, &m, E));
    FAILS("model is NULL", taper_model_load_memory(c, "", 1, NULL, NULL, NULL, NULL, E));
    FAILS("context is NULL", taper_model_load_fd(NULL, 0, 0, 1, NULL, &m, E));
    FAILS("model is NULL", taper_model_load_fd(c, 0, 0, 1, NULL, NULL, E));
    FAILS("context is NULL", taper_model_load_callback(NULL, read_nothing, NULL, 1, NULL, &m, E));
    FAILS("read is NULL", taper_model_load_callback(c, NULL, NULL, 1, NULL, &m, E));
    FAILS("model is NULL", taper_model_load_callback(c, read_nothing, NULL, 1, NULL, NULL, E));
    FAILS("model is NULL", taper_model_extra(NULL, "a", &data, &size, E));
    FAILS("name is NULL", taper_model_extra(w.model, NULL, &data, &size, E));
    FAILS("data is NULL", taper_model_extra(w.model, "a", NULL, &size, E));
    FAILS("size is NULL", taper_model_extra(w.model, "a", &data, NULL, E));
    assert_int_equal(taper_context_threads(NULL), 0);
    taper_context_set_threads(NULL, 2);
    FAILS("context is NULL", taper_context_set_cache_dir(NULL, NULL, E));
    FAILS("context is NULL", taper_context_devices(NULL, NULL, NULL, E));
    FAILS("each is NULL", taper_context_devices(w.context, NULL, NULL, E));
    assert_int_equal(taper_context_cpu_features(NULL), 0);
    assert_int_equal(taper_model_bytecode_version(NULL), 0);
    assert_int_equal(taper_model_operator_version(NULL), 0);
    assert_string_equal(taper_model_name(NULL), "");
    assert_int_equal(taper_model_is_training(NULL), 0);
    assert_int_equal(taper_model_uses_training(NULL), 0);
    assert_string_equal(taper_model_device(NULL), "cpu");
    assert_int_equal(taper_model_method_count(NULL), 0);
    assert_null(taper_model_method_name(NULL, 0));
    assert_int_equal(taper_model_method_arguments(NULL, "forward"), -1);
    assert_int_equal(taper_model_method_arguments(w.model, NULL), 1); // NULL means forward
    assert_int_equal(taper_model_method_required(NULL, "forward"), -1);
    assert_int_equal(taper_model_method_required(w.model, "absent"), -1);
    assert_int_equal(taper_model_method_required(w.model, NULL), 1);
    assert_null(taper_model_argument_name(NULL, "forward", 0));
    assert_null(taper_model_argument_type(NULL, "forward", 0));
    assert_null(taper_model_return_type(NULL, "forward"));
    assert_null(taper_model_argument_text(NULL, "forward", 0));
    assert_null(taper_model_return_text(NULL, "forward"));
    assert_int_equal(taper_type_kind_of(NULL), TAPER_TYPE_ANY);
    assert_int_equal(taper_type_count(NULL), 0);
    assert_null(taper_type_item(NULL, 0));
    assert_null(taper_type_name(NULL));
    assert_null(taper_type_field(NULL, 0));
    assert_int_equal(taper_type_text(NULL, NULL, 5), 3); // 3 is the length of "Any"
    assert_null(taper_device_kind_name((taper_device_kind)0));
    assert_null(taper_device_option(10000));
    taper_device_choice choice = {.struct_size = sizeof choice};
    taper_device_setting setting;
    taper_precision precision;
    taper_nnapi_conversion conversion = {.struct_size = sizeof conversion};
    FAILS("text is NULL", taper_device_parse(NULL, &choice, E));
    FAILS("choice is NULL", taper_device_parse("cpu", NULL, E));
    FAILS("count is NULL", taper_device_options_parse(NULL, &setting, 1, NULL, E));
    FAILS("settings is NULL", taper_device_options_parse(NULL, NULL, 1, &size, E));
    FAILS("precision is NULL", taper_precision_parse(NULL, NULL, E));
    FAILS("conversion is NULL", taper_nnapi_conversion_parse(NULL, NULL, E));
    assert_int_equal(taper_device_options_parse(NULL, NULL, 0, &size, E), TAPER_OK);
    assert_int_equal(taper_precision_parse(NULL, &precision, E), TAPER_OK);
    assert_int_equal(taper_nnapi_conversion_parse(NULL, &conversion, E), TAPER_OK);
    assert_null(taper_model_exported_by(NULL));
    assert_null(taper_model_exported_by(w.model)); // the model is not an exported program
    assert_int_equal(taper_model_extra_count(NULL), 0);
    assert_null(taper_model_extra_name(NULL, 0));
    assert_int_equal(taper_model_operator_count(NULL), 0);
    assert_null(taper_model_operator_name(NULL, 0));
    assert_int_equal(taper_model_operator_calls(NULL, 0), 0);
    assert_int_equal(taper_model_operator_missing(NULL, 0), 0);
    taper_model_release(NULL);
    taper_context_release(NULL);
    taper_error_destroy(NULL);
    assert_int_equal(taper_error_status(NULL), TAPER_OK);
    assert_string_equal(taper_error_message(NULL), "");
    assert_string_equal(taper_error_detail(NULL), "");
    assert_int_equal(taper_error_offset(NULL), -1);
    assert_non_null(taper_version());
    assert_int_equal(taper_dtype_size((taper_dtype)99), 0);
    assert_non_null(taper_dtype_name((taper_dtype)99));
    close_world(&w);
}

static void sessions_run(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_session *s;
    taper_value *v, *inputs[] = {NULL};
    FAILS("model is NULL", taper_session_create(NULL, NULL, &s, E));
    FAILS("session is NULL", taper_session_create(w.model, NULL, NULL, E));
    FAILS("session is NULL", taper_session_run(NULL, NULL, &w.tensor, 1, &v, E));
    FAILS("inputs is NULL", taper_session_run(w.session, NULL, NULL, 1, &v, E));
    FAILS("inputs[0] is NULL", taper_session_run(w.session, NULL, inputs, 1, &v, E));
    FAILS("result is NULL", taper_session_run(w.session, NULL, &w.tensor, 1, NULL, E));
    FAILS("session is NULL", taper_session_advise(NULL, NULL, &w.tensor, 1, E));
    FAILS("session is NULL", taper_session_run_into(NULL, NULL, &w.tensor, 1, NULL, 0, E));
    FAILS("inputs is NULL", taper_session_run_into(w.session, NULL, NULL, 1, NULL, 0, E));
    FAILS("inputs[0] is NULL", taper_session_run_into(w.session, NULL, inputs, 1, NULL, 0, E));
    FAILS("outputs is NULL", taper_session_run_into(w.session, NULL, &w.tensor, 1, NULL, 1, E));
    FAILS("session is NULL", taper_session_attribute(NULL, "a", &v, E));
    FAILS("path is NULL", taper_session_attribute(w.session, NULL, &v, E));
    FAILS("value is NULL", taper_session_attribute(w.session, "a", NULL, E));
    taper_session_cancel(NULL);
    taper_session_trim(NULL);
    taper_session_seed(NULL, 1);
    taper_memory_info info = {.struct_size = sizeof info, .pool_bytes = 7};
    taper_session_memory(NULL, &info);
    assert_int_equal(info.pool_bytes, 0);
    taper_session_memory(w.session, NULL);
    taper_session_destroy(NULL);
    close_world(&w);
}

static int save_nothing(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return 0;
}

static void write_nothing(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

static void drafts_are_made(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_context *c = w.context;
    taper_draft *d;
    taper_model *m;
    void *bytes;
    size_t size;
    FAILS("context is NULL", taper_draft_load(NULL, w.path, compiled(), &d, E));
    FAILS("path is NULL", taper_draft_load(c, NULL, compiled(), &d, E));
    FAILS("draft is NULL", taper_draft_load(c, w.path, compiled(), NULL, E));
    FAILS("context is NULL", taper_draft_load_memory(NULL, "", 1, compiled(), &d, E));
    FAILS("bytes is NULL", taper_draft_load_memory(c, NULL, 1, compiled(), &d, E));
    FAILS("draft is NULL", taper_draft_load_memory(c, "", 1, compiled(), NULL, E));
    assert_int_equal(taper_draft_load(c, w.path, compiled(), &d, E), TAPER_OK);
    FAILS("draft is NULL", taper_draft_optimize(NULL, NULL, E));
    FAILS("preserve is NULL",
          taper_draft_optimize(
              d, &(taper_optimize_options){.struct_size = sizeof(taper_optimize_options), .preserve_count = 1}, E));
    FAILS("draft is NULL", taper_draft_unbundle(NULL, E));
    FAILS("draft is NULL", taper_draft_bundle(NULL, NULL, &w.tensor, 1, E));
    FAILS("inputs is NULL", taper_draft_bundle(d, NULL, NULL, 1, E));
    FAILS("draft is NULL", taper_draft_save(NULL, NULL, save_nothing, NULL, E));
    FAILS("write is NULL", taper_draft_save(d, NULL, NULL, NULL, E));
    FAILS("extra_data is NULL",
          taper_draft_save(
              d, &(taper_save_options){.struct_size = sizeof(taper_save_options), .extra_name = "a", .extra_size = 1},
              save_nothing, NULL, E));
    FAILS("draft is NULL", taper_draft_save_memory(NULL, NULL, &bytes, &size, E));
    FAILS("bytes is NULL", taper_draft_save_memory(d, NULL, NULL, &size, E));
    FAILS("size is NULL", taper_draft_save_memory(d, NULL, &bytes, NULL, E));
    FAILS("count is NULL", taper_draft_operators(d, NULL, E));
    FAILS("draft is NULL", taper_draft_operators(NULL, &size, E));
    FAILS("draft is NULL", taper_draft_print(NULL, NULL, save_nothing, NULL, E));
    FAILS("write is NULL", taper_draft_print(d, NULL, NULL, NULL, E));
    assert_int_equal(taper_draft_node_count(NULL), 0);
    assert_null(taper_draft_operator_name(NULL, 0));
    assert_int_equal(taper_draft_operator_calls(NULL, 0), 0);
    assert_null(taper_draft_model(NULL));
    taper_saved_free(NULL, NULL, 0);
    taper_draft_release(NULL);
    FAILS("draft is NULL", taper_draft_finish(NULL, &m, E));
    FAILS("model is NULL", taper_draft_finish(d, NULL, E)); // d is consumed although the call fails
    assert_non_null(taper_compiler());
    assert_null(taper_compiler_pass_name(taper_compiler_pass_count()));
    assert_null(taper_compiler_pass_summary(SIZE_MAX));
    assert_int_equal(taper_compiler_pass_stages(SIZE_MAX), 0);
    assert_int_equal(taper_compiler_has_pass(NULL, 3), 0);
    close_world(&w);
}

static void models_are_calibrated(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_context *c = w.context;
    taper_calibrator *q;
    taper_draft *d;
    taper_quantized_layer layer = {.struct_size = sizeof layer};
    double scale;
    int64_t point;
    FAILS("context is NULL", taper_calibrator_load(NULL, w.path, compiled(), NULL, &q, E));
    FAILS("path is NULL", taper_calibrator_load(c, NULL, compiled(), NULL, &q, E));
    FAILS("calibrator is NULL", taper_calibrator_load(c, w.path, compiled(), NULL, NULL, E));
    FAILS("context is NULL", taper_calibrator_load_memory(NULL, "", 1, compiled(), NULL, &q, E));
    FAILS("bytes is NULL", taper_calibrator_load_memory(c, NULL, 1, compiled(), NULL, &q, E));
    FAILS("calibrator is NULL", taper_calibrator_load_memory(c, "", 1, compiled(), NULL, NULL, E));
    FAILS("keep_float is NULL",
          taper_calibrator_load(
              c, w.path, compiled(),
              &(taper_quantize_options){.struct_size = sizeof(taper_quantize_options), .keep_float_count = 1}, &q, E));
    assert_int_equal(taper_calibrator_load(c, w.path, compiled(), NULL, &q, E), TAPER_OK);
    FAILS("calibrator is NULL", taper_calibrator_run(NULL, &w.tensor, 1, E));
    FAILS("inputs is NULL", taper_calibrator_run(q, NULL, 1, E));
    assert_int_equal(taper_calibrator_run(q, &w.tensor, 1, E), TAPER_OK);
    FAILS("calibrator is NULL", taper_calibrator_finish(NULL, &d, E));
    FAILS("draft is NULL", taper_calibrator_finish(q, NULL, E));
    FAILS("calibrator is NULL", taper_calibrator_compare(NULL, &w.tensor, 1, E));
    FAILS("inputs is NULL", taper_calibrator_compare(q, NULL, 1, E));
    FAILS("calibrator is NULL", taper_calibrator_layer(NULL, 0, &layer, E));
    FAILS("layer is NULL", taper_calibrator_layer(q, 0, NULL, E));
    assert_int_equal(taper_calibrator_layer_count(NULL), 0);
    assert_null(taper_calibrator_model(NULL));
    assert_true(taper_calibrator_sqnr(NULL) != taper_calibrator_sqnr(NULL)); // NaN: nothing was compared
    assert_int_equal(taper_calibrator_input(NULL, 0, &scale, &point), 0);
    (void)taper_calibrator_input(q, 0, NULL, NULL);
    taper_calibrator_release(q);
    taper_calibrator_release(NULL);
    close_world(&w);
}

static void models_are_inspected(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_plan_item plan = {.struct_size = sizeof plan};
    taper_profile_item profile = {.struct_size = sizeof profile};
    taper_value *value;
    FAILS("model is NULL", taper_inspect_graph(NULL, NULL, write_nothing, NULL, E));
    FAILS("write is NULL", taper_inspect_graph(w.model, NULL, NULL, NULL, E));
    FAILS("model is NULL", taper_inspect_config(NULL, write_nothing, NULL, E));
    FAILS("write is NULL", taper_inspect_config(w.model, NULL, NULL, E));
    FAILS("model is NULL", taper_inspect_default(NULL, NULL, 0, &value, E));
    FAILS("value is NULL", taper_inspect_default(w.model, NULL, 0, NULL, E));
    FAILS("model is NULL", taper_inspect_place(NULL, NULL, TAPER_PLACE_MODULE, write_nothing, NULL, E));
    FAILS("node is NULL", taper_inspect_place(w.model, NULL, TAPER_PLACE_MODULE, write_nothing, NULL, E));
    FAILS("session is NULL", taper_inspect_plan_item(NULL, 0, &plan, E));
    FAILS("session is NULL", taper_inspect_device_plan(NULL, NULL, NULL, E));
    FAILS("each is NULL", taper_inspect_device_plan(w.session, NULL, NULL, E));
    FAILS("item is NULL", taper_inspect_plan_item(w.session, 0, NULL, E));
    FAILS("session is NULL", taper_profile_set(NULL, 1, E));
    FAILS("session is NULL", taper_profile_get(NULL, 0, &profile, E));
    FAILS("item is NULL", taper_profile_get(w.session, 0, NULL, E));
    assert_int_equal(taper_inspect_plan_count(NULL), 0);
    assert_int_equal(taper_profile_count(NULL), 0);
    taper_session_observe(NULL, NULL, NULL);
    close_world(&w);
}

static taper_status no_function(void *user, taper_context *context, taper_value *const *args, size_t count,
                                taper_value **results, size_t result_count, taper_error *error)
{
    (void)user, (void)context, (void)args, (void)count, (void)results, (void)result_count;
    return taper_error_set(error, TAPER_ERROR_INTERNAL, "it is not called");
}

static void operators_are_called(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_operator *op;
    taper_value *result, *items[] = {w.tensor, NULL};
    FAILS("context is NULL", taper_operator_find(NULL, "aten::relu", &op, E));
    FAILS("name is NULL", taper_operator_find(w.context, NULL, &op, E));
    FAILS("op is NULL", taper_operator_find(w.context, "aten::relu", NULL, E));
    assert_int_equal(taper_operator_find(w.context, "aten::relu", &op, E), TAPER_OK);
    FAILS("op is NULL", taper_operator_call(NULL, items, 1, &result, 1, E));
    FAILS("args is NULL", taper_operator_call(op, NULL, 1, &result, 1, E));
    FAILS("2 arguments were given", taper_operator_call(op, items, 2, &result, 1, E)); // a NULL argument means None
    FAILS("results is NULL", taper_operator_call(op, items, 1, NULL, 1, E));
    FAILS("schema is NULL", taper_operator_register(NULL, no_function, NULL, E));
    FAILS("function is NULL", taper_operator_register("my::op() -> ()", NULL, NULL, E));
    FAILS("", taper_error_set(E, TAPER_ERROR_ARGUMENT, NULL));
    assert_int_equal(taper_error_set(NULL, TAPER_ERROR_ARGUMENT, "words"), TAPER_ERROR_ARGUMENT);
    assert_string_equal(taper_operator_schema(NULL), "");
    assert_int_equal(taper_operator_result_count(NULL) + taper_value_use_count(NULL), 0);
    taper_context_run_tasks(NULL, NULL, NULL, 0);
    taper_operator_seed(NULL, 0);
    const int64_t numbers[] = {1, 2};
    FAILS("context is NULL", taper_value_list_int(NULL, numbers, 2, &result, E));
    FAILS("numbers is NULL", taper_value_list_int(w.context, NULL, 2, &result, E));
    FAILS("value is NULL", taper_value_list_int(w.context, numbers, 2, NULL, E));
    taper_generator *generator;
    FAILS("context is NULL", taper_generator_create(NULL, 1, &generator, E));
    FAILS("generator is NULL", taper_generator_create(w.context, 1, NULL, E));
    taper_generator_seed(NULL, 1);
    taper_generator_release(NULL);
    taper_operator_draw_from(NULL, NULL), taper_operator_draw_from(op, NULL);
    taper_session_draw_from(NULL, NULL);
    taper_operator_release(op);
    taper_operator_release(NULL);
    close_world(&w);
}

// ---- structs of other versions

// Structs with a struct_size that belongs to no version must be refused. The library must not write to such structs.
#define WRONG_SIZES(type, call)                                                                                        \
    do {                                                                                                               \
        type given;                                                                                                    \
        static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 65537, SIZE_MAX};                                     \
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {                                                    \
            memset(&given, 0, sizeof given);                                                                           \
            given.struct_size = sizes[i];                                                                              \
            FAILS(sizes[i] == 0 ? #type ".struct_size is not set" : "no version of the struct has that size", call);   \
        }                                                                                                              \
    } while (0)

static void memory_is_kept(void **state)
{
    (void)state;
    world w;
    taper_caching_info info = {.struct_size = sizeof info, .used_bytes = 1};
    open_world(&w);
    FAILS("caching is NULL", taper_caching_allocator_create(NULL, 0, NULL, E));
    assert_null(taper_caching_allocator_get(NULL));
    taper_caching_allocator_trim(NULL);
    taper_caching_allocator_release(NULL);
    taper_caching_allocator_info(NULL, &info);
    assert_int_equal(info.used_bytes, 0);
    taper_caching_allocator_info(NULL, NULL);
    taper_context_trim(NULL);
    close_world(&w);
}

static void apps_ask(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_context *c = w.context;
    taper_model *m;
    taper_settings *s, *none;
    taper_value *v, *key, *dict, *inputs[1];
    size_t count;
    unsigned char rgb[3];
    taper_ranked best[1];
    taper_preparation how = {.struct_size = sizeof how};
    static const unsigned char pixel[3];
    const taper_picture picture = {.struct_size = sizeof picture, .width = 1, .height = 1, .planes = {pixel}};
    FAILS("context is NULL", taper_model_open(NULL, w.path, NULL, &m, E));
    FAILS("path is NULL", taper_model_open(c, NULL, NULL, &m, E));
    FAILS("model is NULL", taper_model_open(c, w.path, NULL, NULL, E));
    assert_null(taper_bundled_method(NULL, 0));
    assert_null(taper_bundled_method(w.model, 0));
    FAILS("session is NULL", taper_bundled_count(NULL, NULL, &count, E));
    FAILS("count is NULL", taper_bundled_count(w.session, NULL, NULL, E));
    FAILS("session is NULL", taper_bundled_inputs(NULL, NULL, 0, inputs, 1, &count, E));
    FAILS("inputs is NULL", taper_bundled_inputs(w.session, NULL, 0, NULL, 1, &count, E));
    FAILS("count is NULL", taper_bundled_inputs(w.session, NULL, 0, inputs, 1, NULL, E));
    FAILS("has 0 bundled inputs", taper_bundled_inputs(w.session, NULL, 0, NULL, 0, &count, E));
    assert_int_equal(taper_value_int(c, 3, &key, E), TAPER_OK);
    assert_int_equal(taper_value_dict(c, NULL, NULL, &key, &w.text, 1, &dict, E), TAPER_OK);
    FAILS("dict is NULL", taper_value_find(NULL, "a", &v, E));
    FAILS("key is NULL", taper_value_find(dict, NULL, &v, E));
    FAILS("item is NULL", taper_value_find(dict, "a", NULL, E));
    FAILS("dict is NULL", taper_value_find_int(NULL, 3, &v, E));
    FAILS("item is NULL", taper_value_find_int(dict, 3, NULL, E));
    taper_value_release(dict);
    taper_value_release(key);
    FAILS("context is NULL", taper_value_contiguous(NULL, w.tensor, &v, E));
    FAILS("value is NULL", taper_value_contiguous(c, NULL, &v, E));
    FAILS("not a Tensor", taper_value_contiguous(c, w.text, &v, E));
    FAILS("copy is NULL", taper_value_contiguous(c, w.tensor, NULL, E));
    FAILS("context is NULL", taper_value_floats(NULL, w.tensor, &v, E));
    FAILS("value is NULL", taper_value_floats(c, NULL, &v, E));
    FAILS("not a Tensor", taper_value_floats(c, w.text, &v, E));
    FAILS("copy is NULL", taper_value_floats(c, w.tensor, NULL, E));
    FAILS("model is NULL", taper_settings_read(NULL, NULL, &s, E));
    FAILS("settings is NULL", taper_settings_read(w.model, NULL, NULL, E));
    FAILS("context is NULL", taper_settings_parse(NULL, NULL, "{}", 2, &s, E));
    FAILS("text is NULL", taper_settings_parse(c, NULL, NULL, 2, &s, E));
    FAILS("settings is NULL", taper_settings_parse(c, NULL, "{}", 2, NULL, E));
    assert_int_equal(taper_settings_parse(c, NULL, NULL, 0, &none, NULL), TAPER_ERROR_FILE);
    assert_int_equal(taper_settings_read(w.model, NULL, &s, E), TAPER_OK);
    assert_string_equal(taper_settings_task(NULL), "");
    assert_int_equal(taper_settings_label_count(NULL), 0);
    assert_null(taper_settings_label(NULL, 0));
    assert_int_equal(taper_settings_color(NULL, 0, rgb), 0);
    assert_int_equal(taper_settings_color(s, 0, NULL), 0);
    FAILS("context is NULL", taper_settings_quantize(NULL, s, 0, w.tensor, &v, E));
    FAILS("settings is NULL", taper_settings_quantize(c, NULL, 0, w.tensor, &v, E));
    FAILS("value is NULL", taper_settings_quantize(c, s, 0, NULL, &v, E));
    FAILS("quantized is NULL", taper_settings_quantize(c, s, 0, w.tensor, NULL, E));
    FAILS("preparation is NULL", taper_settings_preparation(s, NULL, NULL, E));
    assert_int_equal(taper_settings_preparation(NULL, NULL, &how, E), TAPER_OK);
    taper_settings_release(s);
    taper_settings_release(NULL);
    FAILS("context is NULL", taper_picture_tensor(NULL, &picture, &how, &v, E));
    FAILS("picture is NULL", taper_picture_tensor(c, NULL, &how, &v, E));
    FAILS("tensor is NULL", taper_picture_tensor(c, &picture, &how, NULL, E));
    FAILS("result is NULL", taper_scores_find(NULL, &v, E));
    FAILS("scores is NULL", taper_scores_find(w.tensor, NULL, E));
    FAILS("context is NULL", taper_scores_softmax(NULL, w.tensor, &v, E));
    FAILS("scores is NULL", taper_scores_softmax(c, NULL, &v, E));
    FAILS("not a Tensor", taper_scores_softmax(c, w.text, &v, E));
    FAILS("probabilities is NULL", taper_scores_softmax(c, w.tensor, NULL, E));
    FAILS("context is NULL", taper_scores_top(NULL, w.tensor, best, 1, &count, E));
    FAILS("scores is NULL", taper_scores_top(c, NULL, best, 1, &count, E));
    FAILS("ranked is NULL", taper_scores_top(c, w.tensor, NULL, 1, &count, E));
    FAILS("count is NULL", taper_scores_top(c, w.tensor, best, 1, NULL, E));
    FAILS("not a Tensor", taper_scores_top(c, w.text, best, 1, &count, E));
    FAILS("context is NULL", taper_scores_mask(NULL, w.tensor, 1, 1, &v, NULL, E));
    FAILS("scores is NULL", taper_scores_mask(c, NULL, 1, 1, &v, NULL, E));
    FAILS("not a Tensor", taper_scores_mask(c, w.text, 1, 1, &v, NULL, E));
    FAILS("mask is NULL", taper_scores_mask(c, w.tensor, 1, 1, NULL, NULL, E));
    close_world(&w);
}

static void sizes_of_structs(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_context *c;
    taper_model *m;
    taper_session *s;
    taper_draft *d;
    taper_calibrator *q;
    WRONG_SIZES(taper_context_options, taper_context_create(&given, &c, E));
    WRONG_SIZES(taper_load_options, taper_model_load(w.context, w.path, &given, &m, E));
    WRONG_SIZES(taper_device_choice, taper_device_parse("cpu", &given, E));
    WRONG_SIZES(taper_nnapi_conversion, taper_nnapi_conversion_parse(NULL, &given, E));
    WRONG_SIZES(taper_session_options, taper_session_create(w.model, &given, &s, E));
    WRONG_SIZES(taper_tensor_info, taper_value_get_tensor(w.tensor, &given, E));
    assert_int_equal(taper_draft_load(w.context, w.path, compiled(), &d, E), TAPER_OK);
    WRONG_SIZES(taper_optimize_options, taper_draft_optimize(d, &given, E));
    WRONG_SIZES(taper_save_options, taper_draft_save(d, &given, save_nothing, NULL, E));
    taper_draft_release(d);
    WRONG_SIZES(taper_quantize_options, taper_calibrator_load(w.context, w.path, compiled(), &given, &q, E));
    assert_int_equal(taper_calibrator_load(w.context, w.path, compiled(), NULL, &q, E), TAPER_OK);
    assert_int_equal(taper_calibrator_run(q, &w.tensor, 1, E), TAPER_OK);
    assert_int_not_equal(taper_calibrator_layer_count(q), 0);
    WRONG_SIZES(taper_quantized_layer, taper_calibrator_layer(q, 0, &given, E));
    taper_calibrator_release(q);
    assert_int_equal(taper_profile_set(w.session, 1, E), TAPER_OK);
    taper_value *result;
    assert_int_equal(taper_session_run(w.session, NULL, &w.tensor, 1, &result, E), TAPER_OK);
    taper_value_release(result);
    assert_int_not_equal(taper_inspect_plan_count(w.session), 0);
    WRONG_SIZES(taper_plan_item, taper_inspect_plan_item(w.session, 0, &given, E));
    assert_int_not_equal(taper_profile_count(w.session), 0);
    WRONG_SIZES(taper_profile_item, taper_profile_get(w.session, 0, &given, E));
    taper_memory_info memory = {.pool_bytes = 7};
    taper_session_memory(w.session, &memory); // this function returns no status; it must not write anything
    assert_int_equal(memory.pool_bytes, 7);
    close_world(&w);
}

// The caller's struct may be shorter or longer than the library's. Only members that both structs have may change.
static void other_versions(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_tensor_info older;
    memset(&older, 0x55, sizeof older);
    older.struct_size = offsetof(taper_tensor_info, sizes);
    assert_int_equal(taper_value_get_tensor(w.tensor, &older, E), TAPER_OK);
    assert_int_equal(older.rank, 4);
    assert_int_equal(older.struct_size, offsetof(taper_tensor_info, sizes));
    assert_int_equal((uintptr_t)older.sizes, (uintptr_t)UINT64_C(0x5555555555555555));
    struct {
        taper_tensor_info info;
        uint64_t more;
    } newer;
    memset(&newer, 0x55, sizeof newer);
    newer.info.struct_size = sizeof newer;
    assert_int_equal(taper_value_get_tensor(w.tensor, &newer.info, E), TAPER_OK);
    assert_int_equal(newer.info.sizes[1], 3);
    assert_int_equal(newer.info.strides[1], 144);
    taper_tensor_info again = {.struct_size = sizeof again}; // the call sets pointers to the tensor's own arrays
    assert_int_equal(taper_value_get_tensor(w.tensor, &again, E), TAPER_OK);
    assert_ptr_equal(again.sizes, newer.info.sizes);
    assert_ptr_equal(again.strides, newer.info.strides);
    assert_int_equal(newer.more, 0x5555555555555555);
    assert_int_equal(newer.info.struct_size, sizeof newer);

    // Members that an older caller's struct lacks count as 0, whatever bytes follow the struct in memory.
    taper_session_options options;
    memset(&options, 0x55, sizeof options);
    options.struct_size = offsetof(taper_session_options, time_budget);
    options.instruction_budget = 0;
    taper_session *session;
    taper_value *result;
    assert_int_equal(taper_session_create(w.model, &options, &session, E), TAPER_OK);
    assert_int_equal(taper_session_run(session, NULL, &w.tensor, 1, &result, E), TAPER_OK);
    taper_value_release(result);
    taper_session_destroy(session);
    struct {
        taper_session_options options;
        uint64_t more;
    } later = {{.struct_size = sizeof later}, 5};
    assert_int_equal(taper_session_create(w.model, &later.options, &session, E), TAPER_OK);
    taper_session_destroy(session);
    close_world(&w);
}

// ---- pointers to results, quantizers, names

static void places(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_value *const tensor = w.tensor, *const text = w.text;
    FAILS("which would be lost", taper_session_run(w.session, NULL, &w.tensor, 1, &w.tensor, E));
    FAILS("which would be lost", taper_value_list(w.context, NULL, &w.tensor, 1, &w.tensor, E));
    FAILS("which would be lost", taper_value_tuple(w.context, &w.tensor, 1, &w.tensor, E));
    FAILS("which would be lost", taper_value_dict(w.context, NULL, NULL, &w.text, &w.tensor, 1, &w.text, E));
    FAILS("which would be lost", taper_value_dict(w.context, NULL, NULL, &w.text, &w.tensor, 1, &w.tensor, E));
    assert_ptr_equal(w.tensor, tensor);
    assert_ptr_equal(w.text, text);
    close_world(&w);
}

static void quantizers(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    static const struct {
        taper_dtype dtype;
        double scale;
        int64_t point;
        bool good;
    } rows[] = {
        {TAPER_QU8, 0.5, 255, true},   {TAPER_QI8, 0.5, -128, true},       {TAPER_QI32, 1e-9, INT32_MIN, true},
        {TAPER_QU8, 0.5, 256, false},  {TAPER_QU8, 0.5, -1, false},        {TAPER_QI8, 0.5, 128, false},
        {TAPER_QI8, 0.5, -129, false}, {TAPER_QI32, 1, INT64_MAX, false},  {TAPER_QU8, 0, 0, false},
        {TAPER_QU8, -1, 0, false},     {TAPER_QU8, (double)NAN, 0, false}, {TAPER_QU8, (double)INFINITY, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t size = 1;
        const int32_t data = 0;
        taper_value *value;
        const taper_status made =
            taper_value_tensor_quantized(w.context, rows[i].dtype, 1, &size, &data, taper_dtype_size(rows[i].dtype),
                                         rows[i].scale, rows[i].point, &value, E);
        if (made != (rows[i].good ? TAPER_OK : TAPER_ERROR_ARGUMENT) || (made == TAPER_OK) != (value != NULL)) {
            fail_msg("row %zu: status %d, %s", i, (int)made, taper_error_message(E));
        }
        taper_value_release(value);
    }
    close_world(&w);
}

static void names_of_extras(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    taper_draft *d;
    assert_int_equal(taper_draft_load(w.context, w.path, compiled(), &d, E), TAPER_OK);
    static const char *const away[] = {"../x", "a/../../x", "/x", "..", "a\\..\\x", "C:x", "\\x"};
    static const char *const here[] = {"x", "a/x", "a..b", "..x", "a/.x"};
    for (size_t i = 0; i < sizeof away / sizeof *away + sizeof here / sizeof *here; i++) {
        const bool leads = i < sizeof away / sizeof *away;
        const taper_save_options options = {.struct_size = sizeof options,
                                            .extra_name = leads ? away[i] : here[i - sizeof away / sizeof *away],
                                            .extra_data = "data",
                                            .extra_size = 4};
        const taper_status status = taper_draft_save(d, &options, save_nothing, NULL, E);
        if (status != (leads ? TAPER_ERROR_ARGUMENT : TAPER_OK)) {
            fail_msg("%s: status %d, %s", options.extra_name, (int)status, taper_error_message(E));
        }
    }
    taper_draft_release(d);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_made),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(models_are_loaded),
        cmocka_unit_test(sessions_run),
        cmocka_unit_test(drafts_are_made),
        cmocka_unit_test(models_are_calibrated),
        cmocka_unit_test(models_are_inspected),
        cmocka_unit_test(operators_are_called),
        cmocka_unit_test(memory_is_kept),
        cmocka_unit_test(apps_ask),
        cmocka_unit_test(sizes_of_structs),
        cmocka_unit_test(other_versions),
        cmocka_unit_test(places),
        cmocka_unit_test(quantizers),
        cmocka_unit_test(names_of_extras),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
