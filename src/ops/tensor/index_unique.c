// SPDX-License-Identifier: BSD-2-Clause
// The variants of unique: over elements or over slices of a dimension, for all elements or for consecutive elements.
// Integers with a small range are counted in a table. Other elements are sorted and divided into groups of equal
// elements.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/elementwise.h"
#include "ops/engine/index_keys.h"

typedef struct unique {
    taper_run *run;
    taper_dtype dtype;
    taper_tensor *keys; // rows of `width` keys; owned
    taper_tensor *order,
        // Owned tensors. order: the rows in sorted order, or NULL if they keep their order. starts: the index at which
        // each group begins.
        *starts;
    // Table, owned, or NULL. It contains, for each key from `least` on, the number of the key's occurrences, and later
    // the key's index among the unique keys.
    taper_tensor *table;
    int64_t width, count, found, least, values;
} unique;

static void drop_unique(unique *u)
{
    taper_tensor_drop(u->keys);
    taper_tensor_drop(u->order);
    taper_tensor_drop(u->starts);
    taper_tensor_drop(u->table);
}

enum { PIECE = 1 << 14 };

static bool same_row(const unique *u, bool exact, int64_t nan, int64_t a, int64_t b)
{
    const int64_t *keys = taper_tensor_data(u->keys);
    for (int64_t i = 0; i < u->width; i++) {
        const int64_t x = keys[a * u->width + i], y = keys[b * u->width + i];
        if (x != y || (x == nan && !exact)) {
            return false;
        }
    }
    return true;
}

// Sets starts to the index (in the order of the rows) at which each group of equal rows begins. The last item is the
// number of rows.
static taper_status find_starts(unique *u)
{
    TAPER_TRY(taper_index_scratch(u->run, u->count + 1, &u->starts));
    const bool exact = !taper_dtype_is_float(u->dtype);
    const int64_t nan = taper_key_of_nan(u->dtype);
    const int64_t *keys = taper_tensor_data(u->keys), *order = u->order == NULL ? NULL : taper_tensor_data(u->order);
    int64_t *starts = taper_tensor_mutable(u->starts), found = 0;
    for (int64_t at = 0; at < u->count; at += PIECE) {
        const int64_t end = taper_min_i64(u->count, at + PIECE);
        TAPER_TRY(taper_run_spend(u->run, (uint64_t)(end - at) * ((uint64_t)u->width * 2 + 3)));
        if (u->width != 1) {
            for (int64_t k = at; k < end; k++) {
                starts[found] = k;
                found += k == 0 ||
                         !same_row(u, exact, nan, order == NULL ? k : order[k], order == NULL ? k - 1 : order[k - 1]);
            }
            continue;
        }
        if (order == NULL && exact) {
            found = at == 0 ? 1 : found;
            starts[0] = 0;
            for (int64_t k = at == 0 ? 1 : at; k < end; k++) {
                starts[found] = k;
                found += keys[k] != keys[k - 1];
            }
            continue;
        }
        int64_t last = at == 0 ? 0 : keys[order == NULL ? at - 1 : order[at - 1]];
        for (int64_t k = at; k < end; k++) {
            const int64_t key = keys[order == NULL ? k : order[k]];
            starts[found] = k;
            found += (k == 0) | (key != last) | (!exact & (key == nan));
            last = key;
        }
    }
    starts[found] = u->count;
    u->found = found;
    return TAPER_OK;
}

#include "ops/tensor/index_unique_table.h"

// Sorts the rows if `sort` is set, and finds their groups.
static taper_status group(unique *u, bool sort)
{
    if (sort) {
        TAPER_TRY(taper_index_scratch(u->run, u->count, &u->order));
        TAPER_TRY(
            taper_keys_sort(u->run, taper_tensor_data(u->keys), u->width, u->count, taper_tensor_mutable(u->order)));
    }
    return find_starts(u);
}

// Writes, for each row, the number of its group.
static taper_status number_rows(const unique *u, int64_t *numbers)
{
    const int64_t *keys = taper_tensor_data(u->keys);
    TAPER_TRY(taper_run_spend(u->run, (uint64_t)u->count * 3));
    if (number_by_table(u, keys, numbers)) {
        return TAPER_OK;
    }
    const int64_t *starts = taper_tensor_data(u->starts),
                  *order = u->order == NULL ? NULL : taper_tensor_data(u->order);
    for (int64_t k = 0; k < u->found; k++) {
        for (int64_t i = starts[k]; i < starts[k + 1]; i++) {
            numbers[order == NULL ? i : order[i]] = k;
        }
    }
    return TAPER_OK;
}

// Sets result inverse_at to the inverse, which has these sizes, and result counts_at to the counts. If counted is NULL,
// the counts follow from starts. A result that is not wanted is an empty vector.
static taper_status ret_counts(taper_call *call, const unique *u, size_t inverse_at, size_t counts_at, bool inverse,
                               taper_tensor *counted, bool counts, size_t rank, const int64_t *sizes)
{
    taper_run *run = call->run;
    const int64_t none = 0;
    taper_tensor *result;
    TAPER_TRY(inverse ? taper_tensor_new(run->heap, TAPER_I64, rank, sizes, NULL, &result, run->error)
                      : taper_tensor_new(run->heap, TAPER_I64, 1, &none, NULL, &result, run->error));
    const taper_status status = inverse ? number_rows(u, taper_tensor_mutable(result)) : TAPER_OK;
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    TAPER_TRY(taper_ret_tensor(call, inverse_at, result));
    if (counts_at == 0) {
        return TAPER_OK;
    }
    if (counts && counted != NULL) {
        taper_obj_retain(&counted->head);
        return taper_ret_tensor(call, counts_at, counted);
    }
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_I64, 1, counts ? &u->found : &none, NULL, &result, run->error));
    const int64_t *starts = counts ? taper_tensor_data(u->starts) : NULL;
    for (int64_t k = 0; counts && k < u->found; k++) {
        ((int64_t *)taper_tensor_mutable(result))[k] = starts[k + 1] - starts[k];
    }
    return taper_ret_tensor(call, counts_at, result);
}

