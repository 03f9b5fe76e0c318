// SPDX-License-Identifier: BSD-2-Clause
// Tests taper::linear_integers: compares the CPU's kernel, for each instruction set, and the reference kernel with sums
// in doubles. Covers one, few and many rows, groups that divide blocks or do not, floats and half floats, and weights
// that exceed four bits although they are declared as four-bit integers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/tensor.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "tests/limits/made_calls.h"

typedef struct form {
    int64_t rows, in, out, groups;
    bool scaled, points, bias, nibbles, turned;
    int8_t least, most;         // least and largest weight
    taper_dtype dtype, numbers; // dtype: dtype of the input; numbers: dtype of scales and zero points
} form;

static bench b;

static taper_tensor *made(taper_dtype dtype, size_t rank, const int64_t *sizes)
{
    taper_tensor *tensor;
    assert_int_equal(taper_tensor_new(b.heap, dtype, rank, sizes, NULL, &tensor, b.error), TAPER_OK);
    return tensor;
}

static taper_tensor *random_floats(taper_dtype dtype, size_t rank, const int64_t *sizes, double least, double most)
{
    taper_tensor *tensor = made(dtype, rank, sizes);
    for (int64_t i = 0; i < taper_tensor_numel(tensor); i++) {
        const taper_scalar number = {.kind = TAPER_SCALAR_DOUBLE,
                                     .f = least + (most - least) * (double)draw(&b, 1 << 16) / (1 << 16)};
        taper_scalar_store(dtype, (char *)taper_tensor_mutable(tensor) + (size_t)i * taper_tensor_item(tensor),
                           &number);
    }
    return tensor;
}

static double at(const taper_tensor *tensor, int64_t index)
{
    return taper_load_double((taper_dtype)tensor->dtype, taper_tensor_data(tensor), index);
}

// Returns a tensor of sizes [out, in], or a transposed view of a tensor of sizes [in, out].
static taper_tensor *random_weights(const form *f)
{
    const int64_t sizes[2] = {f->turned ? f->in : f->out, f->turned ? f->out : f->in};
    taper_tensor *tensor = made(TAPER_I8, 2, sizes), *view;
    int8_t *w = taper_tensor_mutable(tensor);
    for (int64_t i = 0; i < f->in * f->out; i++) {
        w[i] = (int8_t)(f->least + (int)draw(&b, (uint32_t)(f->most - f->least + 1)));
    }
    if (!f->turned) {
        return tensor;
    }
    const int64_t turned[2] = {f->out, f->in}, strides[2] = {1, f->out};
    assert_int_equal(taper_tensor_view(b.heap, tensor->storage, TAPER_I8, 0, 2, turned, strides, &view, b.error),
                     TAPER_OK);
    taper_obj_release(&tensor->head);
    return view;
}

static void check_result(const form *f, taper_tensor *const *t, const taper_tensor *result)
{
    const double relative = f->dtype == TAPER_F32 ? 2e-6 : f->dtype == TAPER_F16 ? 0x1p-11 : 0x1p-8;
    assert_int_equal(result->dtype, f->dtype);
    for (int64_t r = 0; r < f->rows; r++) {
        for (int64_t n = 0; n < f->out; n++) {
            double sum = t[4] != NULL ? at(t[4], n) : 0, magnitudes = fabs(sum);
            for (int64_t k = 0; k < f->in; k++) {
                const int64_t group = n * f->groups + k / (f->in / f->groups);
                const double q = at(t[1], n * t[1]->strides[0] + k * t[1]->strides[1]);
                const double weight = (q - (t[3] != NULL ? at(t[3], group) : 0)) * (t[2] != NULL ? at(t[2], group) : 1);
                sum += at(t[0], r * f->in + k) * weight;
                magnitudes += fabs(at(t[0], r * f->in + k) * weight);
            }
            const double error = fabs(at(result, r * f->out + n) - sum);
            const double denormal = f->dtype == TAPER_F16 ? 0x1p-24 : 0;
            if (error > relative * fabs(sum) + 2e-6 * magnitudes + denormal) {
                fail_msg("row %lld, output %lld of %lld inputs in %lld groups: %g is not %g", (long long)r,
                         (long long)n, (long long)f->in, (long long)f->groups, at(result, r * f->out + n), sum);
            }
        }
    }
}

