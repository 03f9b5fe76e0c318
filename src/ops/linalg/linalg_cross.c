// SPDX-License-Identifier: BSD-2-Clause
// Products of vectors along a dimension: cross and vecdot.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { FIRST, SECOND, RESULT }; // numbers of the slots for temporaries

// Broadcasts the tensor to sizes, and copies it to contiguous memory of this dtype, with dimension dim moved to the
// end.
static taper_status gather(taper_linalg *w, size_t slot, const taper_tensor *tensor, size_t rank, const int64_t *sizes,
                           size_t dim, taper_dtype dtype)
{
    int64_t strides[TAPER_MAX_RANK], turned[TAPER_MAX_RANK], steps[TAPER_MAX_RANK];
    (void)taper_broadcast_strides(tensor, rank, sizes, strides);
    for (size_t i = 0; i < rank; i++) {
        const size_t from = i + 1 == rank ? dim : i < dim ? i : i + 1;
        turned[i] = sizes[from];
        steps[i] = strides[from];
    }
    const taper_tensor twin = taper_tensor_twin(tensor, rank, turned, steps);
    TAPER_TRY(taper_tensor_new(w->run->heap, dtype, rank, turned, NULL, &w->t[slot], w->run->error));
    return taper_run_copy(w->run, w->t[slot], &twin);
}

static taper_status common_sizes(taper_linalg *w, const taper_tensor *a, const taper_tensor *b, size_t *rank,
                                 int64_t *sizes)
{
    if (a->dtype != b->dtype) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: expected scalar type %s but found %s", w->name,
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    if (!taper_broadcast_shapes(a->rank, a->sizes, b->rank, b->sizes, rank, sizes)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: sizes %s and %s do not broadcast", w->name, TAPER_SHAPE(a),
                   TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

// ---- cross

// Computes the cross product of integers, which wraps around.
static void cross_ints(const int64_t *a, const int64_t *b, int64_t *c)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = (int64_t)((uint64_t)a[j] * (uint64_t)b[k] - (uint64_t)a[k] * (uint64_t)b[j]);
    }
}

static void cross_reals(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static void cross_complex(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const taper_c128 product =
            taper_c_sub(taper_c_mul(taper_c(a[2 * j], a[2 * j + 1]), taper_c(b[2 * k], b[2 * k + 1])),
                        taper_c_mul(taper_c(a[2 * k], a[2 * k + 1]), taper_c(b[2 * j], b[2 * j + 1])));
        c[2 * i] = product.re;
        c[2 * i + 1] = product.im;
    }
}

static taper_status run_cross(taper_linalg *w, const taper_tensor *a, const taper_tensor *b, int64_t given)
{
    size_t rank, dim;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], steps[TAPER_MAX_RANK];
    taper_tensor *result;
    const taper_dtype dtype = (taper_dtype)a->dtype;
    const bool whole = taper_dtype_is_integral(dtype), complex = taper_dtype_is_complex(dtype);
    if (a->rank != b->rank) {
        return taper_linalg_fail(w, "inputs must have the same number of dimensions.");
    }
    TAPER_TRY(taper_wrap_dim_or_fail(given, a->rank, &dim, w->run->error));
    if (a->rank == 0 || a->sizes[dim] != 3 || b->sizes[dim] != 3) {
        return taper_linalg_fail(w, "inputs dimension 'dim' must have length 3.");
    }
    if (!whole && !complex && dtype != TAPER_F32 && dtype != TAPER_F64 && dtype != TAPER_BF16) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "\"cross\" not implemented for '%s'",
                   taper_dtype_torch_name(dtype));
    }
    TAPER_TRY(common_sizes(w, a, b, &rank, sizes));
    const taper_dtype wide = whole ? TAPER_I64 : taper_linalg_wide(dtype);
    TAPER_TRY(gather(w, FIRST, a, rank, sizes, dim, wide));
    TAPER_TRY(gather(w, SECOND, b, rank, sizes, dim, wide));
    taper_tensor *const x = w->t[FIRST], *const y = w->t[SECOND];
    TAPER_TRY(taper_tensor_new(w->run->heap, wide, rank, x->sizes, NULL, &w->t[RESULT], w->run->error));
    const int64_t count = taper_tensor_numel(x) / 3;
    const double *p = taper_linalg_doubles(x), *q = taper_linalg_doubles(y);
    double *r = taper_linalg_doubles(w->t[RESULT]);
    for (int64_t i = 0; i < count && whole; i++) {
        cross_ints((const int64_t *)taper_tensor_data(x) + 3 * i, (const int64_t *)taper_tensor_data(y) + 3 * i,
                   (int64_t *)taper_tensor_mutable(w->t[RESULT]) + 3 * i);
    }
    for (int64_t i = 0; i < count && complex; i++) {
        cross_complex(p + 6 * i, q + 6 * i, r + 6 * i);
    }
    for (int64_t i = 0; i < count && !whole && !complex; i++) {
        cross_reals(p + 3 * i, q + 3 * i, r + 3 * i);
    }
    // Moves the last dimension of the result back to dimension dim.
    memcpy(strides, w->t[RESULT]->strides, rank * sizeof *strides);
    for (size_t i = 0; i < rank; i++) {
        steps[i] = i == dim ? strides[rank - 1] : strides[i < dim ? i : i - 1];
    }
    const taper_tensor twin = taper_tensor_twin(w->t[RESULT], rank, sizes, steps);
    TAPER_TRY(taper_ret_new(w->call, 0, dtype, rank, sizes, NULL, &result));
    return taper_run_copy(w->run, result, &twin);
}

