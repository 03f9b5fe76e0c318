// SPDX-License-Identifier: BSD-2-Clause
// Tests that errors of callers are reported with names. Also tests ways to load models, extra files, attributes,
// metadata, and the log.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <taper/taper_inspect.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

typedef struct world {
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_error *error;
} world;

static void open_world(world *w, const char *file)
{
    w->context = test_context(NULL, 1);
    w->error = taper_error_create();
    if (test_load(w->context, file, true, &w->model, w->error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(w->error));
    }
    assert_int_equal(taper_session_create(w->model, NULL, &w->session, w->error), TAPER_OK);
}

static void close_world(world *w)
{
    taper_session_destroy(w->session);
    taper_model_release(w->model);
    taper_context_release(w->context);
    taper_error_destroy(w->error);
}

// Expects the run to fail with the status and a message that contains both texts.
static void fails(world *w, taper_value **inputs, size_t count, taper_status status, const char *first,
                  const char *second)
{
    taper_value *result;
    const taper_status got = taper_session_run(w->session, NULL, inputs, count, &result, w->error);
    assert_null(result);
    if (got != status || strstr(taper_error_message(w->error), first) == NULL ||
        strstr(taper_error_message(w->error), second) == NULL) {
        fail_msg("status %d, %s; wanted %d, %s and %s", (int)got, taper_error_message(w->error), (int)status, first,
                 second);
    }
    assert_int_equal(taper_error_status(w->error), status);
}

static taper_value *tensor(world *w, size_t rank, const int64_t *sizes)
{
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_tensor(w->context, TAPER_F32, rank, sizes, &value, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    memset(info.data, 0, info.bytes);
    return value;
}

static void wrong_inputs(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s03_control_flow.ptl"); // forward(x: Tensor, n: int, flag: bool = True)
    taper_value *x = tensor(&w, 2, (int64_t[]){2, 3}), *n, *text;
    assert_int_equal(taper_value_int(w.context, 4, &n, NULL), TAPER_OK);
    assert_int_equal(taper_value_string(w.context, "four", 4, &text, NULL), TAPER_OK);
    fails(&w, NULL, 0, TAPER_ERROR_ARGUMENT, "takes 2 to 3 inputs", "got 0");
    fails(&w, (taper_value *[]){x}, 1, TAPER_ERROR_ARGUMENT, "n: int", "got 1");
    fails(&w, (taper_value *[]){x, n, n, n}, 4, TAPER_ERROR_ARGUMENT, "flag: bool", "got 4");
    fails(&w, (taper_value *[]){n, n}, 2, TAPER_ERROR_ARGUMENT, "'x'", "Tensor");
    fails(&w, (taper_value *[]){x, text}, 2, TAPER_ERROR_ARGUMENT, "'n'", "should be int, got str");
    fails(&w, (taper_value *[]){x, n, n}, 3, TAPER_ERROR_ARGUMENT, "'flag'", "bool");
    fails(&w, (taper_value *[]){x, NULL}, 2, TAPER_ERROR_ARGUMENT, "inputs[1]", "NULL");
    taper_value *result;
    assert_int_equal(taper_session_run(w.session, "backward", &x, 1, &result, w.error), TAPER_ERROR_ARGUMENT);
    assert_non_null(strstr(taper_error_message(w.error), "no method backward"));
    assert_non_null(strstr(taper_error_detail(w.error), "forward"));
    assert_int_equal(taper_session_run(w.session, NULL, (taper_value *[]){x, n}, 2, &result, w.error),
                     TAPER_OK); // flag is omitted and has its default
    assert_int_equal(taper_value_count(result), 2);
    taper_value_release(result);
    taper_value_release(x);
    taper_value_release(n);
    taper_value_release(text);
    close_world(&w);
}

// An omitted argument before a keyword argument is passed as a special value by bindings.
static void defaults(void **state)
{
    (void)state;
    world w;
    taper_value *value;
    int flag = 0;
    open_world(&w, "s03_control_flow.ptl"); // forward(x: Tensor, n: int, flag: bool = True)
    assert_int_equal(taper_inspect_default(w.model, NULL, 2, &value, w.error), TAPER_OK);
    assert_int_equal(taper_value_get_bool(value, &flag, w.error), TAPER_OK);
    assert_true(flag);
    taper_value_release(value);
    static const size_t none[] = {0, 1, 3, SIZE_MAX};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(taper_inspect_default(w.model, "forward", none[i], &value, w.error), TAPER_ERROR_ARGUMENT);
        assert_non_null(strstr(taper_error_message(w.error), "forward has no default"));
        assert_null(value);
    }
    assert_int_equal(taper_inspect_default(w.model, "backward", 0, &value, w.error), TAPER_ERROR_ARGUMENT);
    close_world(&w);
}

