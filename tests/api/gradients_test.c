// SPDX-License-Identifier: BSD-2-Clause
// Runs a model that asks for gradients: its numbers, failed allocations, budgets, and threads that share an input.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_inspect.h>

#include "tests/api/fixture.h"

// Positions, and the energy, forces and derivatives of the squared forces that PyTorch 1.13 computes for these
// positions (scripts/oracle/make_gradients.py).
static const float positions[9] = {0.0f, 0.5f, 1.0f, 1.5f, -0.25f, 0.75f, -1.0f, 0.125f, 2.0f};
static const float energy[1] = {0.3119621f};
static const float forces[9] = {-0.06657405f, -0.19613096f, 0.22958899f, -0.53001034f, 0.14796783f,
                                0.19979918f,  0.59658438f,  0.04816313f, -0.42938817f};
static const float second[9] = {0.20148769f,  0.20833784f,  -0.32794479f, 0.42607886f, -0.11702380f,
                                -0.16245660f, -0.62756658f, -0.09131403f, 0.49040139f};

static taper_value *make_input(taper_context *context)
{
    static const int64_t sizes[2] = {3, 3};
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_tensor(context, TAPER_F32, 2, sizes, &value, NULL) != TAPER_OK) {
        return NULL;
    }
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    memcpy(info.data, positions, sizeof positions);
    return value;
}

static void check_result(const taper_value *result)
{
    test_check_floats(result, 0, energy, 1, 2e-6f);
    test_check_floats(result, 1, forces, 9, 2e-6f);
    test_check_floats(result, 2, second, 9, 2e-6f);
}

static void numbers(void **state)
{
    (void)state;
    for (int optimized = 0; optimized < 2; optimized++) {
        taper_context *context = test_context(NULL, 1);
        taper_model *model;
        taper_session *session;
        taper_value *input = make_input(context), *result;
        assert_int_equal(test_load(context, "forces.pt", optimized != 0, &model, NULL), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        for (int run = 0; run < 5; run++) {
            assert_int_equal(taper_session_run(session, NULL, &input, 1, &result, NULL), TAPER_OK);
            check_result(result);
            taper_value_release(result);
        }
        taper_value_release(input);
        taper_session_destroy(session);
        taper_model_release(model);
        taper_context_release(context);
    }
}

static taper_status once(taper_context *context, const void *what, taper_error *error)
{
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *result = NULL, *input = make_input(context);
    taper_status status =
        input == NULL ? TAPER_ERROR_RESOURCE : test_load(context, "forces.pt", *(const bool *)what, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    for (int run = 0; status == TAPER_OK && run < 2; run++) {
        status = taper_session_run(session, NULL, &input, 1, &result, error);
        taper_value_release(result);
        result = NULL;
    }
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void failed_allocations(void **state)
{
    (void)state;
    test_each_allocation_fails("forces.pt", once, &(bool){false});
    test_each_allocation_fails("forces.pt", once, &(bool){true});
}

// A tape that the memory budget does not allow ends the run with an error, and the session stays usable.
static void budgets(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_value *input = make_input(context), *result;
    size_t refused = 0;
    assert_int_equal(test_load(context, "forces.pt", true, &model, NULL), TAPER_OK);
    for (size_t budget = 1000; budget < 1000000; budget *= 2) {
        const taper_session_options options = {.struct_size = sizeof options, .memory_budget = budget};
        taper_session *session;
        if (taper_session_create(model, &options, &session, NULL) != TAPER_OK) {
            continue; // the limit is too small to create the session
        }
        const taper_status status = taper_session_run(session, NULL, &input, 1, &result, NULL);
        assert_true(status == TAPER_OK || status == TAPER_ERROR_RESOURCE);
        refused += status != TAPER_OK ? 1 : 0;
        if (status == TAPER_OK) {
            check_result(result);
        }
        taper_value_release(result);
        taper_session_destroy(session);
    }
    assert_true(refused > 0);
    taper_value_release(input);
    taper_model_release(model);
    taper_context_release(context);
}

typedef struct runner {
    pthread_t thread;
    taper_session *session;
    taper_value *input;
    bool right;
} runner;

static void *run_many(void *user)
{
    runner *r = user;
    r->right = true;
    for (int run = 0; run < 20 && r->right; run++) {
        taper_value *result;
        r->right = taper_session_run(r->session, NULL, &r->input, 1, &result, NULL) == TAPER_OK;
        if (r->right) {
            check_result(result);
            taper_value_release(result);
        }
    }
    return NULL;
}

static void threads(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    taper_context *context = test_context(NULL, 2);
    taper_model *model;
    taper_value *input = make_input(context);
    runner runners[THREADS];
    assert_int_equal(test_load(context, "forces.pt", true, &model, NULL), TAPER_OK);
    for (int i = 0; i < THREADS; i++) {
        runners[i].input = input;
        assert_int_equal(taper_session_create(model, NULL, &runners[i].session, NULL), TAPER_OK);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&runners[i].thread, NULL, run_many, &runners[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(runners[i].thread, NULL), 0);
        assert_true(runners[i].right);
        taper_session_destroy(runners[i].session);
    }
    taper_value_release(input);
    taper_model_release(model);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(failed_allocations),
                                       cmocka_unit_test(budgets), cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
