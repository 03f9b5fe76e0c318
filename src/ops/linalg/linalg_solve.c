// SPDX-License-Identifier: BSD-2-Clause
// Systems of equations and inverses by LU: solve, inv, tensorsolve and tensorinv.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"
#include "ops/linalg/linalg.h"

enum { RESULT, LU, PIVOTS, INFOS, EXTRA, FLAT }; // numbers of the slots for temporaries

taper_status taper_linalg_solve(taper_linalg *w, const taper_tensor *a, const taper_tensor *b,
                                taper_linalg_system *system)
{
    taper_linalg_batch batch;
    const taper_dtype wide = taper_linalg_wide((taper_dtype)a->dtype);
    TAPER_TRY(taper_linalg_broadcast(w, a, b, &batch));
    // PyTorch factors the transposed matrix a' if this avoids a copy. This is visible, because the factors and the
    // position of a zero pivot are results.
    system->transposed = !taper_dtype_is_complex((taper_dtype)a->dtype) && taper_tensor_is_contiguous(a);
    TAPER_TRY(taper_linalg_factor(w, a, system->transposed, system->lu, system->pivots, system->infos));
    TAPER_TRY(taper_linalg_take(w, system->x, b, &batch, wide));
    return taper_linalg_lu_solve(w, system->lu, w->t[system->pivots],
                                 system->transposed ? TAPER_TRANSPOSED : TAPER_PLAIN, system->left, system->x);
}

taper_status taper_linalg_invert(taper_linalg *w, const taper_tensor *a, taper_linalg_system *system)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t n = taper_linalg_rows(a), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_new(w, system->ones, taper_linalg_wide((taper_dtype)a->dtype), &batch, n, n));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[system->ones], i);
        taper_dense_identity(&matrix);
    }
    const taper_tensor ones = taper_tensor_local(w->t[system->ones]);
    return taper_linalg_solve(w, a, &ones, system);
}

static taper_linalg_system usual_system(bool left)
{
    return (taper_linalg_system){.x = RESULT, .lu = LU, .pivots = PIVOTS, .infos = INFOS, .ones = EXTRA, .left = left};
}

// ---- inverses