// PyTorch's prepacked operators read out of bounds with these inputs.
static void wrong_channels(void **state)
{
    (void)state;
    static const char *const files[] = {"s01_convnet.ptl", "s02_traced.ptl", "s11_xnnpack.ptl", "s13_vulkan.ptl",
                                        "s14_metal.ptl",   "classifier.ptl", "segmenter.ptl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        world w;
        open_world(&w, files[i]);
        taper_value *four = tensor(&w, 4, (int64_t[]){1, 4, 32, 32}), *two = tensor(&w, 4, (int64_t[]){1, 2, 32, 32});
        taper_value *flat = tensor(&w, 2, (int64_t[]){32, 32}), *none = tensor(&w, 4, (int64_t[]){1, 0, 32, 32});
        taper_value *tiny = tensor(&w, 1, (int64_t[]){1});
        fails(&w, &four, 1, TAPER_ERROR_ARGUMENT, "conv", "3");
        fails(&w, &two, 1, TAPER_ERROR_ARGUMENT, "conv", "3");
        fails(&w, &flat, 1, TAPER_ERROR_ARGUMENT, "conv", "");
        fails(&w, &none, 1, TAPER_ERROR_ARGUMENT, "conv", "");
        fails(&w, &tiny, 1, TAPER_ERROR_ARGUMENT, "conv", "");
        taper_value_release(four);
        taper_value_release(two);
        taper_value_release(flat);
        taper_value_release(none);
        taper_value_release(tiny);
        close_world(&w);
    }
}

