// SPDX-License-Identifier: BSD-2-Clause
// embedding_bag, embedding_renorm, one_hot.
#include <math.h>

#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/index_into.h"
#include "ops/kernels/kernel_select.h"

enum { BAG_SUM = 0, BAG_MEAN = 1, BAG_MAX = 2 };

typedef struct bags {
    // The tensors. indices is a vector, and sample_weights may be NULL.
    const taper_tensor *weight, *indices, *offsets, *sample_weights;
    int64_t mode, padding;      // mode: sum, mean or max; padding: index that is ignored, or -1
    int64_t count, index_count; // number of bags; number of indices
    int64_t offset_count;
} bags;

static int64_t bag_start(const bags *b, int64_t bag)
{
    return bag < b->offset_count ? taper_index_at(b->offsets, bag * b->offsets->strides[0]) : b->index_count;
}

static taper_status check_bags(taper_run *run, const bags *b)
{
    taper_error *error = run->error;
    int64_t before = 0;
    for (int64_t i = 0; i < b->offset_count; i++) {
        if (!taper_run_step(run, i, 5)) {
            return taper_run_spend(run, 0);
        }
        const int64_t start = bag_start(b, i);
        if ((i == 0 && start != 0) || start < before || start > b->index_count) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "offsets[%lld] = %lld: offsets must rise from 0 to at most %lld", (long long)i,
                              (long long)start, (long long)b->index_count);
        }
        before = start;
    }
    // Charges the run for the checks of all indices at once, because memory limits their number.
    TAPER_TRY(taper_run_spend(run, (uint64_t)b->index_count * 2));
    for (int64_t i = 0; i < b->index_count; i++) {
        const int64_t row = taper_index_at(b->indices, i * b->indices->strides[0]);
        if (row < 0 || row >= b->weight->sizes[0]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be %lld",
                              (long long)row);
        }
    }
    return TAPER_OK;
}

#include "ops/nn/index_bag_floats.h"

// Fills the four results, which are contiguous and zeroed.
static void fill_bags(taper_run *run, const bags *b, taper_tensor *output, int64_t *bag_of, int64_t *sizes,
                      int64_t *largest)
{
    const taper_tensor *w = b->weight;
    const taper_dtype dtype = (taper_dtype)w->dtype;
    const int64_t width = w->sizes[1];
    const size_t item = taper_tensor_item(w);
    const taper_into_function add = taper_into_find(dtype, TAPER_INTO_ADD);
    for (int64_t bag = 0; bag < b->count; bag++) {
        const int64_t start = bag_start(b, bag), end = bag_start(b, bag + 1);
        char *to = (char *)taper_tensor_mutable(output) + (size_t)(bag * width) * item;
        int64_t used = 0;
        if (!taper_run_goes_on(run, (uint64_t)width * 20 + 50)) {
            return;
        }
        for (int64_t i = start; i < end && taper_run_goes_on(run, (uint64_t)width * (b->mode == BAG_MAX ? 20 : 5) + 20);
             i++) {
            bag_of[i] = bag;
            const int64_t row = taper_index_at(b->indices, i * b->indices->strides[0]);
            if (row == b->padding) {
                continue;
            }
            used++;
            const char *from = (const char *)taper_tensor_data(w) + row * w->strides[0] * (int64_t)item;
            const int64_t step = w->strides[1] * (int64_t)item;
            if (b->mode == BAG_MAX) {
                for (int64_t c = 0; c < width; c++) {
                    taper_scalar here, best;
                    taper_scalar_load(dtype, from + c * step, &here);
                    taper_scalar_load(dtype, to + (size_t)c * item, &best);
                    if (used == 1 || here.f > best.f) {
                        memcpy(to + (size_t)c * item, from + c * step, item);
                        largest[bag * width + c] = row;
                    }
                }
            } else if (b->sample_weights == NULL) {
                add(to, (int64_t)item, from, step, width);
            } else {
                const double scale =
                    taper_load_double((taper_dtype)b->sample_weights->dtype, taper_tensor_data(b->sample_weights), i);
                for (int64_t c = 0; c < width; c++) {
                    taper_scalar here, sum;
                    taper_scalar_load(dtype, from + c * step, &here);
                    taper_scalar_load(dtype, to + (size_t)c * item, &sum);
                    sum.f += here.f * scale;
                    taper_scalar_store(dtype, to + (size_t)c * item, &sum);
                }
            }
        }
        sizes[bag] = used;
        for (int64_t c = 0; b->mode == BAG_MEAN && used > 1 && c < width; c++) {
            taper_scalar sum;
            taper_scalar_load(dtype, to + (size_t)c * item, &sum);
            sum.f /= (double)used;
            taper_scalar_store(dtype, to + (size_t)c * item, &sum);
        }
    }
}

