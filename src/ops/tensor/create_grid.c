// SPDX-License-Identifier: BSD-2-Clause
// Tensors of combined coordinates: meshgrid, cartesian_prod, combinations and vander.
#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/create.h"

// ---- meshgrid

static taper_status check_axes(taper_call *call, const taper_list *list)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *first = NULL;
    if (list->count == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "meshgrid expects a non-empty TensorList");
    }
    if (list->count > TAPER_MAX_RANK) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "tensors: more than %d are not supported", TAPER_MAX_RANK);
    }
    for (size_t i = 0; i < list->count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        if (x->rank > 1) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %s",
                              taper_sizes_print(x->rank, x->sizes).text);
        }
        first = i == 0 ? x : first;
        if (x->dtype != first->dtype) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "torch.meshgrid expects all tensors to have the same dtype");
        }
    }
    return TAPER_OK;
}

// Returns a view of axis i along dimension i of the grid. If `swap` is set, the first two axes exchange their
// dimensions.
static taper_status grid(taper_run *run, const taper_list *axes, size_t i, bool swap, taper_tensor **result)
{
    const taper_tensor *x = axes->items[i].as.tensor;
    taper_view view = {.rank = axes->count, .offset = x->offset};
    i = swap && i < 2 ? 1 - i : i;
    for (size_t d = 0; d < axes->count; d++) {
        const taper_tensor *axis = axes->items[swap && d < 2 ? 1 - d : d].as.tensor;
        view.sizes[d] = axis->rank == 0 ? 1 : axis->sizes[0];
    }
    // The strides are those of x.reshape([1, …, n, …, 1]).expand(sizes).
    const int64_t own = x->rank == 0 ? 1 : x->strides[0];
    for (size_t d = 0; d < axes->count; d++) {
        view.strides[d] = view.sizes[d] != 1 ? 0 : d < i ? taper_wrap_mul(own, view.sizes[i]) : own;
    }
    view.strides[i] = own;
    for (size_t d = i + 1; d < axes->count; d++) {
        view.strides[d] = view.sizes[d] == 1 ? own : 0;
    }
    return taper_view_make(run, x, &view, result);
}

TAPER_KERNEL(taper_op_meshgrid)
{
    taper_list *axes, *list;
    taper_tensor *result;
    bool swap = false;
    TAPER_TRY(taper_arg_list(call, 0, &axes));
    TAPER_TRY(check_axes(call, axes));
    if (call->arg_count > 1) {
        const taper_string *indexing;
        TAPER_TRY(taper_arg_string(call, 1, &indexing));
        const bool xy = strcmp(indexing->data, "xy") == 0;
        if (!xy && strcmp(indexing->data, "ij") != 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %s",
                              indexing->data);
        }
        swap = xy && axes->count >= 2;
    }
    TAPER_TRY(taper_ret_tensor_list(call, 0, axes->count, &list));
    for (size_t i = 0; i < axes->count; i++) {
        TAPER_TRY(grid(call->run, axes, i, swap, &result));
        TAPER_TRY(taper_tensor_list_add(call, list, result));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_cartesian_prod)
{
    taper_error *error = call->run->error;
    taper_list *axes;
    taper_tensor *result, *shown;
    TAPER_TRY(taper_arg_list(call, 0, &axes));
    TAPER_TRY(check_axes(call, axes));
    int64_t sizes[2] = {1, (int64_t)axes->count};
    for (size_t i = 0; i < axes->count; i++) {
        const taper_tensor *x = axes->items[i].as.tensor;
        if (x->rank != 1) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "Expect a 1D vector, but got shape %s",
                              taper_sizes_print(x->rank, x->sizes).text);
        }
        if (!taper_mul_i64(sizes[0], x->sizes[0], &sizes[0])) {
            return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
        }
    }
    if (axes->count == 1) {
        taper_view_ret_same(call, 0, axes->items[0].as.tensor);
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_like(call->run->heap, axes->items[0].as.tensor, 2, sizes, NULL, &result, error));
    const size_t item = taper_tensor_item(result);
    taper_status status = item == 0 ? taper_move_item(result, &(size_t){0}, error) : TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < axes->count; i++) {
        status = grid(call->run, axes, i, false, &shown);
        if (status != TAPER_OK) {
            break;
        }
        int64_t strides[TAPER_MAX_RANK];
        taper_strides_contiguous(shown->rank, shown->sizes, strides);
        for (size_t d = 0; d < shown->rank; d++) {
            strides[d] = taper_wrap_mul(strides[d], sizes[1]);
        }
        taper_move(call->run, item, shown->rank, shown->sizes, (char *)taper_tensor_mutable(result) + i * item, strides,
                   taper_tensor_data(shown), shown->strides);
        taper_tensor_drop(shown);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

// ---- combinations

// Computes n choose r. Returns false if the result is more than the number of elements that a tensor can have.
static bool choose(int64_t n, int64_t r, int64_t *count)
{
    *count = r > n ? 0 : 1;
    r = taper_min_i64(r, n - r);
    for (int64_t i = 1; i <= r; i++) {
        if (!taper_mul_i64(*count, n - r + i, count)) {
            return false;
        }
        *count /= i;
    }
    return *count <= TAPER_LIMIT_TENSOR_BYTES;
}

TAPER_KERNEL(taper_op_combinations)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    int64_t r;
    bool again;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &r));
    TAPER_TRY(taper_arg_bool(call, 2, &again));
    TAPER_TRY(taper_move_item(x, &item, error));
    if (x->rank != 1 || r < 0 || r > TAPER_MAX_RANK) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          r < 0 ? "Expect a non-negative number, but got %lld"
                                : "Expect a 1D vector and r of at most 8, but got r = %lld",
                          (long long)r);
    }
    const int64_t n = x->sizes[0];
    int64_t count;
    if (!choose(again && n > 0 ? n + r - 1 : n, r, &count)) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
    }
    const int64_t sizes[2] = {r == 0 ? 0 : count, r};
    TAPER_TRY(taper_tensor_like(call->run->heap, x, r == 0 ? 1 : 2, sizes, NULL, &result, error));
    int64_t at[TAPER_MAX_RANK];
    for (int64_t i = 0; i < r; i++) {
        at[i] = again ? 0 : i;
    }
    const char *from = taper_tensor_data(x);
    char *to = taper_tensor_mutable(result);
    for (int64_t row = 0; row < sizes[0] && taper_run_step(call->run, row, 60); row++) {
        for (int64_t i = 0; i < r; i++, to += item) {
            memcpy(to, from + at[i] * x->strides[0] * (int64_t)item, item);
        }
        // Increments the last position that can increase, and resets the positions after it.
        int64_t i = r - 1;
        while (i >= 0 && at[i] == (again ? n - 1 : n - r + i)) {
            i--;
        }
        if (i < 0) {
            break;
        }
        at[i]++;
        for (int64_t j = i + 1; j < r; j++) {
            at[j] = again ? at[i] : at[j - 1] + 1;
        }
    }
    return taper_ret_tensor(call, 0, result);
}

