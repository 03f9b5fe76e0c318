// SPDX-License-Identifier: BSD-2-Clause
// Tests operators of the host: correct and invalid registrations, models that call the operators
// (tests/models/make_custom_ops.py), and operators whose functions fail.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

// The outcome of the host's operator in its next call: success, or one of these mistakes.
typedef enum deed {
    RIGHT,
    FAIL,           // fails with a message
    FAIL_SILENTLY,  // returns an error status without a message
    FAIL_OTHERWISE, // returns an error status, and an error object with another status
    RAISE,
    NO_STATUS,
    NO_RESULT,
    NO_TENSOR, // returns an int instead of a tensor
    RUN_AGAIN, // runs the session that called it
    DECLINE    // returns TAPER_DECLINED, a status that is internal to the library
} deed;

typedef struct host {
    atomic_int warps, notes, additions;
    deed deed;
    taper_session *session; // session that is running
} host;

static host the_host;

// ---- functions of the registered operators

static const float *reading(const taper_value *value, size_t *count)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    assert_int_equal(info.dtype, TAPER_F32);
    *count = info.bytes / sizeof(float);
    return info.data;
}

static taper_status tensor_like(taper_context *context, size_t count, taper_value **made, float **data,
                                taper_error *error)
{
    const int64_t size = (int64_t)count;
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_status status = taper_value_tensor(context, TAPER_F32, 1, &size, made, error);
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(*made, &info, error);
        *data = info.data;
    }
    return status;
}

static taper_status warp(void *user, taper_context *context, taper_value *const *args, size_t count,
                         taper_value **results, size_t result_count, taper_error *error)
{
    host *h = user;
    double scale;
    size_t n, m;
    float *out;
    assert_int_equal(count, 3);
    assert_int_equal(result_count, 1);
    assert_null(results[0]);
    atomic_fetch_add(&h->warps, 1);
    taper_status status = taper_value_get_double(args[2], &scale, error);
    const float *image = reading(args[0], &n), *flow = reading(args[1], &m);
    switch (h->deed) {
    case RIGHT:
        break;
    case FAIL:
        return taper_error_set(error, TAPER_ERROR_DEVICE, "the lens is dirty");
    case FAIL_SILENTLY:
        return TAPER_ERROR_DEVICE;
    case FAIL_OTHERWISE: {
        bool failed = taper_value_get_int(args[0], &(int64_t){0}, error) != TAPER_OK;
        assert_true(failed);
        return TAPER_ERROR_RESOURCE;
    }
    case RAISE:
        results[0] = taper_value_retain(args[0]); // the library must release this reference although the function fails
        return taper_error_set(error, TAPER_ERROR_RAISED, "ValueError: no");
    case NO_STATUS:
        return (taper_status)77;
    case DECLINE:
        return (taper_status)-1;
    case NO_RESULT:
        return TAPER_OK;
    case RUN_AGAIN:
        return taper_session_run(h->session, NULL, &args[0], 1, &results[0], error);
    case NO_TENSOR:
        return taper_value_int(context, 1, &results[0], error);
    }
    if (status == TAPER_OK && n != m) {
        status = taper_error_set(error, TAPER_ERROR_ARGUMENT, "the flow has another size");
    }
    if (status == TAPER_OK) {
        status = tensor_like(context, n, &results[0], &out, error);
    }
    for (size_t i = 0; status == TAPER_OK && i < n; i++) {
        out[i] = image[i] * (float)scale + flow[i];
    }
    return status;
}

static taper_status add_to(void *user, taper_context *context, taper_value *const *args, size_t count,
                           taper_value **results, size_t result_count, taper_error *error)
{
    host *h = user;
    int64_t by;
    (void)context, (void)count, (void)result_count;
    const taper_status status = taper_value_get_int(args[1], &by, error);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(args[0], &info, NULL), TAPER_OK);
    assert_int_equal(info.read_only, 0);
    for (size_t i = 0; status == TAPER_OK && i < info.bytes / sizeof(float); i++) {
        ((float *)info.data)[i] += (float)by;
    }
    atomic_fetch_add(&h->additions, 1);
    results[0] = taper_value_retain(args[0]);
    return status;
}

