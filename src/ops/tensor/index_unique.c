// SPDX-License-Identifier: BSD-2-Clause
// unique in all its forms: over elements or over the slices of a dimension, sorted or runs of neighbours.
#include "ops/engine/index_keys.h"
#include "ops/list/kernels.h"

typedef struct unique {
    taper_tensor *keys;            // owned: rows of `width` keys
    taper_tensor *order, *scratch; // owned
    int64_t width, count, found;
} unique;

static void drop_unique(unique *u)
{
    taper_tensor_drop(u->keys);
    taper_tensor_drop(u->order);
    taper_tensor_drop(u->scratch);
}

static bool same_row(const unique *u, int64_t a, int64_t b)
{
    const int64_t *keys = taper_tensor_data(u->keys);
    for (int64_t i = 0; i < u->width; i++) {
        const int64_t x = keys[a * u->width + i], y = keys[b * u->width + i];
        if (x != y || x == TAPER_KEY_NAN) {
            return false;
        }
    }
    return true;
}

// order becomes the rows in the order they are looked at; scratch[k] the number of the group that order[k] belongs to.
static taper_status group(taper_run *run, taper_dtype dtype, unique *u, bool sort)
{
    TAPER_TRY(taper_index_scratch(run, u->count, &u->order));
    TAPER_TRY(taper_index_scratch(run, u->count, &u->scratch));
    int64_t *order = taper_tensor_mutable(u->order), *numbers = taper_tensor_mutable(u->scratch);
    if (sort) {
        TAPER_TRY(taper_keys_sort(run, taper_tensor_data(u->keys), u->width, u->count, order, numbers));
    } else {
        TAPER_TRY(taper_run_spend(run, (uint64_t)u->count));
        for (int64_t i = 0; i < u->count; i++) {
            order[i] = i;
        }
    }
    // INT64_MAX is a number too where the dtype has no NaN.
    const bool exact = !taper_dtype_is_float(dtype);
    const int64_t *keys = taper_tensor_data(u->keys);
    for (int64_t k = 0; k < u->count; k++) {
        TAPER_TRY(taper_run_spend(run, (uint64_t)u->width * 2 + 10));
        bool same = false;
        if (k > 0) {
            same = exact ? memcmp(keys + order[k] * u->width, keys + order[k - 1] * u->width,
                                  (size_t)u->width * sizeof *keys) == 0
                         : same_row(u, order[k], order[k - 1]);
        }
        u->found += same ? 0 : 1;
        numbers[k] = u->found - 1;
    }
    return TAPER_OK;
}

// inverse: shaped by `shape` (a tensor); empty vectors where not wanted.
static taper_status ret_counts(taper_call *call, const unique *u, size_t inverse_at, size_t counts_at, bool inverse,
                               bool counts, size_t rank, const int64_t *sizes)
{
    taper_run *run = call->run;
    const int64_t none = 0, found = u->found;
    const int64_t *order = taper_tensor_data(u->order), *numbers = taper_tensor_data(u->scratch);
    taper_tensor *result;
    TAPER_TRY(inverse ? taper_tensor_new(run->heap, TAPER_I64, rank, sizes, NULL, &result, run->error)
                      : taper_tensor_new(run->heap, TAPER_I64, 1, &none, NULL, &result, run->error));
    for (int64_t k = 0; inverse && k < u->count && taper_run_step(run, k, 5); k++) {
        ((int64_t *)taper_tensor_mutable(result))[order[k]] = numbers[k];
    }
    TAPER_TRY(taper_ret_tensor(call, inverse_at, result));
    if (counts_at == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_run_zeros(run, TAPER_I64, 1, counts ? &found : &none, &result));
    for (int64_t k = 0; counts && k < u->count && taper_run_step(run, k, 5); k++) {
        ((int64_t *)taper_tensor_mutable(result))[numbers[k]]++;
    }
    return taper_ret_tensor(call, counts_at, result);
}

// ---- over elements

static taper_status unique_elements(taper_call *call, bool sort, size_t inverse_arg, size_t counts_arg)
{
    taper_run *run = call->run;
    taper_tensor *x, *flat, *result;
    bool inverse, counts = false;
    unique u = {.width = 1};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_bool(call, inverse_arg, &inverse));
    if (counts_arg != 0) {
        TAPER_TRY(taper_arg_bool(call, counts_arg, &counts));
    }
    u.count = taper_tensor_numel(x);
    const taper_tensor before = taper_tensor_local(x); // a given result may be x itself and be resized
    TAPER_TRY(taper_index_flat(run, x, &flat));
    const size_t item = taper_tensor_item(x);
    taper_status status = taper_index_keys(run, flat, (taper_dtype)x->dtype, &u.keys);
    if (status == TAPER_OK) {
        status = group(run, (taper_dtype)x->dtype, &u, sort);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_like(run->heap, x, 1, &u.found, NULL, &result, run->error);
    }
    if (status == TAPER_OK) {
        const int64_t *order = taper_tensor_data(u.order), *numbers = taper_tensor_data(u.scratch);
        for (int64_t k = u.count; k-- > 0 && taper_run_step(run, k, 10);) {
            memcpy((char *)taper_tensor_mutable(result) + numbers[k] * (int64_t)item,
                   (const char *)taper_tensor_data(flat) + order[k] * (int64_t)item, item);
        }
        status = taper_ret_tensor(call, 0, result);
    }
    if (status == TAPER_OK) {
        // The sorted form makes the inverse for the counts and leaves it.
        status = ret_counts(call, &u, 1, counts_arg == 0 ? 0 : 2, inverse || (sort && counts), counts, before.rank,
                            before.sizes);
    }
    drop_unique(&u);
    taper_tensor_drop(flat);
    return status;
}