// ---- vander

static void powers(taper_run *run, taper_dtype dtype, taper_scalar x, int64_t n, bool increasing, char *row,
                   size_t item)
{
    taper_scalar power = taper_scalar_int(1);
    for (int64_t i = 0; i < n && taper_run_goes_on(run, 30); i++) {
        char *p = row + (size_t)(increasing ? i : n - 1 - i) * item;
        taper_scalar_store(dtype, p, &power);
        // The product so far is rounded to the dtype, as PyTorch's running product is.
        taper_scalar_load(dtype, p, &power);
        const double re = power.f * x.f - power.im * x.im;
        power.im = power.f * x.im + power.im * x.f;
        power.f = re;
        power.i = taper_wrap_mul(power.i, x.i);
    }
}

static void powers_of_float(taper_run *run, float x, int64_t n, bool increasing, float *row)
{
    float power = 1;
    for (int64_t i = 0; i < n && taper_run_step(run, i, 4); i++, power *= x) {
        row[increasing ? i : n - 1 - i] = power;
    }
}

static taper_status vander(taper_call *call, int64_t n, bool increasing)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(taper_create_count(error, "N", n));
    const taper_dtype dtype = taper_promote((taper_dtype)x->dtype, TAPER_I64);
    int64_t sizes[TAPER_MAX_RANK];
    if (x->rank == TAPER_MAX_RANK) {
        return taper_rank_refused(error);
    }
    memcpy(sizes, x->sizes, sizeof sizes);
    const size_t rank = taper_max_size(x->rank, 1); // a tensor without dimensions counts as one row
    sizes[0] = x->rank == 0 ? 1 : sizes[0];
    sizes[rank] = n;
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, rank + 1, sizes, NULL, &result, error));
    const size_t to_item = taper_tensor_item(result);
    char *to = taper_tensor_mutable(result);
    const char *from = taper_tensor_data(x);
    const int64_t count = taper_tensor_numel(x);
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(x, item, steps);
    taper_walk walk;
    taper_walk_over(&walk, x->rank, x->sizes, SIZE_MAX, steps, NULL);
    for (int64_t i = 0; i < count && taper_run_goes_on(call->run, 20); i++, to += (size_t)n * to_item) {
        taper_scalar value;
        if (x->dtype == TAPER_F32) {
            powers_of_float(call->run, *(const float *)(const void *)(from + walk.at[0]), n, increasing,
                            (float *)(void *)to);
            (void)taper_walk_next(&walk);
            continue;
        }
        taper_scalar_load((taper_dtype)x->dtype, from + walk.at[0], &value);
        powers(call->run, dtype, value, n, increasing, to, to_item);
        (void)taper_walk_next(&walk);
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_vander)
{
    taper_tensor *x;
    int64_t n;
    bool increasing;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "x must be a one-dimensional tensor.");
    }
    TAPER_TRY(taper_arg_int_or(call, 1, x->sizes[0], &n));
    TAPER_TRY(taper_arg_bool(call, 2, &increasing));
    return vander(call, n, increasing);
}

TAPER_KERNEL(taper_op_linalg_vander)
{
    taper_tensor *x;
    int64_t n;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int_or(call, 1, x->rank == 0 ? 1 : x->sizes[x->rank - 1], &n));
    if (n <= 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "N must be greater than 1.");
    }
    return vander(call, n, true);
}