// Computes the result with operators of the library.
static taper_status parts(void *user, taper_context *context, taper_value *const *args, size_t count,
                          taper_value **results, size_t result_count, taper_error *error)
{
    (void)user, (void)count, (void)result_count;
    taper_operator *split = NULL, *sum = NULL;
    const char *mode;
    size_t length;
    taper_status status = taper_value_get_string(args[2], &mode, &length, error);
    if (status == TAPER_OK) {
        status = taper_operator_find(context, "aten::split_with_sizes", &split, error);
    }
    if (status == TAPER_OK) {
        status = taper_operator_find(context, "aten::sum", &sum, error);
    }
    if (status == TAPER_OK) {
        status = taper_operator_call(split, args, 2, &results[1], 1, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_item(results[1], 0, &results[0], error);
    }
    if (status == TAPER_OK && strcmp(mode, "sum") == 0) {
        taper_value *first = results[0];
        status = taper_operator_call(sum, &first, 1, &results[0], 1, error);
        taper_value_release(first);
    }
    taper_operator_release(split);
    taper_operator_release(sum);
    return status;
}

static taper_status note(void *user, taper_context *context, taper_value *const *args, size_t count,
                         taper_value **results, size_t result_count, taper_error *error)
{
    host *h = user;
    (void)context, (void)args, (void)results, (void)error;
    assert_int_equal(count, 1);
    assert_int_equal(result_count, 0);
    atomic_fetch_add(&h->notes, 1);
    return TAPER_OK;
}

static taper_status pick(void *user, taper_context *context, taper_value *const *args, size_t count,
                         taper_value **results, size_t result_count, taper_error *error)
{
    (void)user, (void)count, (void)result_count;
    const bool named = taper_value_kind(args[1]) == TAPER_KIND_STRING;
    taper_operator *select;
    taper_value *all[] = {args[0], NULL, NULL};
    int64_t at = -1;
    taper_status status = taper_operator_find(context, "aten::select.int", &select, error);
    if (status == TAPER_OK && !named) {
        status = taper_value_get_int(args[1], &at, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_int(context, 0, &all[1], error);
    }
    if (status == TAPER_OK) {
        status = taper_value_int(context, at, &all[2], error);
    }
    if (status == TAPER_OK) {
        status = taper_operator_call(select, all, 3, results, 1, error);
    }
    taper_value_release(all[1]);
    taper_value_release(all[2]);
    taper_operator_release(select);
    return status;
}

// ---- registrations that are refused

static const char *const files[] = {"custom_ops.pt", "custom_ops.ptl"};

static void before(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    for (size_t i = 0; i < 2; i++) {
        taper_model *model;
        assert_int_equal(test_load(context, files[i], true, &model, error), TAPER_ERROR_UNSUPPORTED);
        assert_non_null(strstr(taper_error_detail(error), "my_ops::warp"));
        assert_non_null(strstr(taper_error_detail(error), "my_ops::add_to_"));
    }
    taper_operator *op;
    assert_int_equal(taper_operator_find(context, "my_ops::warp", &op, error), TAPER_ERROR_UNSUPPORTED);
    taper_context_release(context);
    taper_error_destroy(error);
}

static void wrong_schemas(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "(",
        "x",
        "x(",
        ":",
        "::",
        "a::",
        "a::b",
        "a::b(",
        "::b() -> ()",
        "a:b() -> ()",
        "a::b::c() -> ()",
        "a::() -> ()",
        "a::b.() -> ()",
        "a::b.c.d() -> ()",
        "taper::b(Tensor x) -> Tensor",
        "a::b(Tensor",
        "a::b(Tensor x",
        "a::b(Tensor x)",
        "a::b(Tensor x) ->",
        "a::b(Tensor x) -> ",
        "a::b(Tensor x) -> (",
        "a::b(Tensor x) -> Tensor(",
        "a::b(Tensor x) -> Tensor( ",
        "a::b(Tensor x) -> Tensor[",
        "a::b(Tensor( x) -> Tensor",
        "a::b(Tensor(a x) -> Tensor",
        "a::b(Tensor x) -> Tensor, Tensor",
        "a::b(Tensor x) -> Tensor a b",
        "a::b(Tensor x) -> Tensor; drop",
        "a::b(Tensor x) -> Tensor\n",
        "a::b(Tensor) -> Tensor",
        "a::b(x) -> Tensor",
        "a::b(Tensr x) -> Tensor",
        "a::b(t x) -> t",
        "a::b(Future(t) x) -> Tensor",
        "a::b(Dict(str) x) -> Tensor",
        "a::b(Tensor x, ...) -> Tensor",
        "a::b(Tensor x) -> ...",
        "a::b(int x=) -> ()",
        "a::b(int x=y) -> ()",
        "a::b(int x=None) -> ()",
        "a::b(int x=1.5) -> ()",
        "a::b(str x=1) -> ()",
        "a::b(Tensor x=1) -> ()",
        "a::b(str x='a) -> ()",
        "a::b(str x='\\') -> ()",
        "a::b(int[2 x=1) -> ()",
        "a::b(int[999999999] x=1) -> ()",
        "a::b(int[2] x=[1) -> ()",
        "a::b((((((((((((int)))))))))))) x) -> ()",
        "a::b(int x, int y int z) -> ()",
        "a::b(int x)) -> ()",
    };
    taper_error *error = taper_error_create();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        // The copy of the schema ends at the end of its memory block, so that AddressSanitizer detects a read beyond
        // it.
        const size_t length = strlen(texts[i]);
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memcpy(copy, texts[i], length + 1);
        const taper_status status = taper_operator_register(copy, note, NULL, error);
        if (status != TAPER_ERROR_ARGUMENT || taper_error_message(error)[0] == '\0') {
            fail_msg("\"%s\": status %d, %s", texts[i], (int)status, taper_error_message(error));
        }
        free(copy);
    }
    char lengthy[3000];
    memset(lengthy, 'a', sizeof lengthy);
    memcpy(lengthy, "a::", 3);
    memcpy(lengthy + sizeof lengthy - 9, "() -> ()", 9);
    assert_int_equal(taper_operator_register(lengthy, note, NULL, error), TAPER_ERROR_ARGUMENT);
    // Every prefix of a valid schema must be refused.
    static const char good[] =
        "a::b.c(Tensor(a!) x, int[2] y=[1, 2], *, str? z='q', Dict(str, Tensor)? d=None) -> (Tensor(a!), int)";
    for (size_t length = 0; length < sizeof good - 1; length++) {
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memcpy(copy, good, length);
        copy[length] = '\0';
        assert_int_equal(taper_operator_register(copy, note, NULL, error), TAPER_ERROR_ARGUMENT);
        free(copy);
    }
    static const char *const own[] = {"aten::relu(Tensor self) -> Tensor", "aten::relu.mine(Tensor self) -> Tensor",
                                      "prim::dtype(Tensor a) -> int"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        assert_int_equal(taper_operator_register(own[i], note, NULL, error), TAPER_ERROR_ARGUMENT);
        assert_non_null(strstr(taper_error_message(error), "is Taper's own"));
    }
    taper_error_destroy(error);
}

