// SPDX-License-Identifier: BSD-2-Clause
// The nuclear norm, which is the sum of a matrix's singular values, by one-sided Jacobi rotations. Each scripted
// torch.norm contains a call of this operator, but hardly any model runs it.
#include <math.h>

#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/engine/reduce.h"

enum { SWEEPS = 60 };

// Rotates columns p and q so that they become orthogonal. Returns false if they were orthogonal before.
static bool rotate(size_t rows, double *p, double *q)
{
    double alpha = 0, beta = 0, gamma = 0;
    for (size_t i = 0; i < rows; i++) {
        alpha += p[i] * p[i];
        beta += q[i] * q[i];
        gamma += p[i] * q[i];
    }
    if (!(fabs(gamma) > 1e-15 * sqrt(alpha * beta))) {
        return false;
    }
    const double zeta = (beta - alpha) / (2 * gamma);
    const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + t * t), s = c * t;
    for (size_t i = 0; i < rows; i++) {
        const double v = p[i];
        p[i] = c * v - s * q[i];
        q[i] = s * v + c * q[i];
    }
    return true;
}

// Computes the norm of a matrix with contiguous columns, which are `rows` elements apart.
static double nuclear(taper_run *run, double *a, size_t rows, size_t columns)
{
    bool turned = true;
    for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
        turned = false;
        for (size_t p = 0; p + 1 < columns; p++) {
            for (size_t q = p + 1; q < columns && taper_run_goes_on(run, rows * 6 + 50); q++) {
                turned = rotate(rows, a + p * rows, a + q * rows) || turned;
            }
        }
    }
    double sum = 0;
    for (size_t p = 0; p < columns; p++) {
        double square = 0;
        for (size_t i = 0; i < rows; i++) {
            square += a[p * rows + i] * a[p * rows + i];
        }
        sum += sqrt(square);
    }
    return sum;
}

// Stores a complex number in a real matrix of twice the size, [[re, -im], [im, re]], which has each singular value
// twice.
static void put_complex(double *a, size_t rows, size_t columns, size_t r, size_t c, const void *from, taper_dtype dtype)
{
    taper_scalar x;
    taper_scalar_load(dtype, from, &x);
    a[c * 2 * rows + r] = a[(columns + c) * 2 * rows + rows + r] = x.f;
    a[c * 2 * rows + rows + r] = x.im;
    a[(columns + c) * 2 * rows + r] = -x.im;
}

static taper_status run_nuclear(taper_call *call, size_t first, size_t second, bool keep)
{
    taper_tensor *x, *out;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const taper_dtype dtype = (taper_dtype)x->dtype, real = taper_dtype_to_real(dtype);
    const bool complex = dtype != real;
    if (real != TAPER_F32 && real != TAPER_F64) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "linalg.svd: float32, float64, complex64 or complex128 is needed, not %s",
                   taper_dtype_torch_name(dtype));
    }
    if (x->sizes[first] < x->sizes[second]) { // the smaller dimension becomes the columns
        const size_t t = first;
        first = second;
        second = t;
    }
    const size_t rows = (size_t)x->sizes[first], columns = (size_t)x->sizes[second];
    bool over[TAPER_MAX_RANK] = {false};
    int64_t sizes[TAPER_MAX_RANK];
    over[first] = over[second] = true;
    const size_t rank = taper_reduce_sizes(x, over, keep, sizes);
    size_t bytes;
    if (!taper_mul_size(rows, columns, &bytes) || !taper_mul_size(bytes, (complex ? 4 : 1) * sizeof(double), &bytes)) {
        return taper_fail_memory(error);
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, real, rank, sizes, NULL, &out, error));
    double *a = taper_heap_alloc(call->run->heap, bytes + sizeof(double));
    if (a == NULL) {
        taper_tensor_drop(out);
        return taper_fail_memory(error);
    }
    // Walks over the kept dimensions from the first to the last, because the result is written in order.
    taper_walk matrices;
    taper_walk_begin(&matrices, 1);
    for (size_t i = x->rank; i-- > 0;) {
        if (!over[i]) {
            *taper_walk_add(&matrices, x->sizes[i]) = taper_tensor_step(x, i);
        }
    }
    const int64_t total = taper_tensor_numel(out);
    for (int64_t k = 0; k < total && taper_run_goes_on(call->run, 100); k++) {
        const int64_t base = matrices.at[0];
        for (size_t c = 0; c < columns && taper_run_goes_on(call->run, rows * 20 + 20); c++) {
            for (size_t r = 0; r < rows; r++) {
                const int64_t at = base + (int64_t)r * x->strides[first] + (int64_t)c * x->strides[second];
                if (complex) {
                    put_complex(a, rows, columns, r, c,
                                (const char *)taper_tensor_data(x) + at * (int64_t)taper_tensor_item(x), dtype);
                } else {
                    a[c * rows + r] = taper_load_double(dtype, taper_tensor_data(x), at);
                }
            }
        }
        const double sum =
            complex ? nuclear(call->run, a, 2 * rows, 2 * columns) / 2 : nuclear(call->run, a, rows, columns);
        const taper_scalar norm = taper_scalar_double(sum);
        taper_scalar_store(real, (char *)taper_tensor_mutable(out) + (size_t)k * taper_tensor_item(out), &norm);
        (void)taper_walk_next(&matrices);
    }
    taper_heap_free(call->run->heap, a, bytes + sizeof(double));
    return taper_ret_tensor(call, 0, out);
}

TAPER_KERNEL(taper_op_nuclear_norm)
{
    taper_tensor *x;
    bool keep;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_bool(call, 1, &keep));
    if (x->rank != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expected a tensor with 2 dimensions, but got a tensor with %u dimension(s)", x->rank);
    }
    return run_nuclear(call, 0, 1, keep);
}

TAPER_KERNEL(taper_op_nuclear_norm_dim)
{
    taper_tensor *x;
    bool keep, over[TAPER_MAX_RANK];
    int64_t dims[2];
    size_t count, first, second;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 2, 2, dims, &count));
    TAPER_TRY(taper_arg_bool(call, 2, &keep));
    TAPER_TRY(taper_reduce_dims_arg(call, 1, x->rank, over)); // fails if a dimension is named twice
    TAPER_TRY(taper_wrap_dim_or_fail(dims[0], x->rank, &first, call->run->error));
    TAPER_TRY(taper_wrap_dim_or_fail(dims[1], x->rank, &second, call->run->error));
    if (x->rank < 2 || first == second) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'dim': two different dimensions are needed");
    }
    return run_nuclear(call, first, second, keep);
}