static void wrong_values(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s01_convnet.ptl");
    taper_value *value;
    float data[6];
    int64_t many[TAPER_MAX_RANK + 1];
    for (size_t d = 0; d <= TAPER_MAX_RANK; d++) {
        many[d] = d % 4 == 0 ? 2 : 1;
    }
    taper_tensor_info info = {.struct_size = sizeof info};
    value = tensor(&w, TAPER_MAX_RANK, many);
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    assert_int_equal(info.rank, TAPER_MAX_RANK);
    assert_memory_equal(info.sizes, many, TAPER_MAX_RANK * sizeof *many);
    assert_int_equal(info.strides[0], 8);
    taper_value_release(value);
    assert_int_equal(taper_value_tensor(w.context, TAPER_F32, TAPER_MAX_RANK + 1, many, &value, w.error),
                     TAPER_ERROR_UNSUPPORTED);
    assert_null(value);
    assert_int_equal(taper_value_tensor(w.context, TAPER_F32, 1, (int64_t[]){-1}, &value, w.error),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_tensor(w.context, (taper_dtype)99, 1, (int64_t[]){1}, &value, w.error),
                     TAPER_ERROR_ARGUMENT);
    assert_true(taper_value_tensor(w.context, TAPER_F64, 4, (int64_t[]){1 << 30, 1 << 30, 1 << 30, 1 << 30}, &value,
                                   w.error) != TAPER_OK);
    // Views that exceed the caller's memory must be refused.
    assert_int_equal(taper_value_tensor_from(w.context, TAPER_F32, 2, (int64_t[]){2, 4}, NULL, data, sizeof data, 0,
                                             NULL, NULL, &value, w.error),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_tensor_from(w.context, TAPER_F32, 1, (int64_t[]){3}, (int64_t[]){3}, data, sizeof data,
                                             0, NULL, NULL, &value, w.error),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_tensor_from(w.context, TAPER_F32, 1, (int64_t[]){2}, (int64_t[]){-1}, data,
                                             sizeof data, 0, NULL, NULL, &value, w.error),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_tensor_from(w.context, TAPER_F32, 1, (int64_t[]){2}, (int64_t[]){INT64_MAX}, data,
                                             sizeof data, 0, NULL, NULL, &value, w.error),
                     TAPER_ERROR_ARGUMENT);
    taper_value *number;
    int flag;
    assert_int_equal(taper_value_double(w.context, 1.5, &number, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_bool(number, &flag, w.error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_item(number, 0, &value, w.error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_list(w.context, "int", &number, 1, &value, w.error), TAPER_ERROR_ARGUMENT);
    assert_true(taper_value_list(w.context, "int[", NULL, 0, &value, w.error) != TAPER_OK);
    taper_value_release(number);
    close_world(&w);
}

static int released;

static void release(void *user)
{
    (void)user;
    released++;
}

// Tests strides, the caller's memory, and when it is released.
static void callers_memory(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s01_convnet.ptl");
    static float data[360];
    for (size_t i = 0; i < 360; i++) {
        data[i] = (float)(i % 17) - 8.0f;
    }
    const int64_t sizes[] = {1, 3, 10, 12}, last[] = {360, 1, 36, 3};
    float spread[360]; // the elements of x as NHWC
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < 120; i++) {
            spread[i * 3 + c] = data[c * 120 + i];
        }
    }
    taper_value *a, *b, *x, *y;
    released = 0;
    assert_int_equal(
        taper_value_tensor_from(w.context, TAPER_F32, 4, sizes, NULL, data, sizeof data, 1, release, NULL, &a, NULL),
        TAPER_OK);
    assert_int_equal(taper_value_tensor_from(w.context, TAPER_F32, 4, sizes, last, spread, sizeof spread, 1, release,
                                             NULL, &b, NULL),
                     TAPER_OK);
    assert_int_equal(taper_session_run(w.session, NULL, &a, 1, &x, NULL), TAPER_OK);
    assert_int_equal(taper_session_run(w.session, NULL, &b, 1, &y, NULL), TAPER_OK);
    taper_tensor_info p = {.struct_size = sizeof p}, q = {.struct_size = sizeof q};
    assert_int_equal(taper_value_get_tensor(x, &p, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(y, &q, NULL), TAPER_OK);
    for (int i = 0; i < 4; i++) {
        const float difference = ((float *)p.data)[i] - ((float *)q.data)[i];
        assert_true(difference < 1e-4f && difference > -1e-4f);
    }
    assert_int_equal(released, 0);
    taper_value_release(a);
    taper_value_release(b);
    assert_int_equal(released, 2);
    taper_value_release(x);
    taper_value_release(y);
    close_world(&w);
}

// ---- ways to load

typedef struct file {
    unsigned char *data;
    size_t size, reads;
    size_t fail_after; // number of reads that succeed before one fails; 0 if all reads succeed
} file;

static file slurp(const char *name)
{
    char path[1024];
    test_path(name, path, sizeof path);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    file all = {.size = (size_t)ftell(f)};
    rewind(f);
    all.data = malloc(all.size);
    assert_int_equal(fread(all.data, 1, all.size, f), all.size);
    fclose(f);
    return all;
}

static int read_from(void *user, uint64_t offset, void *buffer, size_t size)
{
    file *f = user;
    f->reads++;
    if ((f->fail_after != 0 && f->reads > f->fail_after) || offset > f->size || size > f->size - offset) {
        return -1;
    }
    memcpy(buffer, f->data + offset, size);
    return 0;
}

static void loads(world *w, taper_model *model, const taper_value *wanted)
{
    taper_session *session;
    taper_value *result;
    const test_call call = {"", "forward", "f1,3,10,12", TAPER_OK, false};
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    assert_int_equal(test_run(w->context, session, &call, &result, NULL), TAPER_OK);
    assert_true(test_same(result, wanted));
    taper_value_release(result);
    taper_session_destroy(session);
    taper_model_release(model);
}

static void ways_to_load(void **state)
{
    (void)state;
    static const char *const files[] = {"s01_convnet.ptl", "s01_convnet.fb.ptl"};
    for (size_t i = 0; i < 2; i++) {
        world w;
        open_world(&w, files[i]);
        taper_value *wanted;
        const test_call call = {"", "forward", "f1,3,10,12", TAPER_OK, false};
        assert_int_equal(test_run(w.context, w.session, &call, &wanted, NULL), TAPER_OK);
        file all = slurp(files[i]);
        const taper_load_options options = {
            .struct_size = sizeof options, .compiler = taper_compiler(), .flags = TAPER_LOAD_COPY};
        taper_model *model;
        assert_int_equal(taper_model_load_memory(w.context, all.data, all.size, NULL, NULL, &options, &model, w.error),
                         TAPER_OK);
        loads(&w, model, wanted);
        assert_int_equal(taper_model_load_callback(w.context, read_from, &all, all.size, &options, &model, w.error),
                         TAPER_OK);
        loads(&w, model, wanted);
        all.fail_after = all.reads = 0;
        all.fail_after = 1;
        all.reads = 1;
        assert_int_equal(taper_model_load_callback(w.context, read_from, &all, all.size, &options, &model, w.error),
                         TAPER_ERROR_FILE);
        assert_null(model);
        // The model is inside a larger file, at an odd offset.
        char name[] = "/tmp/taper-inputs-XXXXXX";
        const int fd = mkstemp(name);
        assert_true(fd >= 0);
        unlink(name);
        assert_int_equal(write(fd, "some other asset", 13), 13);
        assert_int_equal(write(fd, all.data, all.size), all.size);
        assert_int_equal(write(fd, "and another", 11), 11);
        for (int copy = 0; copy < 2; copy++) {
            const taper_load_options with = {
                .struct_size = sizeof with, .compiler = taper_compiler(), .flags = copy ? TAPER_LOAD_COPY : 0};
            if (taper_model_load_fd(w.context, fd, 13, all.size, &with, &model, w.error) != TAPER_OK) {
                fail_msg("%s", taper_error_message(w.error));
            }
            loads(&w, model, wanted);
        }
        assert_int_equal(taper_model_load_fd(w.context, fd, 13, all.size + 12, &as_saved, &model, w.error),
                         TAPER_ERROR_ARGUMENT);
        assert_int_equal(taper_model_load_fd(w.context, fd, UINT64_MAX, 10, &as_saved, &model, w.error),
                         TAPER_ERROR_ARGUMENT);
        assert_int_equal(taper_model_load_fd(w.context, -1, 0, 0, &as_saved, &model, w.error), TAPER_ERROR_FILE);
        close(fd);
        assert_int_equal(taper_model_load(w.context, "no/such/file.ptl", &as_saved, &model, w.error), TAPER_ERROR_FILE);
        assert_non_null(strstr(taper_error_message(w.error), "No such file"));
        free(all.data);
        taper_value_release(wanted);
        close_world(&w);
    }
}

static void refuses_unset_options(void **state)
{
    (void)state;
    taper_context *context;
    taper_model *model;
    taper_session *session;
    const taper_context_options no_context_size = {.struct_size = 0};
    assert_int_equal(taper_context_create(&no_context_size, &context, NULL), TAPER_ERROR_ARGUMENT);
    world w;
    open_world(&w, "s01_convnet.ptl");
    const taper_session_options no_session_size = {.struct_size = 0};
    assert_int_equal(taper_session_create(w.model, &no_session_size, &session, NULL), TAPER_ERROR_ARGUMENT);
    const taper_load_options no_load_size = {.struct_size = 0};
    char path[1024];
    test_path("s01_convnet.ptl", path, sizeof path);
    assert_int_equal(taper_model_load(w.context, path, &no_load_size, &model, w.error), TAPER_ERROR_ARGUMENT);
    close_world(&w);
}

// ---- facts about a model

static void metadata(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s05_methods.ptl");
    assert_int_equal(taper_model_method_count(w.model), 4);
    assert_int_equal(taper_model_method_arguments(w.model, "forward"), 1);
    assert_string_equal(taper_model_argument_text(w.model, "forward", 0), "Tensor");
    assert_int_equal(taper_type_kind_of(taper_model_argument_type(w.model, "forward", 0)), TAPER_TYPE_TENSOR);
    assert_null(taper_model_argument_type(w.model, "forward", 1));
    assert_null(taper_model_argument_name(w.model, "none", 0));
    assert_int_equal(taper_model_bytecode_version(w.model), 8);
    assert_true(taper_model_operator_count(w.model) > 0);
    for (size_t i = 1; i < taper_model_operator_count(w.model); i++) {
        assert_true(strcmp(taper_model_operator_name(w.model, i - 1), taper_model_operator_name(w.model, i)) < 0);
    }
    taper_value *value;
    assert_int_equal(taper_session_attribute(w.session, "nothing", &value, w.error), TAPER_ERROR_ARGUMENT);
    assert_non_null(strstr(taper_error_message(w.error), "nothing"));
    close_world(&w);

    open_world(&w, "classifier.ptl");
    const void *data;
    size_t size;
    assert_int_equal(taper_model_extra(w.model, "taper.json", &data, &size, w.error), TAPER_OK);
    assert_true(size > 10 && ((const char *)data)[0] == '{');
    assert_int_equal(taper_model_extra(w.model, "other.json", &data, &size, w.error), TAPER_ERROR_ARGUMENT);
    assert_true(taper_model_extra_count(w.model) >= 1);
    close_world(&w);
}

// Attributes that the model changes remain changed in the session that ran, and do not change in other sessions of the
// model.
static void state_of_a_session(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s05_methods.ptl");
    taper_session *other;
    taper_value *four, *result;
    assert_int_equal(taper_session_create(w.model, NULL, &other, NULL), TAPER_OK);
    assert_int_equal(taper_value_int(w.context, 4, &four, NULL), TAPER_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(taper_session_run(w.session, "set_count", &four, 1, &result, NULL), TAPER_OK);
        taper_value_release(result);
    }
    taper_value *mine, *others; // attribute "count" (one int64) in the session that ran, and in a second session
    taper_tensor_info p = {.struct_size = sizeof p}, q = {.struct_size = sizeof q};
    assert_int_equal(taper_session_attribute(w.session, "count", &mine, w.error), TAPER_OK);
    assert_int_equal(taper_session_attribute(other, "count", &others, w.error), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(mine, &p, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(others, &q, NULL), TAPER_OK);
    assert_int_equal(*(int64_t *)p.data, 4);
    assert_int_equal(*(int64_t *)q.data, 0);
    taper_value_release(mine);
    taper_value_release(others);
    taper_value_release(four);
    taper_session_destroy(other);
    close_world(&w);
}

// ---- the log

static char heard[256];

static void listen(void *user, taper_log_level level, const char *text, size_t length)
{
    assert_ptr_equal(user, heard);
    if (level == TAPER_LOG_WARNING) {
        snprintf(heard, sizeof heard, "%.*s", (int)length, text);
    }
}

static void log_hook(void **state)
{
    (void)state;
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = listen, .log_user = heard};
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *result;
    taper_error *error = taper_error_create();
    assert_int_equal(taper_context_create(&options, &context, NULL), TAPER_OK);
    assert_int_equal(test_load(context, "s06_raise.ptl", true, &model, NULL), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    const test_call warns = {"", "forward", "f2,2 i2", TAPER_OK, false},
                    raises = {"", "forward", "f2,2 i1", TAPER_ERROR_RAISED, false};
    assert_int_equal(test_run(context, session, &warns, &result, NULL), TAPER_OK);
    taper_value_release(result);
    assert_non_null(strstr(heard, "mode two"));
    assert_int_equal(test_run(context, session, &raises, &result, error), TAPER_ERROR_RAISED);
    assert_non_null(strstr(taper_error_message(error), "bad mode 1"));
    assert_non_null(strstr(taper_error_detail(error), "Raiser")); // the module hierarchy contains the name of the class
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_inputs),          cmocka_unit_test(defaults),
        cmocka_unit_test(wrong_channels),        cmocka_unit_test(wrong_values),
        cmocka_unit_test(callers_memory),        cmocka_unit_test(ways_to_load),
        cmocka_unit_test(refuses_unset_options), cmocka_unit_test(metadata),
        cmocka_unit_test(state_of_a_session),    cmocka_unit_test(log_hook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