static void add(const char *schema, taper_operator_function function)
{
    taper_error *error = taper_error_create();
    if (taper_operator_register(schema, function, &the_host, error) != TAPER_OK) {
        fail_msg("%s: %s", schema, taper_error_message(error));
    }
    taper_error_destroy(error);
}

static void registering(void **state)
{
    (void)state;
    add("my_ops::warp(Tensor image, Tensor flow, float scale=1.5) -> Tensor", warp);
    add("my_ops::add_to_(Tensor(a!) self, int by) -> Tensor(a!)", add_to);
    add("my_ops::parts(Tensor x, int[] sizes, str mode=\"plain\") -> (Tensor, Tensor[])", parts);
    add("my_ops::note(Tensor(a!) x) -> ()", note);
    add("my_ops::pick.at(Tensor x, int i) -> Tensor", pick);
    add("my_ops::pick.name(Tensor x, str name) -> Tensor", pick);
    add("aten::no_such_operator(Dict(str, int[])? a=None, (int, float)[] b=[], Scalar c=-1, int[3]? d=[1, 2, 3]) -> ()",
        note);
    taper_error *error = taper_error_create();
    static const char *const again[] = {"my_ops::warp(Tensor image, Tensor flow, float scale=1.5) -> Tensor",
                                        "my_ops::warp() -> ()", "my_ops::pick.name(int x) -> int"};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        assert_int_equal(taper_operator_register(again[i], note, NULL, error), TAPER_ERROR_ARGUMENT);
        assert_non_null(strstr(taper_error_message(error), "is registered already"));
    }
    taper_error_destroy(error);
}

// Threads register the same operators: exactly one of them succeeds for each name.
static void *race(void *argument)
{
    atomic_int *won = argument;
    for (int i = 0; i < 40; i++) {
        char schema[64];
        snprintf(schema, sizeof schema, "race::number%d(Tensor x) -> Tensor", i);
        if (taper_operator_register(schema, note, NULL, NULL) == TAPER_OK) {
            atomic_fetch_add(won, 1);
        }
    }
    return NULL;
}