static taper_status linalg_cross(taper_linalg *w)
{
    taper_tensor *a, *b;
    int64_t dim;
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &b));
    TAPER_TRY(taper_arg_int(w->call, 2, &dim));
    return run_cross(w, a, b, dim);
}

TAPER_KERNEL(taper_op_linalg_cross)
{
    return taper_linalg_run(call, "linalg.cross", linalg_cross);
}

// Computes torch.cross, which uses the first dimension of size 3 if no dimension is given.
static taper_status old_cross(taper_linalg *w)
{
    taper_tensor *a, *b;
    int64_t dim = 0;
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &b));
    while (dim < a->rank && a->sizes[dim] != 3) {
        dim++;
    }
    if (taper_arg_is_none(w->call, 2) && dim == a->rank) {
        return taper_linalg_fail(w, "no dimension of size 3 in input");
    }
    TAPER_TRY(taper_arg_int_or(w->call, 2, dim, &dim));
    return run_cross(w, a, b, dim);
}

TAPER_KERNEL(taper_op_cross)
{
    return taper_linalg_run(call, "linalg.cross", old_cross);
}

// ---- vecdot

static taper_status vecdot(taper_linalg *w)
{
    taper_tensor *a, *b;
    size_t rank, dim;
    int64_t sizes[TAPER_MAX_RANK], given;
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &b));
    TAPER_TRY(taper_arg_int(w->call, 2, &given));
    const taper_dtype dtype = (taper_dtype)a->dtype, wide = taper_linalg_wide(dtype);
    const bool complex = wide == TAPER_C128;
    if (!taper_dtype_is_float(dtype) && !complex) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: Expected a floating point or complex tensor as input. Got %s", w->name,
                   taper_dtype_torch_name(dtype));
    }
    TAPER_TRY(common_sizes(w, a, b, &rank, sizes));
    if (a->rank == 1 && b->rank == 1 && a->sizes[0] != b->sizes[0]) {
        return taper_linalg_fail(w, "inconsistent tensor size: vectors are not broadcast");
    }
    TAPER_TRY(taper_wrap_dim_or_fail(given, rank, &dim, w->run->error));
    if (rank == 0) {
        sizes[rank++] = 1;
    }
    TAPER_TRY(gather(w, FIRST, a, rank, sizes, dim, wide));
    TAPER_TRY(gather(w, SECOND, b, rank, sizes, dim, wide));
    taper_linalg_batch batch = {.rank = rank - 1};
    memcpy(batch.sizes, w->t[FIRST]->sizes, batch.rank * sizeof *batch.sizes);
    TAPER_TRY(taper_linalg_new_vectors(w, RESULT, wide, &batch, -1));
    const int64_t count = taper_tensor_numel(w->t[RESULT]), n = sizes[dim], width = complex ? 2 : 1;
    for (int64_t i = 0; i < count; i++) {
        const taper_c128 dot = taper_vector_dot(complex, true, n, taper_linalg_doubles(w->t[FIRST]) + i * n * width, 1,
                                                taper_linalg_doubles(w->t[SECOND]) + i * n * width, 1);
        taper_linalg_doubles(w->t[RESULT])[i * width] = dot.re;
        if (complex) {
            taper_linalg_doubles(w->t[RESULT])[i * width + 1] = dot.im;
        }
    }
    return taper_linalg_ret(w, 0, RESULT, dtype, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_vecdot)
{
    return taper_linalg_run(call, "linalg.vecdot", vecdot);
}
