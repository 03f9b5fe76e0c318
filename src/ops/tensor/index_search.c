// SPDX-License-Identifier: BSD-2-Clause
// Searching: searchsorted, bucketize and isin.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/elementwise.h"
#include "ops/engine/index_keys.h"

// ---- searchsorted

typedef struct search_job {
    const int64_t *sorted, *values; // sorted keys, and keys of the values
    int64_t size, row;              // size of a line of sorted keys; number of values to search in each line
    bool in_order;                  // true if all lines are sorted, as the caller promises
    bool one_line, right; // one_line: all values are searched in the same line; right: finds the key after equal keys
    void *to;
    bool small;
} search_job;

// Returns the index of a line's first key that is not below value. There is no branch, because it would be
// unpredictable.
static int64_t search(const int64_t *line, int64_t size, int64_t value)
{
    const int64_t *at = line;
    int64_t left = size;
    for (; left > 1; left -= left / 2) {
        at += (left / 2) & -(int64_t)(at[left / 2 - 1] < value);
    }
    return at - line + (left == 1 && *at < value ? 1 : 0);
}

// Does what search does by PyTorch's steps, which decide the result if the keys are not sorted. If `right` is set, it
// returns the index of the first key above value.
static int64_t search_any(const int64_t *line, int64_t size, int64_t value, bool right)
{
    int64_t low = 0, high = size;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (right ? line[middle] > value : line[middle] >= value) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static void search_range(void *argument, size_t begin, size_t end)
{
    const search_job job = *(const search_job *)argument;
    for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
        const int64_t *const line = job.sorted + (job.one_line ? 0 : i / job.row * job.size);
        const int64_t value = job.values[i];
        const int64_t found = !job.in_order || (job.right && value == INT64_MAX)
                                  ? search_any(line, job.size, value, job.right)
                                  : search(line, job.size, value + job.right);
        if (job.small) {
            ((int32_t *)job.to)[i] = (int32_t)found;
        } else {
            ((int64_t *)job.to)[i] = found;
        }
    }
}

static bool lines_in_order(const int64_t *keys, int64_t size, int64_t count)
{
    bool in_order = true;
    for (int64_t start = 0; start < count; start += size) {
        for (int64_t i = start + 1; i < start + size; i++) {
            in_order &= keys[i - 1] <= keys[i];
        }
    }
    return in_order;
}

// Makes the keys of the sorted numbers, in the order that the sorter gives. PyTorch's search goes on to the right of a
// NaN as if it were the smallest number, so the key of NaN is the smallest.
static taper_status sorted_keys(taper_run *run, taper_tensor *x, taper_dtype dtype, taper_tensor *sorter, int64_t size,
                                taper_tensor **result)
{
    taper_tensor *keys, *order, *sorted = NULL;
    TAPER_TRY(taper_index_keys(run, x, dtype, &keys));
    const int64_t count = taper_tensor_numel(x), nan = taper_key_of_nan(dtype);
    const bool floats = taper_dtype_is_float(dtype);
    if (!floats && sorter == NULL) {
        *result = keys;
        return TAPER_OK;
    }
    taper_status status = sorter == NULL ? TAPER_OK : taper_run_contiguous(run, sorter, &order);
    if (status != TAPER_OK) {
        taper_tensor_drop(keys);
        return status;
    }
    status = taper_index_scratch(run, count, &sorted);
    const int64_t *from = taper_tensor_data(keys), *at = sorter == NULL ? NULL : taper_tensor_data(order);
    int64_t *to = status == TAPER_OK ? taper_tensor_mutable(sorted) : NULL;
    for (int64_t i = 0; i < count && status == TAPER_OK; i++) {
        const int64_t place = at == NULL ? i : at[i];
        if (at != NULL && (place < 0 || place >= size)) {
            status = taper_fail(run->error, TAPER_ERROR_ARGUMENT, "torch.searchsorted(): sorter index out of range");
            break;
        }
        if (!taper_run_step(run, i, 4)) {
            status = taper_run_spend(run, 0);
            break;
        }
        const int64_t key = from[at == NULL ? i : i / size * size + place];
        to[i] = floats && key == nan ? INT64_MIN : key;
    }
    taper_tensor_drop(keys);
    if (sorter != NULL) {
        taper_tensor_drop(order);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(sorted);
        return status;
    }
    *result = sorted;
    return TAPER_OK;
}