static void registering_in_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    atomic_int won = 0;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, race, &won), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&won), 40);
}

// ---- models

static taper_value *image(taper_context *context)
{
    float *data;
    taper_value *value;
    assert_int_equal(tensor_like(context, 3, &value, &data, NULL), TAPER_OK);
    memcpy(data, (const float[]){1, -2, 3}, 3 * sizeof *data);
    return value;
}

static void check_floats(const taper_value *value, const float *wanted, size_t count)
{
    size_t n;
    const float *data = reading(value, &n);
    assert_true(n >= count);
    for (size_t i = 0; i < count; i++) {
        if (data[i] != wanted[i]) {
            fail_msg("%zu: %g, wanted %g", i, (double)data[i], (double)wanted[i]);
        }
    }
}

// Compares the result with the results that PyTorch printed.
static void check_result(const taper_value *result)
{
    static const float y[] = {14.5f, 20, 37.5f}, z[] = {11.5f, 17, 34.5f}, zero[] = {0};
    taper_value *items[4], *pieces[2];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(taper_value_item(result, i, &items[i], NULL), TAPER_OK);
    }
    check_floats(items[0], y, 3);
    check_floats(items[1], z, 3);
    check_floats(items[3], zero, 1);
    assert_int_equal(taper_value_count(items[2]), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(taper_value_item(items[2], i, &pieces[i], NULL), TAPER_OK);
    }
    check_floats(pieces[0], y, 1);
    check_floats(pieces[1], y + 1, 2);
    for (size_t i = 0; i < 6; i++) {
        taper_value_release(i < 4 ? items[i] : pieces[i - 4]);
    }
}

static taper_status run(taper_context *context, taper_model *model, taper_error *error)
{
    taper_session *session;
    taper_value *x = image(context), *result = NULL;
    taper_status status = taper_session_create(model, NULL, &session, error);
    for (int i = 0; status == TAPER_OK && i < 3; i++) {
        status = taper_session_run(session, NULL, &x, 1, &result, error);
        if (status == TAPER_OK) {
            check_result(result);
            taper_value_release(result);
        }
    }
    taper_value_release(x);
    taper_session_destroy(session);
    return status;
}

static void models(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 2);
    for (size_t i = 0; i < 4; i++) {
        taper_model *model;
        assert_int_equal(test_load(context, files[i / 2], i % 2 != 0, &model, NULL), TAPER_OK);
        for (size_t o = 0; o < taper_model_operator_count(model); o++) {
            assert_int_equal(taper_model_operator_missing(model, o), 0);
        }
        the_host = (host){.deed = RIGHT};
        assert_int_equal(run(context, model, NULL), TAPER_OK);
        // Three runs make two calls each. So the optimizer has neither removed nor merged a call.
        assert_int_equal(atomic_load(&the_host.warps), 6);
        assert_int_equal(atomic_load(&the_host.notes), 3);
        assert_int_equal(atomic_load(&the_host.additions), 9);
        taper_model_release(model);
    }
    taper_context_release(context);
}

// The model is optimized and saved as a lite model.
static void drafts(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    const taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    for (size_t i = 0; i < 4; i++) {
        char path[512];
        taper_draft *draft;
        taper_model *model;
        void *bytes;
        size_t size;
        test_path(files[i / 2], path, sizeof path);
        assert_int_equal(taper_draft_load(context, path, &load, &draft, NULL), TAPER_OK);
        if (i % 2 != 0) {
            assert_int_equal(taper_draft_optimize(draft, NULL, NULL), TAPER_OK);
        }
        assert_int_equal(taper_draft_save_memory(draft, NULL, &bytes, &size, NULL), TAPER_OK);
        assert_int_equal(taper_model_load_memory(context, bytes, size, NULL, NULL, &load, &model, NULL), TAPER_OK);
        the_host = (host){.deed = RIGHT};
        assert_int_equal(run(context, model, NULL), TAPER_OK);
        assert_int_equal(atomic_load(&the_host.notes), 3);
        taper_model_release(model);
        taper_saved_free(draft, bytes, size);
        taper_draft_release(draft);
    }
    taper_context_release(context);
}

// ---- functions with errors

