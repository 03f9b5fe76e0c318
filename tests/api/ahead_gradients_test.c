// SPDX-License-Identifier: BSD-2-Clause
// Runs a model whose gradient the compiler computes ahead of time: its numbers, failed allocations, and one tensor that
// is passed as two inputs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_inspect.h>

#include "tests/api/fixture.h"

// The first input, and the energy and forces that PyTorch 1.13 computes for it (scripts/oracle/make_gradients.py). The
// second input is half of the first one plus 0.25.
static const float positions[9] = {0.0f, 0.5f, 1.0f, 1.5f, -0.25f, 0.75f, -1.0f, 0.125f, 2.0f};
static const float energy = 4.820445f;
static const float forces[9] = {0.07574463f, -1.60835f,  -1.785021f, -0.6888992f, -4.428891f,
                                -2.482445f,  -1.093499f, -2.468712f, 1.088785f};

static taper_status make_input(taper_context *context, float factor, float summand, taper_value **value)
{
    static const int64_t sizes[2] = {3, 3};
    taper_tensor_info info = {.struct_size = sizeof info};
    *value = NULL;
    if (taper_value_tensor(context, TAPER_F32, 2, sizes, value, NULL) != TAPER_OK) {
        return TAPER_ERROR_RESOURCE;
    }
    assert_int_equal(taper_value_get_tensor(*value, &info, NULL), TAPER_OK);
    for (size_t i = 0; i < 9; i++) {
        ((float *)info.data)[i] = positions[i] * factor + summand;
    }
    return TAPER_OK;
}

// Loads the model, runs it several times and checks the results.
static taper_status run_pairs(taper_context *context, const void *optimized, taper_error *error)
{
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *inputs[2] = {NULL, NULL}, *result;
    taper_status status = make_input(context, 1.0f, 0.0f, &inputs[0]);
    status = status == TAPER_OK ? make_input(context, 0.5f, 0.25f, &inputs[1]) : status;
    status = status == TAPER_OK ? test_load(context, "pairs.pt", *(const bool *)optimized, &model, error) : status;
    status = status == TAPER_OK ? taper_session_create(model, NULL, &session, error) : status;
    for (int run = 0; status == TAPER_OK && run < 4; run++) {
        status = taper_session_run(session, NULL, inputs, 2, &result, error);
        if (status == TAPER_OK) {
            test_check_floats(result, 0, &energy, 1, 4e-6f);
            test_check_floats(result, 1, forces, 9, 4e-6f);
            taper_value_release(result);
        }
    }
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void numbers(void **state)
{
    (void)state;
    for (int optimized = 0; optimized < 2; optimized++) {
        taper_context *const context = test_context(NULL, 1);
        assert_int_equal(run_pairs(context, &(bool){optimized != 0}, NULL), TAPER_OK);
        taper_context_release(context);
    }
}

static void failed_allocations(void **state)
{
    (void)state;
    test_each_allocation_fails("pairs.pt", run_pairs, &(bool){true});
}

// If one tensor is both inputs, the nodes of the gradient would count only the first input. So the run must fail.
static void one_tensor_twice(void **state)
{
    (void)state;
    taper_context *const context = test_context(NULL, 1);
    taper_error *const error = taper_error_create();
    taper_model *model;
    taper_session *session;
    taper_value *input, *result;
    assert_int_equal(make_input(context, 1.0f, 0.0f, &input), TAPER_OK);
    assert_int_equal(test_load(context, "pairs.pt", true, &model, NULL), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    taper_value *const twice[2] = {input, input};
    assert_int_equal(taper_session_run(session, NULL, twice, 2, &result, error), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(error), "one tensor is passed as two inputs"));
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_error_destroy(error);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(failed_allocations),
                                       cmocka_unit_test(one_tensor_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