typedef struct searching {
    taper_tensor *sorted, *values, *sorter; // tensors; values and sorter may be NULL
    taper_scalar number;                    // the value to search if values is NULL
    bool right, small;                      // small: the result is int32, not int64
} searching;

static taper_status search_all(taper_call *call, const searching *s)
{
    taper_run *run = call->run;
    taper_tensor *sorted = NULL, *values = NULL, *result = NULL;
    taper_promotion promotion = taper_promotion_start();
    taper_promotion_tensor(&promotion, s->sorted);
    if (s->values != NULL) {
        taper_promotion_tensor(&promotion, s->values);
    } else {
        taper_promotion_scalar(&promotion, &s->number);
    }
    const taper_dtype dtype = taper_promotion_result(&promotion);
    if (taper_dtype_is_complex(dtype) || taper_dtype_is_quantized(dtype)) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for %s", taper_dtype_name(dtype));
    }
    const size_t rank = s->values == NULL ? 0 : s->values->rank;
    search_job job = {.size = s->sorted->rank == 0 ? 1 : s->sorted->sizes[s->sorted->rank - 1],
                      .row = rank == 0 ? 1 : taper_max_i64(s->values->sizes[rank - 1], 1),
                      .one_line = s->sorted->rank <= 1,
                      .right = s->right,
                      .small = s->small};
    double steps = 1;
    for (int64_t left = job.size; left > 0; left /= 2) {
        steps++;
    }
    taper_status status = sorted_keys(run, s->sorted, dtype, s->sorter, taper_max_i64(job.size, 1), &sorted);
    if (status == TAPER_OK && s->values == NULL) {
        status = taper_tensor_new(run->heap, dtype, 0, NULL, NULL, &result, run->error);
        if (status == TAPER_OK) {
            taper_scalar_store(dtype, taper_tensor_mutable(result), &s->number);
        }
    } else if (status == TAPER_OK) {
        taper_obj_retain(&s->values->head);
        result = s->values;
    }
    if (status == TAPER_OK) {
        status = taper_index_keys(run, result, dtype, &values);
        taper_tensor_drop(result);
        result = NULL;
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, s->small ? TAPER_I32 : TAPER_I64, rank,
                                  rank == 0 ? NULL : s->values->sizes, NULL, &result, run->error);
    }
    if (status == TAPER_OK) {
        status = taper_run_spend(run, (uint64_t)taper_tensor_numel(s->sorted));
    }
    if (status == TAPER_OK) {
        enum { WORK_OF_A_STEP = 3 };
        const size_t count = (size_t)taper_tensor_numel(result);
        job.sorted = taper_tensor_data(sorted);
        job.in_order = lines_in_order(job.sorted, taper_max_i64(job.size, 1), taper_tensor_numel(s->sorted));
        job.values = taper_tensor_data(values);
        job.to = taper_tensor_mutable(result);
        status = taper_run_range(run, search_range, &job, count, 1, (double)count * steps * WORK_OF_A_STEP);
    }
    taper_tensor_drop(sorted);
    taper_tensor_drop(values);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

static taper_status arg_values(taper_call *call, size_t at, searching *s)
{
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        return taper_arg_tensor(call, at, &s->values);
    }
    return taper_arg_scalar(call, at, &s->number);
}