static const struct {
    deed deed;
    taper_status status;
    const char *words;
} deeds[] = {
    {FAIL, TAPER_ERROR_DEVICE, "my_ops::warp: the lens is dirty"},
    {FAIL_SILENTLY, TAPER_ERROR_DEVICE, "my_ops::warp: its function failed and did not say why"},
    {FAIL_OTHERWISE, TAPER_ERROR_RESOURCE, "my_ops::warp: the value is not an int but Tensor"},
    {RAISE, TAPER_ERROR_RAISED, "my_ops::warp: ValueError: no"},
    {NO_STATUS, TAPER_ERROR_INTERNAL, "my_ops::warp: its function returned 77, which is not a status"},
    {DECLINE, TAPER_ERROR_INTERNAL, "my_ops::warp: its function returned -1, which is not a status"},
    {NO_RESULT, TAPER_ERROR_ARGUMENT, "my_ops::warp: its function gave no result 0"},
    {NO_TENSOR, TAPER_ERROR_ARGUMENT, "my_ops::warp: result 0 should be Tensor, got int"},
};

// The operator runs the session that called it.
static void run_again(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    for (size_t f = 0; f < 2; f++) {
        taper_model *model;
        taper_session *session;
        taper_value *x = image(context), *result;
        assert_int_equal(test_load(context, files[f], true, &model, error), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, error), TAPER_OK);
        the_host = (host){.deed = RUN_AGAIN, .session = session};
        assert_int_equal(taper_session_run(session, NULL, &x, 1, &result, error), TAPER_ERROR_ARGUMENT);
        assert_non_null(strstr(taper_error_message(error), "is running: a session runs one call at a time"));
        assert_int_equal(atomic_load(&the_host.warps), 1);
        the_host = (host){.deed = RIGHT};
        assert_int_equal(taper_session_run(session, NULL, &x, 1, &result, error), TAPER_OK);
        check_result(result);
        taper_value_release(result);
        taper_value_release(x);
        taper_session_destroy(session);
        taper_model_release(model);
    }
    taper_error_destroy(error);
    taper_context_release(context);
}

static void wrong_functions(void **state)
{
    (void)state;
    test_allocator memory;
    test_allocator_init(&memory);
    taper_context *context = test_context(&memory, 1);
    taper_error *error = taper_error_create();
    taper_operator *op;
    assert_int_equal(taper_operator_find(context, "my_ops::warp", &op, error), TAPER_OK);
    for (size_t f = 0; f < 2; f++) {
        taper_model *model;
        assert_int_equal(test_load(context, files[f], true, &model, error), TAPER_OK);
        for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
            the_host = (host){.deed = deeds[i].deed};
            const taper_status status = run(context, model, error);
            if (status != deeds[i].status || taper_error_status(error) != status ||
                strstr(taper_error_message(error), deeds[i].words) == NULL) {
                fail_msg("deed %zu: status %d, %s", i, (int)status, taper_error_message(error));
            }
            assert_int_equal(run(context, model, NULL), status); // the same status without an error object
            taper_value *args[] = {image(context), image(context)}, *result;
            assert_int_equal(taper_operator_call(op, args, 2, &result, 1, error), deeds[i].status);
            assert_non_null(strstr(taper_error_message(error), deeds[i].words));
            assert_null(result);
            taper_value_release(args[0]);
            taper_value_release(args[1]);
        }
        the_host = (host){.deed = RIGHT};
        assert_int_equal(run(context, model, error), TAPER_OK);
        taper_model_release(model);
    }
    taper_operator_release(op);
    taper_context_release(context);
    taper_error_destroy(error);
    assert_int_equal(atomic_load(&memory.blocks), 0);
}

static void direct_calls(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_operator *op;
    the_host = (host){.deed = RIGHT};
    taper_value *args[] = {image(context), image(context), NULL}, *result;
    assert_int_equal(taper_value_int(context, 3, &args[2], NULL), TAPER_OK);
    assert_int_equal(
        taper_operator_find(context, "my_ops::warp(Tensor image,Tensor flow,float scale=1.5)->Tensor", &op, error),
        TAPER_OK);
    assert_int_equal(taper_operator_call(op, args, 3, &result, 1, error), TAPER_OK);
    check_floats(result, (const float[]){4, -8, 12}, 3);
    taper_value_release(result);
    assert_int_equal(taper_operator_call(op, args, 2, &result, 1, error), TAPER_OK);
    check_floats(result, (const float[]){2.5f, -5, 7.5f}, 3);
    taper_value_release(result);
    taper_operator_release(op);
    // The operator must write in place to the caller's memory, and to a copy of read-only memory.
    assert_int_equal(taper_operator_find(context, "my_ops::add_to_", &op, error), TAPER_OK);
    float mine[] = {1, 2, 3};
    const int64_t size = 3;
    taper_value *fixed[] = {NULL, args[2]};
    assert_int_equal(
        taper_value_tensor_from(context, TAPER_F32, 1, &size, NULL, mine, sizeof mine, 1, NULL, NULL, &fixed[0], error),
        TAPER_OK);
    assert_int_equal(taper_operator_call(op, fixed, 2, &result, 1, error), TAPER_OK);
    check_floats(result, (const float[]){4, 5, 6}, 3);
    check_floats(fixed[0], (const float[]){1, 2, 3}, 3);
    taper_value_release(result);
    taper_operator_release(op);
    // A name with several overloads needs an overload name; the error lists the overloads.
    assert_int_equal(taper_operator_find(context, "my_ops::pick", &op, error), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_detail(error), "my_ops::pick.at("));
    assert_non_null(strstr(taper_error_detail(error), "my_ops::pick.name("));
    for (size_t i = 0; i < 3; i++) {
        taper_value_release(args[i]);
    }
    taper_value_release(fixed[0]);
    taper_context_release(context);
    taper_error_destroy(error);
}