taper_status taper_op_unique(taper_call *call)
{
    return unique_elements(call, true, 2, 0);
}
taper_status taper_op_unique2(taper_call *call)
{
    return unique_elements(call, true, 2, 3);
}

// ---- over slices

// The inverse and the counts are made always, as in PyTorch.
static taper_status unique_slices(taper_call *call, size_t dim, bool sort)
{
    taper_run *run = call->run;
    taper_tensor *x, *plain = NULL, *result;
    unique u = {.width = 1};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, run->error));
    if (x->rank == 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "There are no dimensions to be unique along: use unique without dim");
    }
    size_t empty = 0;
    for (size_t d = 0; d < x->rank; d++) {
        empty += x->sizes[d] == 0 ? 1 : 0;
    }
    if (empty == 1 && x->sizes[dim] == 0) { // nothing to compare
        const int64_t none = 0;
        for (size_t i = 0; i < 3; i++) {
            TAPER_TRY(i == 0 ? taper_tensor_like(run->heap, x, x->rank, x->sizes, NULL, &result, run->error)
                             : taper_tensor_new(run->heap, TAPER_I64, 1, &none, NULL, &result, run->error));
            TAPER_TRY(taper_ret_tensor(call, i, result));
        }
        return TAPER_OK;
    }
    if (empty > 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    }
    u.count = x->sizes[dim];
    u.width = taper_tensor_numel(x) / u.count;
    // The slices become rows.
    int64_t strides[TAPER_MAX_RANK];
    taper_tensor rows = taper_tensor_local(x);
    rows.sizes[0] = x->sizes[dim]; // dim and the first dimension change places
    rows.strides[0] = x->strides[dim];
    rows.sizes[dim] = x->sizes[0];
    rows.strides[dim] = x->strides[0];
    if (dim == 0) {
        rows.sizes[0] = x->sizes[0];
        rows.strides[0] = x->strides[0];
    }
    taper_status status = taper_view_clone(run, &rows, TAPER_FORMAT_CONTIGUOUS, &plain);
    if (status == TAPER_OK) {
        status = taper_index_keys(run, plain, (taper_dtype)x->dtype, &u.keys);
    }
    if (status == TAPER_OK) {
        status = group(run, (taper_dtype)x->dtype, &u, sort);
    }
    if (status == TAPER_OK) {
        // The slices lie one after the other.
        int64_t sizes[TAPER_MAX_RANK], laid_out[TAPER_MAX_RANK];
        memcpy(sizes, x->sizes, sizeof sizes);
        sizes[dim] = u.found;
        rows.sizes[0] = u.found;
        taper_strides_contiguous(rows.rank, rows.sizes, strides);
        memcpy(laid_out, strides, sizeof laid_out);
        laid_out[dim] = strides[0];
        laid_out[0] = strides[dim];
        status = taper_tensor_like(run->heap, x, x->rank, sizes, laid_out, &result, run->error);
    }
    if (status == TAPER_OK) {
        const int64_t *order = taper_tensor_data(u.order), *numbers = taper_tensor_data(u.scratch);
        for (int64_t k = 0; k < u.count && taper_run_step(run, k, 10); k++) {
            if (k > 0 && numbers[k] == numbers[k - 1]) {
                continue;
            }
            taper_move(run, item, rows.rank - 1u, rows.sizes + 1,
                       (char *)taper_tensor_mutable(result) + numbers[k] * strides[0] * (int64_t)item, strides + 1,
                       (const char *)taper_tensor_data(plain) + order[k] * u.width * (int64_t)item, plain->strides + 1);
        }
        status = taper_ret_tensor(call, 0, result);
    }
    if (status == TAPER_OK) {
        status = ret_counts(call, &u, 1, 2, true, true, 1, &u.count);
    }
    drop_unique(&u);
    taper_tensor_drop(plain);
    return status;
}

static taper_status arg_dim_of(taper_call *call, size_t at, size_t *dim)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return taper_arg_dim(call, at, x->rank, dim);
}

taper_status taper_op_unique_dim(taper_call *call)
{
    size_t dim;
    TAPER_TRY(arg_dim_of(call, 1, &dim));
    return unique_slices(call, dim, true);
}

taper_status taper_op_unique_dim_consecutive(taper_call *call)
{
    size_t dim;
    TAPER_TRY(arg_dim_of(call, 1, &dim));
    return unique_slices(call, dim, false);
}

taper_status taper_op_unique_consecutive(taper_call *call)
{
    size_t dim;
    int64_t number;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int_or(call, 3, 0, &number));
    if (taper_arg_is_none(call, 3) || (number == 0 && x->rank == 1)) {
        return unique_elements(call, false, 1, 2);
    }
    TAPER_TRY(arg_dim_of(call, 3, &dim));
    return unique_slices(call, dim, false);
}
