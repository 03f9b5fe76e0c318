// SPDX-License-Identifier: BSD-2-Clause
// Tests gradients that the program asks for after runs (taper_gradient.h): numbers, several runs and operators
// together, errors, failed allocations, released handles, and threads that share an input.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_gradient.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"

// The numbers that PyTorch 1.13 computes (scripts/oracle/make_gradients.py), the same as in gradients_test.c: minus the
// gradient of the method energy, and the gradient of the squares of the gradient.
static const float positions[9] = {0.0f, 0.5f, 1.0f, 1.5f, -0.25f, 0.75f, -1.0f, 0.125f, 2.0f};
static const float forces[9] = {-0.06657405f, -0.19613096f, 0.22958899f, -0.53001034f, 0.14796783f,
                                0.19979918f,  0.59658438f,  0.04816313f, -0.42938817f};
static const float second[9] = {0.20148769f,  0.20833784f,  -0.32794479f, 0.42607886f, -0.11702380f,
                                -0.16245660f, -0.62756658f, -0.09131403f, 0.49040139f};

typedef struct bench {
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input;
} bench;

static taper_status make_input(taper_context *context, taper_value **value, taper_error *error)
{
    static const int64_t sizes[2] = {3, 3};
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_status status = taper_value_tensor(context, TAPER_F32, 2, sizes, value, error);
    status = status == TAPER_OK ? taper_value_get_tensor(*value, &info, error) : status;
    if (status == TAPER_OK) {
        memcpy(info.data, positions, sizeof positions);
        status = taper_value_require_gradient(*value, 1, error);
    }
    return status;
}

static taper_status bench_open(taper_context *context, bench *b, uint64_t flags, bool optimized, taper_error *error)
{
    char path[512];
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = optimized ? taper_compiler() : NULL, .flags = flags};
    *b = (bench){.context = context};
    test_path("forces.pt", path, sizeof path);
    taper_status status = make_input(context, &b->input, error);
    status = status == TAPER_OK ? taper_model_load(context, path, &options, &b->model, error) : status;
    return status == TAPER_OK ? taper_session_create(b->model, NULL, &b->session, error) : status;
}

static void bench_close(bench *b)
{
    taper_value_release(b->input);
    taper_session_destroy(b->session);
    taper_model_release(b->model);
}

static taper_status run_energy(const bench *b, taper_value **energy, taper_error *error)
{
    return taper_session_run(b->session, "energy", &b->input, 1, energy, error);
}

static taper_status gradient_of(const bench *b, taper_value *output, const taper_gradient_options *options,
                                taper_value **gradient, taper_error *error)
{
    return taper_session_gradient(b->session, &output, 1, (taper_value *[]){b->input}, 1, options, gradient, error);
}

static bool is_close(const taper_value *value, const float *want, float factor)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    bool close = taper_value_get_tensor(value, &info, NULL) == TAPER_OK && info.rank == 2;
    for (size_t i = 0; close && i < 9; i++) {
        close = fabsf(((const float *)info.data)[i] - factor * want[i]) < 2e-6f;
    }
    return close;
}

static int requires(const taper_value *value)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    return info.requires_grad;
}

static void numbers(void **state)
{
    (void)state;
    for (int optimized = 0; optimized < 2; optimized++) {
        bench b;
        taper_context *context = test_context(NULL, 1);
        assert_int_equal(bench_open(context, &b, TAPER_LOAD_GRADIENTS, optimized != 0, NULL), TAPER_OK);
        for (int run = 0; run < 5; run++) {
            taper_value *energy, *gradient;
            assert_int_equal(run_energy(&b, &energy, NULL), TAPER_OK);
            assert_int_equal(requires(energy), 1);
            assert_int_equal(gradient_of(&b, energy, NULL, &gradient, NULL), TAPER_OK);
            assert_true(is_close(gradient, forces, -1));
            assert_int_equal(requires(gradient), 0);
            taper_value_release(gradient);
            taper_value_release(energy);
        }
        bench_close(&b);
        taper_context_release(context);
    }
}

// Calls an operator of one result with two arguments, and records it.
static taper_value *call(taper_context *context, const char *name, taper_value *a, taper_value *b)
{
    taper_operator *op;
    taper_value *result;
    assert_int_equal(taper_operator_find(context, name, &op, NULL), TAPER_OK);
    assert_int_equal(taper_operator_record(op, 1, NULL), TAPER_OK);
    assert_int_equal(taper_operator_call(op, (taper_value *[]){a, b}, b != NULL ? 2 : 1, &result, 1, NULL), TAPER_OK);
    taper_operator_release(op); // the tensors keep the recorded call alive after the operator is released
    return result;
}