static void try_form(const form *f)
{
    const int64_t x_sizes[2] = {f->rows, f->in}, groups[2] = {f->out, f->groups};
    taper_tensor *t[5] = {random_floats(f->dtype, 2, x_sizes, -1, 1), random_weights(f),
                          f->scaled ? random_floats(f->numbers, 2, groups, 0.001, 0.1) : NULL,
                          f->points ? random_floats(f->numbers, 2, groups, -8, 7) : NULL,
                          f->bias ? random_floats(f->dtype, 1, &f->out, -1, 1) : NULL};
    taper_val args[8], result = taper_val_none();
    for (size_t i = 0; i < 5; i++) {
        args[i] = t[i] != NULL ? TAPER_VAL(t[i]) : taper_val_none();
    }
    args[5] = taper_val_int(f->nibbles ? 4 : 8);
    args[6] = taper_val_int(f->dtype);
    args[7] = taper_val_bool(true);
    const taper_op *op = TAPER_OP(taper_linear_integers);
    taper_call call = {.run = &b.run, .op = op, .args = args, .arg_count = 8, .rets = &result, .ret_count = 1};
    assert_int_equal(taper_registry_schema(b.registry, op, &call.schema, b.error), TAPER_OK);
    if (call_kernels(&b, &call) != TAPER_OK) {
        fail_msg("%s", taper_error_message(b.error));
    }
    check_result(f, t, result.as.tensor);
    taper_val_release(result);
    result = taper_val_none();
    assert_int_equal(taper_call_kernel(&call, taper_row_kernel(op)), TAPER_OK);
    check_result(f, t, result.as.tensor);
    taper_val_release(result);
    // A matrix product must refuse a one-dimensional tensor.
    taper_tensor *row = random_floats(f->dtype, 1, &f->in, -1, 1);
    taper_val_release(args[0]);
    args[0] = TAPER_VAL(row);
    assert_int_equal(call_kernels(&b, &call), TAPER_ERROR_ARGUMENT);
    for (size_t i = 0; i < 5; i++) {
        taper_val_release(args[i]);
    }
}

static void products_are_right(void **state)
{
    (void)state;
    static const int64_t rows[] = {1, 2, 3, 4, 5, 30}, ins[] = {1, 8, 24, 64, 96, 320}, outs[] = {1, 5, 32, 33, 70};
    static const taper_dtype dtypes[] = {TAPER_F32, TAPER_BF16, TAPER_F16};
    const taper_narrow_entry *entry;
    bench_open(&b, "taper::linear_integers");
    b.run.stop = NULL;
    const uint64_t all = b.run.cpu;
    for (size_t e = 0; (entry = taper_narrow_f32_entry_at(e)) != NULL; e++) {
        if ((all & entry->cpu) != entry->cpu) {
            continue;
        }
        b.run.cpu = entry->cpu;
        for (int round = 0; round < 150; round++) {
            form f = {.rows = rows[draw(&b, 6)],
                      .in = ins[draw(&b, 6)],
                      .out = outs[draw(&b, 5)],
                      .groups = 1,
                      .scaled = draw(&b, 4) != 0,
                      .points = draw(&b, 2) != 0,
                      .bias = draw(&b, 2) != 0,
                      .nibbles = draw(&b, 2) != 0,
                      .turned = draw(&b, 4) == 0,
                      .dtype = dtypes[draw(&b, 3)],
                      .numbers = dtypes[draw(&b, 3)]};
            if (f.scaled || f.points) {
                f.groups = f.in % 32 == 0 && draw(&b, 2) != 0 ? f.in / 32 : f.in % 8 == 0 ? f.in / 8 : f.in;
            }
            const bool wide = !f.nibbles || draw(&b, 4) == 0;
            f.least = wide ? -128 : -8;
            f.most = wide ? 127 : 7;
            try_form(&f);
        }
    }
    assert_true(bench_close(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