static taper_status make_bags(taper_call *call, const bags *b)
{
    taper_run *run = call->run;
    const int64_t sizes[2] = {b->count, b->weight->sizes[1]};
    taper_tensor *results[4] = {NULL};
    TAPER_TRY(check_bags(run, b));
    taper_status status = taper_run_zeros(run, (taper_dtype)b->weight->dtype, 2, sizes, &results[0]);
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, TAPER_I64, 1, &b->index_count, &results[1]);
    }
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, TAPER_I64, 1, &b->count, &results[2]);
    }
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, TAPER_I64, b->mode == BAG_MAX ? 2 : 1, sizes, &results[3]);
    }
    if (status == TAPER_OK) {
        int64_t *const bag_of = taper_tensor_mutable(results[1]), *const counts = taper_tensor_mutable(results[2]),
                       *const largest = taper_tensor_mutable(results[3]);
        status = fill_float_bags(run, b, results[0], bag_of, counts, largest);
        if (status == TAPER_DECLINED) {
            fill_bags(run, b, results[0], bag_of, counts, largest);
            status = TAPER_OK;
        }
    }
    for (size_t i = 0; i < 4; i++) {
        if (status == TAPER_OK) {
            status = taper_ret_tensor(call, i, results[i]);
        } else {
            taper_tensor_drop(results[i]);
        }
    }
    return status;
}

// Computes embedding_bag. padding_at is the position of the argument padding_idx, or 0 if there is none. A negative
// padding_idx counts from the end if `wraps` is set.
static taper_status embedding_bag(taper_call *call, size_t padding_at, bool wraps)
{
    taper_run *run = call->run;
    taper_error *error = run->error;
    taper_tensor *weight, *indices, *offsets, *samples, *flat = NULL, *flat_samples = NULL;
    bags b = {.padding = -1};
    bool include_last;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    TAPER_TRY(taper_arg_tensor(call, 1, &indices));
    TAPER_TRY(taper_arg_tensor(call, 2, &offsets));
    TAPER_TRY(taper_arg_int(call, 4, &b.mode));
    TAPER_TRY(taper_arg_tensor_or_none(call, 6, &samples));
    TAPER_TRY(taper_arg_bool(call, 7, &include_last));
    TAPER_TRY(taper_check_indices(indices, 1, "indices", "embedding_bag", error));
    TAPER_TRY(taper_check_indices(offsets, 1, "offsets", "embedding_bag", error));
    if (weight->rank != 2 || !taper_dtype_is_float((taper_dtype)weight->dtype) || indices->rank != 1 ||
        offsets->rank != 1 || b.mode < BAG_SUM || b.mode > BAG_MAX) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "embedding_bag: weight must be a matrix of floats, input and offsets vectors, mode 0, 1 or 2");
    }
    if (samples != NULL && (b.mode != BAG_SUM || taper_tensor_numel(samples) != indices->sizes[0])) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "embedding_bag: per_sample_weights need mode='sum' and as many elements as input");
    }
    if (padding_at != 0 && !taper_arg_is_none(call, padding_at)) {
        TAPER_TRY(taper_arg_int(call, padding_at, &b.padding));
        if (wraps) {
            if (b.padding < -weight->sizes[0] || b.padding >= weight->sizes[0]) {
                return taper_fail(error, TAPER_ERROR_ARGUMENT,
                                  "padding_idx must be within the number of embeddings, but got %lld",
                                  (long long)b.padding);
            }
            b.padding += b.padding < 0 ? weight->sizes[0] : 0;
        }
    }
    if (include_last && offsets->sizes[0] < 1) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "include_last_offset: number of offset should be at least 1");
    }
    b.weight = weight;
    b.offsets = offsets;
    b.offset_count = offsets->sizes[0];
    b.count = b.offset_count - (include_last ? 1 : 0);
    b.index_count = indices->sizes[0];
    TAPER_TRY(taper_index_flat(run, indices, &flat));
    b.indices = flat;
    taper_status status = samples == NULL ? TAPER_OK : taper_index_flat(run, samples, &flat_samples);
    b.sample_weights = flat_samples;
    if (status == TAPER_OK) {
        status = make_bags(call, &b);
    }
    taper_tensor_drop(flat_samples);
    taper_tensor_drop(flat);
    return status;
}

TAPER_KERNEL(taper_op_embedding_bag)
{
    return embedding_bag(call, 0, false);
}
TAPER_KERNEL(taper_op_embedding_bag_padding)
{
    return embedding_bag(call, 8, true);
}
TAPER_KERNEL(taper_op_embedding_bag_native)
{
    return embedding_bag(call, 8, false);
}

// ---- embedding_renorm

