// SPDX-License-Identifier: BSD-2-Clause
// Tests aten::_int_mm: compares the CPU's kernel, for each instruction set, and the reference kernel with sums of
// integers. Covers depths around and above one chunk (the depth up to which float sums are exact), signed and unsigned
// bytes, the largest sums, and strided matrices.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/tensor.h"
#include "ops/kernels/kernel_select.h"
#include "tests/limits/made_calls.h"

typedef struct form {
    int64_t rows, in, out;
    taper_dtype dtype;
    bool largest, turned[2];
} form;

static bench b;

// Makes a matrix of bytes. If f->turned[at] is true, it is a view of its transpose in memory.
static taper_tensor *matrix(taper_dtype dtype, int64_t rows, int64_t columns, const form *f, size_t at)
{
    const bool turned = f->turned[at];
    const int64_t sizes[2] = {turned ? columns : rows, turned ? rows : columns};
    taper_tensor *tensor, *view;
    assert_int_equal(taper_tensor_new(b.heap, dtype, 2, sizes, NULL, &tensor, b.error), TAPER_OK);
    for (int64_t i = 0; i < rows * columns; i++) {
        const uint8_t extreme = dtype == TAPER_U8 ? 255 : 128;
        ((uint8_t *)taper_tensor_mutable(tensor))[i] = f->largest ? extreme : (uint8_t)draw(&b, 256);
    }
    if (!turned) {
        return tensor;
    }
    const int64_t shown[2] = {rows, columns}, strides[2] = {1, rows};
    assert_int_equal(taper_tensor_view(b.heap, tensor->storage, dtype, 0, 2, shown, strides, &view, b.error), TAPER_OK);
    taper_obj_release(&tensor->head);
    return view;
}

static int32_t byte_at(const taper_tensor *t, int64_t row, int64_t column)
{
    const uint8_t byte = ((const uint8_t *)taper_tensor_data(t))[row * t->strides[0] + column * t->strides[1]];
    return t->dtype == TAPER_U8 ? byte : (int8_t)byte;
}

static void check_result(const form *f, const taper_tensor *x, const taper_tensor *w, const taper_tensor *y)
{
    assert_int_equal(y->dtype, TAPER_I32);
    for (int64_t r = 0; r < f->rows; r++) {
        for (int64_t n = 0; n < f->out; n++) {
            int32_t sum = 0;
            for (int64_t k = 0; k < f->in; k++) {
                sum += byte_at(x, r, k) * byte_at(w, k, n);
            }
            const int32_t found = ((const int32_t *)taper_tensor_data(y))[r * f->out + n];
            if (found != sum) {
                fail_msg("%s, [%lld, %lld] by [%lld, %lld]: %d is not %d", b.run.kernel, (long long)f->rows,
                         (long long)f->in, (long long)f->in, (long long)f->out, found, sum);
            }
        }
    }
}

static void try_form(const form *f)
{
    taper_tensor *x = matrix(f->dtype, f->rows, f->in, f, 0), *w = matrix(TAPER_I8, f->in, f->out, f, 1);
    taper_val args[2] = {TAPER_VAL(x), TAPER_VAL(w)}, result = taper_val_none();
    const taper_op *op = TAPER_OP(aten__int_mm);
    taper_call call = {.run = &b.run, .op = op, .args = args, .arg_count = 2, .rets = &result, .ret_count = 1};
    assert_int_equal(taper_registry_schema(b.registry, op, &call.schema, b.error), TAPER_OK);
    b.run.kernel = NULL;
    if (call_kernels(&b, &call) != TAPER_OK) {
        fail_msg("%s", taper_error_message(b.error));
    }
    assert_non_null(b.run.kernel);
    check_result(f, x, w, result.as.tensor);
    taper_val_release(result);
    result = taper_val_none();
    assert_int_equal(taper_call_kernel(&call, taper_row_kernel(op)), TAPER_OK);
    check_result(f, x, w, result.as.tensor);
    taper_val_release(result);
    taper_val_release(args[0]);
    taper_val_release(args[1]);
}

static void products_are_exact(void **state)
{
    (void)state;
    static const int64_t rows[] = {1, 2, 5, 16, 30}, ins[] = {1, 7, 64, 500, 512, 513, 1100},
                         outs[] = {1, 5, 32, 33, 70};
    const taper_gemm_i8_entry *entry;
    bench_open(&b, "aten::_int_mm");
    b.run.stop = NULL;
    const uint64_t all = b.run.cpu;
    for (size_t e = 0; (entry = taper_gemm_i8_entry_at(e)) != NULL; e++) {
        if ((all & entry->cpu) != entry->cpu) {
            continue;
        }
        b.run.cpu = entry->cpu;
        for (int round = 0; round < 60; round++) {
            const form f = {.rows = rows[draw(&b, 5)],
                            .in = ins[draw(&b, 7)],
                            .out = outs[draw(&b, 5)],
                            .dtype = draw(&b, 2) != 0 ? TAPER_U8 : TAPER_I8,
                            .largest = draw(&b, 4) == 0,
                            .turned = {draw(&b, 2) != 0, draw(&b, 2) != 0}};
            try_form(&f);
        }
    }
    assert_true(bench_close(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