TAPER_KERNEL(taper_op_searchsorted)
{
    taper_error *error = call->run->error;
    searching s = {.values = NULL};
    TAPER_TRY(taper_arg_tensor(call, 0, &s.sorted));
    TAPER_TRY(arg_values(call, 1, &s));
    TAPER_TRY(taper_arg_bool(call, 2, &s.small));
    TAPER_TRY(taper_arg_bool(call, 3, &s.right));
    if (!taper_arg_is_none(call, 4)) {
        const taper_string *side;
        TAPER_TRY(taper_arg_string(call, 4, &side));
        const bool right = strcmp(side->data, "right") == 0;
        if (!right && strcmp(side->data, "left") != 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "torch.searchsorted(): side can only be 'left' or 'right' but got %s", side->data);
        }
        if (!right && s.right) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                              "right was True");
        }
        s.right = right;
    }
    TAPER_TRY(taper_arg_tensor_or_none(call, 5, &s.sorter));
    if (s.sorter != NULL &&
        (s.sorter->dtype != TAPER_I64 || s.sorter->rank != s.sorted->rank ||
         memcmp(s.sorter->sizes, s.sorted->sizes, s.sorted->rank * sizeof s.sorted->sizes[0]) != 0)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.searchsorted(): boundary and sorter must have the same size");
    }
    if (s.sorted->rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.searchsorted(): boundaries tensor should have positive dimension");
    }
    bool fits = s.sorted->rank == 1 || (s.values != NULL && s.values->rank == s.sorted->rank);
    for (size_t d = 0; fits && s.sorted->rank > 1 && d + 1 < s.sorted->rank; d++) {
        fits = s.values->sizes[d] == s.sorted->sizes[d];
    }
    if (!fits) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
                          "of boundaries tensor "
                          "and input value tensor must match, but we got boundaries tensor %s",
                          taper_sizes_print(s.sorted->rank, s.sorted->sizes).text);
    }
    return search_all(call, &s);
}

TAPER_KERNEL(taper_op_bucketize)
{
    searching s = {.values = NULL};
    TAPER_TRY(arg_values(call, 0, &s));
    TAPER_TRY(taper_arg_tensor(call, 1, &s.sorted));
    TAPER_TRY(taper_arg_bool(call, 2, &s.small));
    TAPER_TRY(taper_arg_bool(call, 3, &s.right));
    if (s.sorted->rank != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "boundaries tensor must be 1 dimension, but got dim(%u)", (unsigned)s.sorted->rank);
    }
    return search_all(call, &s);
}

// ---- isin

// The keys among which isin searches. If the range of the keys is small, they are in a table, whose first entry is for
// the smallest key. Otherwise they are sorted.
typedef struct known_keys {
    const int64_t *sorted;
    const uint8_t *there; // table with 1 for each number that is a key, or NULL
    int64_t count, least, values, nan;
} known_keys;

typedef struct isin_job {
    const known_keys *known;
    const int64_t *keys;
    uint8_t *to;
    bool floats, invert;
} isin_job;

static void isin_range(void *argument, size_t begin, size_t end)
{
    const isin_job *job = argument;
    const known_keys *known = job->known;
    for (size_t i = begin; i < end; i++) {
        const int64_t key = job->keys[i];
        bool found = false;
        if (known->there != NULL) {
            const uint64_t at = (uint64_t)key - (uint64_t)known->least;
            found = at < (uint64_t)known->values && known->there[at] != 0;
        } else if (!job->floats || key != known->nan) { // a NaN equals nothing
            int64_t low = 0, high = known->count;
            while (low < high) {
                const int64_t middle = low + (high - low) / 2;
                const bool below = known->sorted[middle] < key;
                low = below ? middle + 1 : low;
                high = below ? high : middle;
            }
            found = low < known->count && known->sorted[low] == key;
        }
        job->to[i] = found != job->invert;
    }
}

