// SPDX-License-Identifier: BSD-2-Clause
// Concatenation of quantized tensors. Elements are dequantized and quantized to the result's scale and zero point.
// Channels-last tensors that are joined along the channels are computed as in PyTorch's vector loops (quantized.h). If
// the quantizers agree, these tensors are copied.
#include <inttypes.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_walk.h"

typedef struct cat_plan {
    const taper_list *list;
    const taper_tensor *first;
    size_t dim;
    int64_t sizes[TAPER_MAX_RANK];
    bool planes;   // true if the result is channels-last
    bool channels; // true if the tensors are joined along the channels, pixel by pixel
} cat_plan;

typedef struct requantize_work {
    const taper_run *run;
    taper_dtype dtype;
    taper_q_range range;
    float scale, inverse;
    int64_t from_point, point;
    bool relu, relu_after, same;
    // Number of channels of a run; `wide`: number of its first channels that are computed as in PyTorch's vectors.
    int64_t channels, wide;
    uint8_t tables[2][256]; // the result for each byte: in plain loops, and in vectors
} requantize_work;

static int64_t requantized(const requantize_work *w, int64_t q, bool wide)
{
    if (!w->same) {
        float x =
            wide ? taper_q_dequantize_wide(w->scale, w->from_point, q) : taper_q_dequantize(w->scale, w->from_point, q);
        x = w->relu && !(x > 0) ? 0 : x;
        q = wide && w->dtype != TAPER_QI32 ? taper_q_round_wide(x * w->inverse, w->point, w->range)
                                           : taper_q_round(x * w->inverse, w->point, w->range);
    }
    return w->relu_after && q < w->point ? w->point : q;
}

static void make_tables(requantize_work *w)
{
    for (int i = 0; i < 256; i++) {
        const int64_t q = w->dtype == TAPER_QI8 ? (int8_t)i : i;
        for (size_t wide = 0; wide < 2; wide++) {
            w->tables[wide][i] = (uint8_t)requantized(w, q, wide != 0);
        }
    }
}

static void byte_row(const void *work, const taper_q_row *row)
{
    const requantize_work *w = work;
    const uint8_t *x = (const uint8_t *)row->a + row->a_at;
    uint8_t *y = (uint8_t *)row->y + row->y_at;
    if (row->a_step != 1 || row->y_step != 1) {
        const int64_t step = row->y_step;
        for (int64_t i = 0; i < row->count && w->wide == 0; i++) {
            y[i * step] = w->tables[0][x[i * row->a_step]];
        }
        for (int64_t i = 0; i < row->count && w->wide != 0; i++) {
            const bool wide = (row->first + i) % w->channels < w->wide;
            y[i * step] = w->tables[wide][x[i * row->a_step]];
        }
    } else if (w->same && !w->relu_after) {
        memcpy(y, x, (size_t)row->count);
    } else {
        for (int64_t i = 0, all; i < row->count; i += all) {
            const int64_t from = w->wide != 0 ? (row->first + i) % w->channels : 0;
            all = w->wide != 0 ? taper_min_i64(w->channels - from, row->count - i) : row->count;
            const int64_t wide = taper_max_i64(0, taper_min_i64(w->wide - from, all));
            taper_q_translate(w->run, w->tables[1], (size_t)wide, x + i, y + i);
            taper_q_translate(w->run, w->tables[0], (size_t)(all - wide), x + i + wide, y + i + wide);
        }
    }
}

static void requantize_row(const void *work, const taper_q_row *row)
{
    const requantize_work *w = work;
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t q = taper_q_load(w->dtype, row->a, row->a_at + i * row->a_step);
        const bool wide = w->wide != 0 && (row->first + i) % w->channels < w->wide;
        taper_q_store(w->dtype, row->y, row->y_at + i * row->y_step, requantized(w, q, wide));
    }
}

static bool is_skipped(const taper_tensor *x) // returns true for tensors that torch.cat ignores
{
    return x->rank == 1 && x->sizes[0] == 0;
}