// ---- unique elements

// Copies the first element of each group.
#define TAKE(type)                                                                                                     \
    for (int64_t k = 0; k < u->found; k++) {                                                                           \
        ((type *)to)[k] = ((const type *)from)[order == NULL ? starts[k] : order[starts[k]]];                          \
    }
static void take_first(const unique *u, size_t item, void *to, const void *from)
{
    const int64_t *starts = taper_tensor_data(u->starts),
                  *order = u->order == NULL ? NULL : taper_tensor_data(u->order);
    switch (item) {
    case 1:
        TAKE(uint8_t)
        break;
    case 2:
        TAKE(uint16_t)
        break;
    case 4:
        TAKE(uint32_t)
        break;
    default:
        TAKE(uint64_t)
        break;
    }
}
#undef TAKE

static taper_status unique_elements(taper_call *call, bool sort, size_t inverse_arg, size_t counts_arg)
{
    taper_run *run = call->run;
    taper_tensor *x, *flat, *result, *counted = NULL;
    bool inverse, counts = false, tabled = false;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_bool(call, inverse_arg, &inverse));
    if (counts_arg != 0) {
        TAPER_TRY(taper_arg_bool(call, counts_arg, &counts));
    }
    unique u = {.run = run, .dtype = (taper_dtype)x->dtype, .width = 1, .count = taper_tensor_numel(x)};
    // An out tensor may be x itself, and resizing changes it, so this copy keeps the shape of x.
    const taper_tensor before = taper_tensor_local(x);
    TAPER_TRY(taper_index_flat(run, x, &flat));
    taper_status status = taper_index_keys(run, flat, u.dtype, &u.keys);
    if (status == TAPER_OK && sort) {
        status = count_values(&u, &tabled);
    }
    if (status == TAPER_OK && !tabled) {
        status = group(&u, sort);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_like(run->heap, x, 1, &u.found, NULL, &result, run->error);
    }
    if (status == TAPER_OK && tabled && counts) {
        status = taper_tensor_new(run->heap, TAPER_I64, 1, &u.found, NULL, &counted, run->error);
        if (status != TAPER_OK) {
            taper_tensor_drop(result);
        }
    }
    if (status == TAPER_OK) {
        if (tabled) {
            take_table(&u, result, counted == NULL ? NULL : taper_tensor_mutable(counted));
        } else {
            take_first(&u, taper_tensor_item(x), taper_tensor_mutable(result), taper_tensor_data(flat));
        }
        status = taper_ret_tensor(call, 0, result);
    }
    if (status == TAPER_OK) {
        // The sorted variant returns the inverse if counts are wanted, because PyTorch computes the counts from the
        // inverse.
        status = ret_counts(call, &u, 1, counts_arg == 0 ? 0 : 2, inverse || (sort && counts), counted, counts,
                            before.rank, before.sizes);
    }
    taper_tensor_drop(counted);
    drop_unique(&u);
    taper_tensor_drop(flat);
    return status;
}

TAPER_KERNEL(taper_op_unique)
{
    return unique_elements(call, true, 2, 0);
}
TAPER_KERNEL(taper_op_unique2)
{
    return unique_elements(call, true, 2, 3);
}

// ---- unique slices

// Computes the unique slices along dim. The inverse and the counts are always computed, as in PyTorch.
static taper_status unique_slices(taper_call *call, size_t dim, bool sort)
{
    taper_run *run = call->run;
    taper_tensor *x, *plain = NULL, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    unique u = {.run = run, .dtype = (taper_dtype)x->dtype, .width = 1};
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
    if (empty == 1 && x->sizes[dim] == 0) { // returns early if there is nothing to compare
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
    // Each slice becomes a row.
    int64_t strides[TAPER_MAX_RANK];
    taper_tensor rows = taper_tensor_local(x);
    rows.sizes[0] = x->sizes[dim]; // exchanges dim and the first dimension
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
        status = group(&u, sort);
    }
    if (status == TAPER_OK) {
        // The slices are contiguous, one after the other.
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
        const int64_t *order = u.order == NULL ? NULL : taper_tensor_data(u.order),
                      *starts = taper_tensor_data(u.starts);
        for (int64_t k = 0; k < u.found; k++) {
            const int64_t row = order == NULL ? starts[k] : order[starts[k]];
            taper_move(run, item, rows.rank - 1u, rows.sizes + 1,
                       (char *)taper_tensor_mutable(result) + k * strides[0] * (int64_t)item, strides + 1,
                       (const char *)taper_tensor_data(plain) + row * u.width * (int64_t)item, plain->strides + 1);
        }
        status = taper_ret_tensor(call, 0, result);
    }
    if (status == TAPER_OK) {
        status = ret_counts(call, &u, 1, 2, true, NULL, true, 1, &u.count);
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

TAPER_KERNEL(taper_op_unique_dim)
{
    size_t dim;
    TAPER_TRY(arg_dim_of(call, 1, &dim));
    return unique_slices(call, dim, true);
}

TAPER_KERNEL(taper_op_unique_dim_consecutive)
{
    size_t dim;
    TAPER_TRY(arg_dim_of(call, 1, &dim));
    return unique_slices(call, dim, false);
}

TAPER_KERNEL(taper_op_unique_consecutive)
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