static double row_norm(const taper_tensor *w, int64_t row, double p)
{
    double sum = 0;
    for (int64_t c = 0; c < w->sizes[1]; c++) {
        const double x = fabs(
            taper_load_double((taper_dtype)w->dtype, taper_tensor_data(w), row * w->strides[0] + c * w->strides[1]));
        if (isinf(p)) {
            sum = x > sum || isnan(x) ? x : sum;
        } else {
            sum += p == 2 ? x * x : pow(x, p);
        }
    }
    return isinf(p) ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

TAPER_KERNEL(taper_op_embedding_renorm)
{
    taper_error *error = call->run->error;
    taper_tensor *w, *indices, *flat;
    double most, p;
    TAPER_TRY(taper_arg_tensor(call, 1, &indices));
    TAPER_TRY(taper_arg_double(call, 2, &most));
    TAPER_TRY(taper_arg_double(call, 3, &p));
    TAPER_TRY(taper_arg_tensor(call, 0, &w));
    TAPER_TRY(taper_check_indices(indices, 2, "indices", "embedding_renorm_", error));
    if (w->rank != 2 || !taper_dtype_is_float((taper_dtype)w->dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "self: expected a matrix of floats");
    }
    TAPER_TRY(taper_inplace_begin(call, TAPER_FORMAT_PRESERVE, &w));
    taper_status status = taper_index_flat(call->run, indices, &flat);
    if (status == TAPER_OK) {
        const size_t item = taper_tensor_item(w);
        for (int64_t i = 0; i < flat->sizes[0] && status == TAPER_OK; i++) {
            const int64_t row = taper_index_at(flat, i);
            if (row < 0 || row >= w->sizes[0]) {
                status = taper_fail(error, TAPER_ERROR_ARGUMENT, "index out of range in self: %lld", (long long)row);
                break;
            }
            status = taper_run_spend(call->run, (uint64_t)w->sizes[1] * 60 + 100);
            if (status != TAPER_OK) {
                break;
            }
            const double norm = row_norm(w, row, p); // if an earlier index named this row, its norm is within the bound
            for (int64_t c = 0; norm > most && c < w->sizes[1]; c++) {
                taper_scalar x;
                char *at = (char *)taper_tensor_mutable(w) + (row * w->strides[0] + c * w->strides[1]) * (int64_t)item;
                taper_scalar_load((taper_dtype)w->dtype, at, &x);
                x.f *= most / (norm + 1e-7);
                taper_scalar_store((taper_dtype)w->dtype, at, &x);
            }
        }
        taper_tensor_drop(flat);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(w);
        return status;
    }
    return taper_inplace_end(call, w);
}

// ---- one_hot

TAPER_KERNEL(taper_op_one_hot)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *flat, *result;
    int64_t classes, largest = -1;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &classes));
    if (x->dtype != TAPER_I64) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "one_hot is only applicable to index tensor.");
    }
    if (x->rank == TAPER_MAX_RANK) {
        return taper_rank_refused(error);
    }
    TAPER_TRY(taper_index_flat(call->run, x, &flat));
    taper_status status = TAPER_OK;
    for (int64_t i = 0; i < flat->sizes[0] && status == TAPER_OK; i++) {
        if (!taper_run_step(call->run, i, 3)) {
            status = taper_run_spend(call->run, 0);
            break;
        }
        const int64_t at = taper_index_at(flat, i);
        if (at < 0) {
            status = taper_fail(error, TAPER_ERROR_ARGUMENT, "Class values must be non-negative.");
        } else if (classes >= 0 && at >= classes) {
            status = taper_fail(error, TAPER_ERROR_ARGUMENT, "Class values must be smaller than num_classes.");
        }
        largest = taper_max_i64(largest, at);
    }
    if (status == TAPER_OK && classes <= 0 && (classes != -1 || largest < 0)) {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT,
                            largest < 0 ? "Can not infer total number of classes from empty tensor."
                                        : "num_classes should be positive");
    }
    if (status == TAPER_OK && classes == -1) {
        status = largest == INT64_MAX ? taper_fail(error, TAPER_ERROR_RESOURCE, "too many classes") : TAPER_OK;
        classes = largest == INT64_MAX ? 0 : largest + 1;
    }
    if (status == TAPER_OK) {
        int64_t sizes[TAPER_MAX_RANK];
        memcpy(sizes, x->sizes, sizeof sizes);
        sizes[x->rank] = classes;
        status = taper_run_zeros(call->run, TAPER_I64, x->rank + 1u, sizes, &result);
    }
    if (status == TAPER_OK) {
        int64_t *to = taper_tensor_mutable(result);
        for (int64_t i = 0; i < flat->sizes[0] && taper_run_step(call->run, i, 10); i++, to += classes) {
            to[taper_index_at(flat, i)] = 1;
        }
    }
    taper_tensor_drop(flat);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}