// Sorts the keys or makes the table. *scratch receives their memory, which the caller owns.
static taper_status know(taper_run *run, const int64_t *keys, int64_t elements, known_keys *known,
                         taper_tensor **scratch)
{
    enum { SMALL = 1 << 10 };
    int64_t largest;
    if (known->count == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_keys_range(run, keys, known->count, &known->least, &largest));
    if ((uint64_t)largest - (uint64_t)known->least < (uint64_t)taper_max_i64(elements, SMALL)) {
        known->values = largest - known->least + 1;
        TAPER_TRY(taper_run_zeros(run, TAPER_U8, 1, &known->values, scratch));
        uint8_t *const there = taper_tensor_mutable(*scratch);
        TAPER_TRY(taper_run_spend(run, (uint64_t)known->count * 2));
        for (int64_t i = 0; i < known->count; i++) {
            there[keys[i] - known->least] = keys[i] != known->nan;
        }
        known->there = there;
        return TAPER_OK;
    }
    taper_tensor *order;
    TAPER_TRY(taper_index_scratch(run, known->count, scratch));
    TAPER_TRY(taper_index_scratch(run, known->count, &order));
    const taper_status status = taper_keys_sort(run, keys, 1, known->count, taper_tensor_mutable(order));
    const int64_t *at = taper_tensor_data(order);
    int64_t *const sorted = taper_tensor_mutable(*scratch);
    for (int64_t i = 0; i < known->count && status == TAPER_OK; i++) {
        sorted[i] = keys[at[i]];
    }
    known->sorted = sorted;
    taper_tensor_drop(order);
    return status;
}

static taper_status isin(taper_call *call, taper_tensor *elements, taper_tensor *tests, taper_dtype dtype, bool invert)
{
    taper_run *run = call->run;
    taper_tensor *keys = NULL, *test_keys = NULL, *scratch = NULL, *result = NULL;
    const int64_t count = taper_tensor_numel(elements);
    known_keys known = {.count = taper_tensor_numel(tests), .nan = taper_key_of_nan(dtype)};
    isin_job job = {.known = &known, .floats = taper_dtype_is_float(dtype), .invert = invert};
    taper_status status = taper_index_keys(run, elements, dtype, &keys);
    if (status == TAPER_OK) {
        status = taper_index_keys(run, tests, dtype, &test_keys);
    }
    if (status == TAPER_OK) {
        status = know(run, taper_tensor_data(test_keys), count, &known, &scratch);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_BOOL, elements->rank, elements->sizes, NULL, &result, run->error);
    }
    if (status == TAPER_OK) {
        enum { WORK_OF_A_SEARCH = 40 };
        job.keys = taper_tensor_data(keys);
        job.to = taper_tensor_mutable(result);
        status = taper_run_range(run, isin_range, &job, (size_t)count, 1,
                                 (double)count * (known.there != NULL ? 1 : WORK_OF_A_SEARCH));
    }
    taper_tensor_drop(keys);
    taper_tensor_drop(test_keys);
    taper_tensor_drop(scratch);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

// Reads argument `at` as a tensor. A number becomes a tensor without dimensions.
static taper_status tensor_or_number(taper_call *call, size_t at, taper_promotion *promotion, taper_tensor **tensor)
{
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        TAPER_TRY(taper_arg_tensor(call, at, tensor));
        taper_promotion_tensor(promotion, *tensor);
        taper_obj_retain(&(*tensor)->head);
        return TAPER_OK;
    }
    taper_scalar scalar;
    TAPER_TRY(taper_arg_scalar(call, at, &scalar));
    taper_promotion_scalar(promotion, &scalar);
    TAPER_TRY(taper_tensor_new(call->run->heap, taper_scalar_dtype(&scalar), 0, NULL, NULL, tensor, call->run->error));
    taper_scalar_store(taper_scalar_dtype(&scalar), taper_tensor_mutable(*tensor), &scalar);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_isin)
{
    taper_tensor *elements, *tests;
    bool invert;
    taper_promotion promotion = taper_promotion_start();
    TAPER_TRY(taper_arg_bool(call, 3, &invert));
    TAPER_TRY(tensor_or_number(call, 0, &promotion, &elements));
    taper_status status = tensor_or_number(call, 1, &promotion, &tests);
    if (status == TAPER_OK) {
        status = isin(call, elements, tests, taper_promotion_result(&promotion), invert);
        taper_tensor_drop(tests);
    }
    taper_tensor_drop(elements);
    return status;
}