static taper_status load_and_run(taper_context *context, const void *what, taper_error *error)
{
    taper_model *model;
    taper_session *session = NULL;
    taper_value *result = NULL;
    const test_call call = {what, "forward", "f3", TAPER_OK, false};
    taper_status status = test_load(context, what, true, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        status = test_run(context, session, &call, &result, error);
    }
    taper_value_release(result);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void allocations_fail(void **state)
{
    (void)state;
    the_host = (host){.deed = RIGHT};
    for (size_t i = 0; i < 2; i++) {
        test_each_allocation_fails(files[i], load_and_run, files[i]);
    }
}

// Several threads run sessions of one model.
static void *run_often(void *model)
{
    taper_context *context = test_context(NULL, 1); // context in which the inputs are made
    for (int i = 0; i < 20; i++) {
        if (run(context, model, NULL) != TAPER_OK) {
            model = NULL;
            break;
        }
    }
    taper_context_release(context);
    return model;
}

static void sessions_in_threads(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    pthread_t threads[4];
    taper_model *model;
    the_host = (host){.deed = RIGHT};
    assert_int_equal(test_load(context, files[0], true, &model, NULL), TAPER_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, model), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_ptr_equal(good, model);
    }
    assert_int_equal(atomic_load(&the_host.notes), 4 * 20 * 3);
    taper_model_release(model);
    taper_context_release(context);
}

// A file with an unknown class is refused, unless an operator of the host takes objects of this class.
static void classes(void **state)
{
    (void)state;
    enum { MOST = 1 << 16 };
    static const char of_xnnpack[] = "classes.xnnpack", of_host[] = "classes.my_ext7";
    static char bytes[MOST];
    char path[512];
    test_path("s11_xnnpack.fb.ptl", path, sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i + sizeof of_host - 1 <= size; i++) {
        if (memcmp(bytes + i, of_xnnpack, sizeof of_host - 1) == 0) {
            memcpy(bytes + i, of_host, sizeof of_host - 1);
        }
    }
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_model *model;
    assert_int_equal(taper_model_load_memory(context, bytes, size, NULL, NULL, &as_saved, &model, error),
                     TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(error), "2 classes that this build of Taper does not have"));
    assert_int_equal(taper_operator_register("my_ext7::see(__torch__.torch.classes.my_ext7.Conv2dOpContext c, "
                                             "__torch__.torch.classes.my_ext7.LinearOpContextOfMine? l) -> ()",
                                             note, NULL, error),
                     TAPER_OK);
    assert_int_equal(taper_model_load_memory(context, bytes, size, NULL, NULL, &as_saved, &model, error),
                     TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(error), "1 class that this build of Taper does not have"));
    assert_int_equal(taper_operator_register("my_ext7::make() -> __torch__.torch.classes.my_ext7.LinearOpContext", note,
                                             NULL, error),
                     TAPER_OK);
    assert_int_equal(taper_model_load_memory(context, bytes, size, NULL, NULL, &as_saved, &model, error), TAPER_OK);
    taper_model_release(model);
    taper_error_destroy(error);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before),
        cmocka_unit_test(wrong_schemas),
        cmocka_unit_test(registering),
        cmocka_unit_test(registering_in_threads),
        cmocka_unit_test(models),
        cmocka_unit_test(drafts),
        cmocka_unit_test(run_again),
        cmocka_unit_test(wrong_functions),
        cmocka_unit_test(direct_calls),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(sessions_in_threads),
        cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