static taper_status plan_cat(const taper_call *call, cat_plan *plan)
{
    taper_error *error = call->run->error;
    taper_list *list;
    int64_t dim, total = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &dim));
    *plan = (cat_plan){.list = list, .planes = true, .channels = dim == 1};
    if (list->count == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument '%s': there are no tensors to join", taper_arg_name(call, 0));
    }
    for (size_t i = 0; i < list->count; i++) {
        taper_tensor *x;
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        TAPER_TRY(taper_run_settle(call->run, x));
        TAPER_TRY(taper_q_check_tensor(call->run, taper_arg_name(call, 0), x));
        if (x->quantizer->scales != NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "only tensors quantized per tensor can be joined");
        }
        if (is_skipped(x) && list->count > 1) {
            continue;
        }
        if (plan->first == NULL) {
            plan->first = x;
            TAPER_TRY(taper_wrap_dim_or_fail(dim, x->rank, &plan->dim, error));
            memcpy(plan->sizes, x->sizes, sizeof plan->sizes);
        }
        if (x->rank == 0 || x->rank != plan->first->rank || x->dtype != plan->first->dtype) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "the tensors must have one dtype and the same number of dimensions (at least one), but item %zu "
                       "is %s of "
                       "%u dimensions and the first %s of %u",
                       i, taper_dtype_name((taper_dtype)x->dtype), x->rank,
                       taper_dtype_name((taper_dtype)plan->first->dtype), plan->first->rank);
        }
        for (size_t d = 0; d < x->rank; d++) {
            if (d != plan->dim && x->sizes[d] != plan->sizes[d]) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                           "sizes must match except in dimension %zu: item %zu has %" PRId64 ", the first %" PRId64
                           " in dimension %zu",
                           plan->dim, i, x->sizes[d], plan->sizes[d], d);
            }
        }
        if (!taper_add_i64(total, x->sizes[plan->dim], &total)) {
            TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "the joined tensor is too large");
        }
        plan->planes = plan->planes && taper_tensor_suggests_channels_last(x);
        plan->channels = plan->channels && x->rank == 4 && taper_tensor_is_channels_last(x);
    }
    if (plan->first == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument '%s': all tensors are empty", taper_arg_name(call, 0));
    }
    plan->sizes[plan->dim] = total;
    return TAPER_OK;
}

static taper_status join(taper_call *call, double scale, int64_t point, const cat_plan *plan, bool relu)
{
    const taper_dtype dtype = (taper_dtype)plan->first->dtype;
    const size_t rank = plan->first->rank;
    const bool planes = plan->planes || plan->channels;
    int64_t strides[TAPER_MAX_RANK], start = 0;
    taper_tensor *y;
    if (planes) {
        taper_strides_channels_last(rank, plan->sizes, strides);
    }
    TAPER_TRY(taper_ret_quantized(call, 0, dtype, rank, plan->sizes, planes ? strides : NULL, scale, point, &y));
    for (size_t i = 0; i < plan->list->count; i++) {
        const taper_tensor *x = plan->list->items[i].as.tensor;
        if (x->rank != rank || taper_tensor_numel(x) == 0) {
            continue;
        }
        if (x->storage == y->storage) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor shares memory with item %zu", i);
        }
        taper_tensor part = taper_tensor_local(y); // a view, on the stack only
        part.sizes[plan->dim] = x->sizes[plan->dim];
        part.offset += start * y->strides[plan->dim];
        start += x->sizes[plan->dim];
        requantize_work work = {.run = call->run,
                                .dtype = dtype,
                                .range = taper_q_range_of(dtype),
                                .scale = (float)x->quantizer->scale,
                                .inverse = 1.0f / (float)scale,
                                .from_point = x->quantizer->zero_point,
                                .point = point,
                                .relu = relu && plan->channels,
                                .relu_after = relu && !plan->channels};
        if (plan->channels) {
            work.same = !relu && x->quantizer->scale == scale && work.from_point == point;
            work.channels = x->sizes[1];
            work.wide = x->sizes[1] / 8 * 8;
        }
        if (dtype != TAPER_QI32) {
            make_tables(&work);
        }
        taper_q_walk(call->run, &part, x, NULL, dtype != TAPER_QI32 ? byte_row : requantize_row, &work);
    }
    return TAPER_OK;
}

static taper_status cat(taper_call *call, bool relu)
{
    cat_plan plan;
    TAPER_TRY(plan_cat(call, &plan));
    const taper_tensor *out = taper_q_out(call, 0);
    double scale = plan.first->quantizer->scale;
    int64_t point = plan.first->quantizer->zero_point;
    if (out != NULL) {
        TAPER_TRY(taper_q_check_tensor(call->run, "out", out));
        scale = out->quantizer->scale;
        point = out->quantizer->zero_point;
    } else if (call->arg_count > 3) {
        TAPER_TRY(taper_arg_double_or(call, 2, scale, &scale));
        TAPER_TRY(taper_arg_int_or(call, 3, point, &point));
    }
    return join(call, scale, point, &plan, relu);
}

TAPER_KERNEL(taper_op_q_cat)
{
    return cat(call, false);
}

TAPER_KERNEL(taper_op_q_cat_relu)
{
    return cat(call, true);
}