static taper_status inverse(taper_linalg *w)
{
    taper_tensor *a;
    taper_linalg_system system = usual_system(true);
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    TAPER_TRY(taper_linalg_invert(w, a, &system));
    TAPER_TRY(taper_linalg_check_infos(w->run, w->name, w->t[INFOS], a->rank == 2));
    return taper_linalg_ret(w, 0, RESULT, (taper_dtype)a->dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_inverse)
{
    return taper_linalg_run(call, "linalg.inv", inverse);
}

static taper_status inverse_ex(taper_linalg *w)
{
    taper_tensor *a;
    bool check;
    taper_linalg_system system = usual_system(true);
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    TAPER_TRY(taper_arg_bool(w->call, 1, &check));
    TAPER_TRY(taper_linalg_invert(w, a, &system));
    if (check) {
        TAPER_TRY(taper_linalg_check_infos(w->run, w->name, w->t[INFOS], a->rank == 2));
    }
    TAPER_TRY(taper_linalg_ret(w, 0, RESULT, (taper_dtype)a->dtype, TAPER_BY_COLUMNS));
    return taper_linalg_ret(w, 1, INFOS, TAPER_I32, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_inv_ex)
{
    return taper_linalg_run(call, "linalg.inv_ex", inverse_ex);
}

// ---- systems of equations

// Returns true if the right side is a vector, which counts as one column, or a batch of vectors. This depends on the
// sizes of `a`.
static bool is_vector(const taper_tensor *a, const taper_tensor *b)
{
    return b->rank == 1 || (b->rank + 1 == a->rank && memcmp(b->sizes, a->sizes, b->rank * sizeof *b->sizes) == 0);
}

static taper_status check_shapes(taper_linalg *w, const taper_tensor *a, const taper_tensor *b, bool left)
{
    TAPER_TRY(taper_linalg_check_square(w, a));
    TAPER_TRY(taper_linalg_check_same_dtype(w, a, b));
    TAPER_TRY(taper_linalg_check_matrix(w, b));
    if ((left ? taper_linalg_rows(b) : taper_linalg_columns(b)) != taper_linalg_rows(a)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: Incompatible shapes of A and B for the equation %s: %s and %s", w->name,
                   left ? "AX = B" : "XA = B", TAPER_SHAPE(a), TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

// Solves the system given by arguments 0 and 1. The solution and the factors are stored in slots.
static taper_status solve_arguments(taper_linalg *w, bool left, taper_tensor **a)
{
    taper_tensor *b;
    taper_linalg_system system = usual_system(left);
    TAPER_TRY(taper_linalg_arg_square(w, 0, a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &b));
    taper_tensor right = taper_tensor_local(b);
    const bool vector = is_vector(*a, b);
    if (vector) {
        if (!left) {
            return taper_linalg_fail(w, "Vector broadcasting of the left hand side is not supported for left=False");
        }
        if (b->rank == TAPER_MAX_RANK) {
            return taper_linalg_fail(w, "too many dimensions");
        }
        right.rank = (uint8_t)(b->rank + 1);
        right.sizes[b->rank] = 1;
        right.strides[b->rank] = 1;
    }
    TAPER_TRY(check_shapes(w, *a, &right, left));
    TAPER_TRY(taper_linalg_solve(w, *a, &right, &system));
    if (vector) { // without the dimension of columns, the vectors of the batch are contiguous
        taper_tensor *const x = w->t[RESULT];
        x->rank--;
        taper_strides_contiguous(x->rank, x->sizes, x->strides);
    }
    return TAPER_OK;
}

static taper_linalg_order order_of(bool left)
{
    return left ? TAPER_BY_COLUMNS : TAPER_BY_ROWS;
}

static taper_status solve(taper_linalg *w)
{
    taper_tensor *a;
    bool left;
    TAPER_TRY(taper_arg_bool(w->call, 2, &left));
    TAPER_TRY(solve_arguments(w, left, &a));
    TAPER_TRY(taper_linalg_check_infos(w->run, "torch.linalg.solve", w->t[INFOS], a->rank == 2));
    return taper_linalg_ret(w, 0, RESULT, (taper_dtype)a->dtype, order_of(left));
}

TAPER_KERNEL(taper_op_solve)
{
    return taper_linalg_run(call, "linalg.solve", solve);
}

// Computes linalg_solve_ex, and _linalg_solve_ex, which also returns the factors.
static taper_status solve_ex(taper_linalg *w)
{
    taper_tensor *a;
    bool left, check;
    TAPER_TRY(taper_arg_bool(w->call, 2, &left));
    TAPER_TRY(taper_arg_bool(w->call, 3, &check));
    TAPER_TRY(solve_arguments(w, left, &a));
    if (check) {
        TAPER_TRY(taper_linalg_check_infos(w->run, "torch.linalg.solve_ex", w->t[INFOS], a->rank == 2));
    }
    size_t at = 0;
    TAPER_TRY(taper_linalg_ret(w, at++, RESULT, (taper_dtype)a->dtype, order_of(left)));
    if (w->call->ret_count == 4) {
        TAPER_TRY(taper_linalg_ret(w, at++, LU, (taper_dtype)a->dtype, TAPER_BY_COLUMNS));
        TAPER_TRY(taper_linalg_ret(w, at++, PIVOTS, TAPER_I32, TAPER_BY_ROWS));
    }
    return taper_linalg_ret(w, at, INFOS, TAPER_I32, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_solve_ex)
{
    return taper_linalg_run(call, "linalg.solve", solve_ex);
}

// ---- tensors as matrices

static bool product_of(const int64_t *sizes, size_t count, int64_t *product)
{
    *product = 1;
    for (size_t i = 0; i < count; i++) {
        if (!taper_mul_i64(*product, sizes[i], product)) {
            return false;
        }
    }
    return true;
}

// Sets result 0 to the tensor in the slot, viewed with other sizes.
static taper_status ret_shaped(taper_linalg *w, size_t slot, size_t rank, const int64_t *sizes)
{
    taper_tensor *result;
    TAPER_TRY(taper_reshape(w->run, w->t[slot], rank, sizes, &result));
    return taper_ret_tensor(w->call, 0, result);
}

// Converts the matrices in slot RESULT from double precision to this dtype, column-major as in PyTorch.
static taper_status narrow(taper_linalg *w, taper_dtype dtype)
{
    taper_tensor *const wide = w->t[RESULT];
    TAPER_TRY(
        taper_tensor_new(w->run->heap, dtype, wide->rank, wide->sizes, wide->strides, &w->t[EXTRA], w->run->error));
    return taper_run_copy(w->run, w->t[EXTRA], wide);
}

static taper_status tensorinv(taper_linalg *w)
{
    taper_tensor *a;
    int64_t split, rows, columns, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_int(w->call, 1, &split));
    TAPER_TRY(taper_linalg_check_dtype(w, a));
    if (split <= 0) {
        return taper_linalg_fail(w, "Expected a strictly positive integer for 'ind'");
    }
    const size_t ind = split > (int64_t)a->rank ? a->rank : (size_t)split;
    if (!product_of(a->sizes, ind, &rows) || !product_of(a->sizes + ind, a->rank - ind, &columns) || rows != columns) {
        return taper_linalg_fail(
            w, "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind])");
    }
    for (size_t i = 0; i < a->rank; i++) {
        sizes[i] = i < a->rank - ind ? a->sizes[ind + i] : a->sizes[i - (a->rank - ind)];
    }
    TAPER_TRY(taper_reshape(w->run, a, 2, (const int64_t[]){rows, columns}, &w->t[FLAT]));
    taper_linalg_system system = usual_system(true);
    TAPER_TRY(taper_linalg_check_square(w, w->t[FLAT]));
    TAPER_TRY(taper_linalg_invert(w, w->t[FLAT], &system));
    TAPER_TRY(taper_linalg_check_infos(w->run, "linalg.tensorinv", w->t[INFOS], true));
    taper_tensor_drop(w->t[EXTRA]);
    w->t[EXTRA] = NULL;
    TAPER_TRY(narrow(w, (taper_dtype)a->dtype));
    return ret_shaped(w, EXTRA, a->rank, sizes);
}

TAPER_KERNEL(taper_op_linalg_tensorinv)
{
    return taper_linalg_run(call, "linalg.tensorinv", tensorinv);
}

// Makes a view of tensor `a`. The last dimensions of the view are the dimensions that argument 2 names.
static taper_status move_dims(taper_linalg *w, const taper_tensor *a, taper_view *view)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count, kept = 0, wrapped[TAPER_MAX_RANK];
    bool moved[TAPER_MAX_RANK] = {false};
    taper_view_of(a, view);
    if (taper_arg_is_none(w->call, 2)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_ints(w->call, 2, 0, TAPER_MAX_RANK, dims, &count));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_wrap_dim_or_fail(dims[i], a->rank, &wrapped[i], w->run->error));
        if (wrapped[i] >= a->rank || moved[wrapped[i]]) {
            return taper_linalg_fail(w, "argument 'dims': a dimension occurs twice");
        }
        moved[wrapped[i]] = true;
    }
    for (size_t i = 0; i < a->rank; i++) {
        if (!moved[i]) {
            view->sizes[kept] = a->sizes[i];
            view->strides[kept++] = a->strides[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        view->sizes[kept] = a->sizes[wrapped[i]];
        view->strides[kept++] = a->strides[wrapped[i]];
    }
    return TAPER_OK;
}

static taper_status tensorsolve(taper_linalg *w)
{
    taper_tensor *a, *b;
    taper_view view;
    int64_t rows, columns;
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &b));
    TAPER_TRY(taper_linalg_check_dtype(w, a));
    TAPER_TRY(taper_linalg_check_same_dtype(w, a, b));
    TAPER_TRY(move_dims(w, a, &view));
    const size_t first = taper_min_size(b->rank, view.rank);
    if (!product_of(view.sizes, first, &rows) || !product_of(view.sizes + first, view.rank - first, &columns) ||
        rows != columns || taper_tensor_numel(b) != rows) {
        return taper_linalg_fail(w, "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                                    "prod(self.shape[:other.ndim])");
    }
    const taper_tensor turned = taper_tensor_twin(a, view.rank, view.sizes, view.strides);
    TAPER_TRY(taper_reshape(w->run, &turned, 2, (const int64_t[]){rows, columns}, &w->t[FLAT]));
    TAPER_TRY(taper_reshape(w->run, b, 2, (const int64_t[]){rows, 1}, &w->t[EXTRA]));
    taper_linalg_system system = usual_system(true);
    TAPER_TRY(check_shapes(w, w->t[FLAT], w->t[EXTRA], true));
    TAPER_TRY(taper_linalg_solve(w, w->t[FLAT], w->t[EXTRA], &system));
    TAPER_TRY(taper_linalg_check_infos(w->run, "linalg.tensorsolve", w->t[INFOS], true));
    taper_tensor_drop(w->t[EXTRA]);
    w->t[EXTRA] = NULL;
    TAPER_TRY(narrow(w, (taper_dtype)a->dtype));
    return ret_shaped(w, EXTRA, view.rank - first, view.sizes + first);
}

TAPER_KERNEL(taper_op_linalg_tensorsolve)
{
    return taper_linalg_run(call, "linalg.tensorsolve", tensorsolve);
}
