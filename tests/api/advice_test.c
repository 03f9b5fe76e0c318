// SPDX-License-Identifier: BSD-2-Clause
// Tests the advice that the library gives about inputs that a model refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_app.h>

#include "tests/api/fixture.h"

static taper_value *zeros(taper_context *context, taper_dtype dtype, size_t rank, const int64_t *sizes)
{
    taper_value *value = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_tensor(context, dtype, rank, sizes, &value, NULL) == TAPER_OK &&
        taper_value_get_tensor(value, &info, NULL) == TAPER_OK) {
        memset(info.data, 0, info.bytes);
    }
    return value;
}

// Runs a model on zeros with this dtype and these sizes, and checks the detail of the error after advice was added.
static void check(taper_dtype dtype, size_t rank, const int64_t *sizes, const char *advice)
{
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_model *model;
    taper_session *session;
    taper_value *result;
    assert_int_equal(test_load(context, "s01_convnet.ptl", true, &model, error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, error), TAPER_OK);
    taper_value *input = zeros(context, dtype, rank, sizes);
    assert_non_null(input);
    assert_int_equal(taper_session_run(session, NULL, &input, 1, &result, error), TAPER_ERROR_ARGUMENT);
    char message[1024];
    snprintf(message, sizeof message, "%s", taper_error_message(error));
    assert_int_equal(taper_session_advise(session, NULL, &input, 1, error), TAPER_OK);
    assert_string_equal(taper_error_message(error), message);
    assert_int_equal(taper_error_status(error), TAPER_ERROR_ARGUMENT);
    if (strstr(taper_error_detail(error), advice) == NULL) {
        fail_msg("wanted %s; got %s", advice, taper_error_detail(error));
    }
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
}

static void one_change(void **state)
{
    (void)state;
    check(TAPER_F64, 4, (const int64_t[]){1, 3, 12, 12},
          "input 0 is float64 [1, 3, 12, 12]; the model takes it converted: float32 [1, 3, 12, 12]\n");
    check(TAPER_F32, 4, (const int64_t[]){1, 12, 12, 3},
          "input 0 is float32 [1, 12, 12, 3]; the model takes it with the channels before height and width: "
          "float32 [1, 3, 12, 12]\n");
}

static void layer(void **state)
{
    (void)state;
    check(TAPER_F32, 4, (const int64_t[]){1, 4, 12, 12}, " was float32 [1, 4, 12, 12], refused in conv\n");
}

// The failed run may change inputs, but the advice must not change inputs.
static void inputs_stay(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_model *model;
    taper_session *session;
    taper_value *result, *first = zeros(context, TAPER_F32, 1, (const int64_t[]){1});
    taper_value *inputs[] = {zeros(context, TAPER_F64, 2, (const int64_t[]){3, 2}), NULL};
    taper_tensor_info x = {.struct_size = sizeof x}, one = x;
    assert_int_equal(taper_value_list(context, "Tensor", &first, 1, &inputs[1], NULL), TAPER_OK);
    assert_int_equal(test_load(context, "run_into.pt", true, &model, error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, error), TAPER_OK);
    assert_int_equal(taper_session_run(session, "refuses", inputs, 2, &result, error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_value_get_tensor(inputs[0], &x, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(first, &one, NULL), TAPER_OK);
    assert_true(*(double *)x.data == 1);
    *(float *)one.data = 5;
    assert_int_equal(taper_session_advise(session, "refuses", inputs, 2, error), TAPER_OK);
    assert_non_null(strstr(taper_error_detail(error), "input 0 (x) was float64 [3, 2], refused in conv\n"));
    assert_true(*(double *)x.data == 1);
    assert_true(*(float *)one.data == 5);
    assert_int_equal(taper_value_count(inputs[1]), 2);
    taper_value_release(first);
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
}

static void other_errors(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    taper_model *model;
    taper_session *session;
    taper_value *none[] = {NULL};
    assert_int_equal(test_load(context, "s01_convnet.ptl", true, &model, error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, error), TAPER_OK);
    assert_int_equal(taper_session_advise(session, NULL, NULL, 0, NULL), TAPER_OK);
    // Passes an error that does not come from a run.
    assert_int_equal(taper_session_advise(session, NULL, NULL, 0, error), TAPER_OK);
    assert_string_equal(taper_error_detail(error), "");
    taper_value *result;
    assert_int_equal(taper_session_run(session, NULL, NULL, 0, &result, error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_advise(session, NULL, NULL, 0, error), TAPER_OK); // the error must stay the same
    assert_int_equal(taper_session_advise(session, "nowhere", NULL, 0, error), TAPER_OK);
    assert_int_equal(taper_session_advise(session, NULL, NULL, 1, error), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_advise(session, NULL, none, 1, error), TAPER_ERROR_ARGUMENT);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
}

static taper_status advise(taper_context *context, const void *what, taper_error *error)
{
    (void)what;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *result = NULL;
    taper_value *input = zeros(context, TAPER_F32, 4, (const int64_t[]){1, 4, 12, 12});
    taper_status status =
        input != NULL ? test_load(context, "s01_convnet.ptl", true, &model, error) : TAPER_ERROR_RESOURCE;
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_run(session, NULL, &input, 1, &result, error);
        if (status == TAPER_ERROR_ARGUMENT) {
            status = taper_session_advise(session, NULL, &input, 1, error);
        }
    }
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void allocations(void **state)
{
    (void)state;
    test_each_allocation_fails("advice", advise, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_change), cmocka_unit_test(layer),
                                       cmocka_unit_test(inputs_stay), cmocka_unit_test(other_errors),
                                       cmocka_unit_test(allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