// The gradient of a sum of two runs and of operators between them, and the gradient of a gradient.
static void several_calls(void **state)
{
    (void)state;
    const taper_gradient_options creates = {.struct_size = sizeof creates, .create_graph = 1};
    bench b, other;
    taper_value *energies[2], *sum, *gradient, *square, *total;
    taper_context *context = test_context(NULL, 1);
    assert_int_equal(bench_open(context, &b, TAPER_LOAD_GRADIENTS, true, NULL), TAPER_OK);
    assert_int_equal(bench_open(context, &other, TAPER_LOAD_GRADIENTS, false, NULL), TAPER_OK);
    assert_int_equal(run_energy(&b, &energies[0], NULL), TAPER_OK);
    assert_int_equal(taper_session_run(other.session, "energy", &b.input, 1, &energies[1], NULL), TAPER_OK);
    sum = call(context, "aten::add.Tensor", energies[0], energies[1]);
    taper_value_release(energies[0]);
    taper_value_release(energies[1]);
    bench_close(&other); // the recorded nodes of the model live as long as the sum
    assert_int_equal(gradient_of(&b, sum, &creates, &gradient, NULL), TAPER_OK);
    assert_true(is_close(gradient, forces, -2));
    assert_int_equal(requires(gradient), 1);
    square = call(context, "aten::mul.Tensor", gradient, gradient);
    total = call(context, "aten::sum", square, NULL);
    taper_value_release(gradient);
    taper_value_release(square);
    taper_value_release(sum);
    assert_int_equal(gradient_of(&b, total, NULL, &gradient, NULL), TAPER_OK);
    assert_true(is_close(gradient, second, 4));
    taper_value_release(gradient);
    taper_value_release(total);
    bench_close(&b);
    taper_context_release(context);
}

static void check_refused(const bench *b, taper_value *output, taper_value *input, const char *words)
{
    taper_error *error = taper_error_create();
    taper_value *gradient;
    assert_int_equal(taper_session_gradient(b->session, &output, 1, &input, 1, NULL, &gradient, error),
                     TAPER_ERROR_ARGUMENT);
    assert_null(gradient);
    assert_non_null(strstr(taper_error_message(error), words));
    taper_error_destroy(error);
}

static void errors(void **state)
{
    (void)state;
    bench b, plain;
    taper_value *energy, *gradient, *number, *list[2];
    taper_context *context = test_context(NULL, 1);
    assert_int_equal(bench_open(context, &b, TAPER_LOAD_GRADIENTS, true, NULL), TAPER_OK);
    assert_int_equal(run_energy(&b, &energy, NULL), TAPER_OK);
    assert_int_equal(make_input(context, &list[0], NULL), TAPER_OK);
    check_refused(&b, energy, list[0], "appears to not have been used in the graph");
    check_refused(&b, list[0], b.input, "grad can be implicitly created only for scalar outputs");
    assert_int_equal(taper_value_require_gradient(list[0], 0, NULL), TAPER_OK);
    check_refused(&b, energy, list[0], "does not require grad");
    check_refused(&b, list[0], b.input, "does not require grad");
    assert_int_equal(taper_value_require_gradient(energy, 0, NULL), TAPER_ERROR_ARGUMENT);
    const taper_gradient_options keeps = {.struct_size = sizeof keeps, .keep_graph = 1};
    assert_int_equal(gradient_of(&b, energy, &keeps, &gradient, NULL), TAPER_OK);
    taper_value_release(gradient);
    assert_int_equal(gradient_of(&b, energy, NULL, &gradient, NULL), TAPER_OK);
    taper_value_release(gradient);
    check_refused(&b, energy, b.input, "backward through the graph a second time");
    taper_value_release(energy);
    // Tests a session that does not record, and a session of a model that never records.
    assert_int_equal(taper_session_record(b.session, 0, NULL), TAPER_OK);
    assert_int_equal(run_energy(&b, &energy, NULL), TAPER_OK);
    check_refused(&b, energy, b.input, "does not require grad");
    taper_value_release(energy);
    assert_int_equal(taper_session_record(b.session, 1, NULL), TAPER_OK);
    assert_int_equal(run_energy(&b, &energy, NULL), TAPER_OK);
    assert_int_equal(bench_open(context, &plain, 0, true, NULL), TAPER_OK);
    check_refused(&plain, energy, b.input, "TAPER_LOAD_GRADIENTS");
    assert_int_equal(taper_session_record(plain.session, 1, NULL), TAPER_ERROR_ARGUMENT);
    taper_value_release(energy);
    assert_int_equal(run_energy(&plain, &energy, NULL), TAPER_OK); // the recording of this session ended with its run
    check_refused(&b, energy, b.input, "appears to not have been used in the graph");
    taper_value_release(energy);
    // Values that cannot have gradients are refused.
    assert_int_equal(taper_value_int(context, 1, &number, NULL), TAPER_OK);
    assert_int_equal(taper_value_require_gradient(number, 1, NULL), TAPER_ERROR_ARGUMENT);
    check_refused(&b, number, b.input, "not a Tensor");
    assert_int_equal(taper_value_tensor(context, TAPER_I64, 0, NULL, &list[1], NULL), TAPER_OK);
    assert_int_equal(taper_value_require_gradient(list[1], 1, NULL), TAPER_ERROR_ARGUMENT);
    taper_value_release(list[0]);
    taper_value_release(list[1]);
    taper_value_release(number);
    bench_close(&plain);
    bench_close(&b);
    taper_context_release(context);
}

static void null_arguments(void **state)
{
    (void)state;
    bench b;
    taper_value *gradient;
    taper_context *context = test_context(NULL, 1);
    assert_int_equal(bench_open(context, &b, TAPER_LOAD_GRADIENTS, true, NULL), TAPER_OK);
    assert_int_equal(taper_value_require_gradient(NULL, 1, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_record(NULL, 1, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_operator_record(NULL, 1, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_gradient(NULL, &b.input, 1, &b.input, 1, NULL, &gradient, NULL),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_gradient(b.session, NULL, 1, &b.input, 1, NULL, &gradient, NULL),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_gradient(b.session, &b.input, 1, NULL, 1, NULL, &gradient, NULL),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_gradient(b.session, &b.input, 1, &b.input, 1, NULL, NULL, NULL),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_gradient(b.session, &b.input, 1, (taper_value *[]){NULL}, 1, NULL, &gradient, NULL),
                     TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_session_gradient(b.session, &b.input, 1, &b.input, 1, NULL, &b.input, NULL),
                     TAPER_ERROR_ARGUMENT);
    bench_close(&b);
    taper_context_release(context);
}

static taper_status once(taper_context *context, const void *what, taper_error *error)
{
    const taper_gradient_options creates = {.struct_size = sizeof creates, .create_graph = 1};
    bench b;
    taper_value *energy = NULL, *gradient = NULL;
    taper_status status = bench_open(context, &b, TAPER_LOAD_GRADIENTS, *(const bool *)what, error);
    for (int run = 0; status == TAPER_OK && run < 2; run++) {
        status = run_energy(&b, &energy, error);
        status = status == TAPER_OK ? gradient_of(&b, energy, run == 0 ? NULL : &creates, &gradient, error) : status;
        taper_value_release(gradient);
        taper_value_release(energy);
        energy = gradient = NULL;
    }
    bench_close(&b);
    return status;
}

static void failed_allocations(void **state)
{
    (void)state;
    test_each_allocation_fails("forces.pt", once, &(bool){true});
}

// A loop of steps, as in molecular dynamics, must not keep memory of earlier steps.
static void memory(void **state)
{
    (void)state;
    test_allocator counted;
    test_allocator_init(&counted);
    taper_context *context = test_context(&counted, 1);
    bench b;
    size_t after_few = 0;
    assert_int_equal(bench_open(context, &b, TAPER_LOAD_GRADIENTS, true, NULL), TAPER_OK);
    for (int step = 0; step < 200; step++) {
        taper_value *energy, *gradient, *input = b.input;
        assert_int_equal(make_input(context, &b.input, NULL), TAPER_OK);
        taper_value_release(input);
        assert_int_equal(run_energy(&b, &energy, NULL), TAPER_OK);
        assert_int_equal(gradient_of(&b, energy, NULL, &gradient, NULL), TAPER_OK);
        taper_value_release(gradient);
        taper_value_release(energy);
        after_few = step == 20 ? atomic_load(&counted.bytes) : after_few;
    }
    assert_int_equal(atomic_load(&counted.bytes), after_few);
    bench_close(&b);
    taper_context_release(context);
    assert_int_equal(atomic_load(&counted.blocks), 0);
}

typedef struct runner {
    pthread_t thread;
    bench b;
    bool right;
} runner;

static void *run_many(void *user)
{
    runner *r = user;
    r->right = true;
    for (int run = 0; run < 50 && r->right; run++) {
        taper_value *energy = NULL, *gradient = NULL;
        r->right = run_energy(&r->b, &energy, NULL) == TAPER_OK &&
                   gradient_of(&r->b, energy, NULL, &gradient, NULL) == TAPER_OK && is_close(gradient, forces, -1);
        taper_value_release(gradient);
        taper_value_release(energy);
    }
    return NULL;
}

static void threads(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    taper_context *context = test_context(NULL, 2);
    runner runners[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(bench_open(context, &runners[i].b, TAPER_LOAD_GRADIENTS, true, NULL), TAPER_OK);
        if (i != 0) {
            taper_value_release(runners[i].b.input);
            runners[i].b.input = taper_value_retain(runners[0].b.input);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&runners[i].thread, NULL, run_many, &runners[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(runners[i].thread, NULL), 0);
        assert_true(runners[i].right);
    }
    for (int i = 0; i < THREADS; i++) {
        bench_close(&runners[i].b);
    }
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),        cmocka_unit_test(several_calls),      cmocka_unit_test(errors),
        cmocka_unit_test(null_arguments), cmocka_unit_test(failed_allocations), cmocka_unit_test(memory),
        cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
