// SPDX-License-Identifier: BSD-2-Clause
// cat, stack and similar operators. If the inputs are channels-last or hidden NHWC, the result has the same layout. A
// concatenation of channels then copies one row per pixel.
#include <math.h>

#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"

typedef struct cat_plan {
    size_t rank, dim;
    int64_t sizes[TAPER_MAX_RANK];
    taper_dtype dtype;
    bool any_hidden, all_channels_last;
    const taper_tensor *first;
} cat_plan;

// Returns true for one-dimensional tensors without elements, which PyTorch ignores.
static bool is_skipped(const taper_tensor *x)
{
    return x->rank == 1 && x->sizes[0] == 0;
}

static taper_status plan_cat(taper_error *error, const taper_list *list, int64_t dim, cat_plan *plan)
{
    *plan = (cat_plan){.all_channels_last = true};
    if (list->count == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "torch.cat(): expected a non-empty list of Tensors");
    }
    taper_promotion promotion = taper_promotion_start();
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag != TAPER_TENSOR) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "tensors: item %zu is no Tensor", i);
        }
        const taper_tensor *x = list->items[i].as.tensor;
        if (x->rank == 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "zero-dimensional tensor (at position %zu) cannot be concatenated", i);
        }
        taper_promotion_tensor(&promotion, x);
        plan->any_hidden = plan->any_hidden || x->hidden_nhwc;
        plan->all_channels_last = plan->all_channels_last && taper_tensor_suggests_channels_last(x);
        if (is_skipped(x)) {
            continue;
        }
        if (plan->first == NULL) {
            plan->first = x;
            plan->rank = x->rank;
            memcpy(plan->sizes, x->sizes, sizeof plan->sizes);
            TAPER_TRY(taper_wrap_dim_or_fail(dim, x->rank, &plan->dim, error));
            continue;
        }
        if (x->rank != plan->rank) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "Tensors must have same number of dimensions: got %zu and %u", plan->rank,
                              (unsigned)x->rank);
        }
        for (size_t d = 0; d < plan->rank; d++) {
            if (d == plan->dim) {
                if (!taper_add_i64(plan->sizes[d], x->sizes[d], &plan->sizes[d])) {
                    return taper_fail(error, TAPER_ERROR_RESOURCE, "the concatenation is too large");
                }
            } else if (x->sizes[d] != plan->sizes[d]) {
                return taper_fail(
                    error, TAPER_ERROR_ARGUMENT,
                    "Sizes of tensors must match except in dimension %zu. Expected size %lld but got size %lld for "
                    "tensor number %zu in the list.",
                    plan->dim, (long long)plan->sizes[d], (long long)x->sizes[d], i);
            }
        }
    }
    const taper_tensor *any = list->items[0].as.tensor;
    if (plan->first == NULL) {
        plan->rank = 1;
    }
    const taper_tensor *model = plan->first != NULL ? plan->first : any;
    plan->dtype = taper_dtype_is_quantized((taper_dtype)model->dtype) ? (taper_dtype)model->dtype
                                                                      : taper_promotion_result(&promotion);
    return TAPER_OK;
}

static bool same_quantizer(const taper_tensor *a, const taper_tensor *b)
{
    return a->dtype == b->dtype && a->quantizer != NULL && b->quantizer != NULL && a->quantizer->scales == NULL &&
           b->quantizer->scales == NULL && a->quantizer->scale == b->quantizer->scale &&
           a->quantizer->zero_point == b->quantizer->zero_point;
}

// Converts 8-bit values to another scale through float, with the results of dequantize and quantize.
static taper_status requantize(taper_run *run, taper_tensor *to, const taper_tensor *from)
{
    const bool bytes = (to->dtype == TAPER_QU8 || to->dtype == TAPER_QI8) && from->dtype == to->dtype;
    if (!bytes || from->quantizer == NULL || to->quantizer == NULL || from->quantizer->scales != NULL ||
        to->quantizer->scales != NULL) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED,
                          "cat: only per-tensor quantized 8-bit tensors of one dtype can be joined");
    }
    const float scale = (float)from->quantizer->scale, inverse = 1.0f / (float)to->quantizer->scale;
    const int low = to->dtype == TAPER_QI8 ? -128 : 0;
    uint8_t table[256];
    for (int i = 0; i < 256; i++) {
        const int q = i + low;
        const float value = scale * (float)(q - from->quantizer->zero_point);
        const float wanted = nearbyintf(value * inverse) + (float)to->quantizer->zero_point;
        const float held = wanted < (float)low ? (float)low : wanted > (float)(low + 255) ? (float)(low + 255) : wanted;
        table[(uint8_t)q] = (uint8_t)((int)held & 0xff);
    }
    TAPER_TRY(taper_tensor_move(run, to, from));
    // The loop replaces each byte of `to` by its entry in the table.
    int64_t steps[TAPER_MAX_RANK];
    taper_walk walk;
    taper_tensor_steps(to, 1, steps);
    taper_walk_over(&walk, to->rank, to->sizes, SIZE_MAX, steps, NULL);
    uint8_t *p = taper_tensor_mutable(to);
    const int64_t count = taper_tensor_numel(to);
    TAPER_TRY(taper_run_spend(run, (uint64_t)count * 2)); // charges the run for the elements that were just moved
    for (int64_t n = 0; n < count; n++) {
        p[walk.at[0]] = table[p[walk.at[0]]];
        (void)taper_walk_next(&walk);
    }
    return TAPER_OK;
}

#include "ops/tensor/cat_rows.h"

static taper_status fill_cat(taper_run *run, const taper_list *list, const cat_plan *plan, taper_tensor *result)
{
    int64_t start = 0;
    const taper_status status = fill_rows(run, list, plan, result);
    if (status != TAPER_DECLINED) {
        return status;
    }
    for (size_t i = 0; i < list->count; i++) {
        const taper_tensor *x = list->items[i].as.tensor;
        if (is_skipped(x)) {
            continue;
        }
        taper_tensor part = taper_tensor_local(result); // this view on the stack is used only in this function
        part.sizes[plan->dim] = x->sizes[plan->dim];
        part.offset = taper_wrap_add(part.offset, taper_wrap_mul(start, result->strides[plan->dim]));
        start += x->sizes[plan->dim];
        if (taper_tensor_numel(x) == 0) {
            continue;
        }
        if (taper_dtype_is_quantized(plan->dtype) && !same_quantizer(x, result)) {
            TAPER_TRY(requantize(run, &part, x));
        } else if (x->dtype == result->dtype) {
            TAPER_TRY(taper_tensor_move(run, &part, x));
        } else {
            TAPER_TRY(taper_run_copy(run, &part, x));
        }
    }
    return TAPER_OK;
}

// Makes a new tensor for the concatenation.
static taper_status make_cat(taper_run *run, const taper_list *list, int64_t dim, taper_tensor **result)
{
    cat_plan plan;
    TAPER_TRY(plan_cat(run->error, list, dim, &plan));
    int64_t strides[TAPER_MAX_RANK];
    const bool planes = (plan.rank == 4 || plan.rank == 5) && (plan.any_hidden || plan.all_channels_last);
    if (planes) {
        taper_strides_channels_last(plan.rank, plan.sizes, strides);
    }
    TAPER_TRY(
        taper_tensor_new(run->heap, plan.dtype, plan.rank, plan.sizes, planes ? strides : NULL, result, run->error));
    (*result)->hidden_nhwc = planes && plan.any_hidden;
    taper_status status = TAPER_OK;
    if (taper_dtype_is_quantized(plan.dtype) && plan.first != NULL) {
        status = taper_tensor_set_quantizer(*result, plan.first->quantizer, run->error);
    }
    if (status == TAPER_OK) {
        status = fill_cat(run, list, &plan, *result);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*result);
    }
    return status;
}

static taper_status ret_made(taper_call *call, taper_tensor *result)
{
    const taper_tensor *target = taper_ret_target(call, 0);
    const taper_status status =
        target == NULL ? TAPER_OK
                       : taper_check_cast((taper_dtype)result->dtype, (taper_dtype)target->dtype, call->run->error);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

static taper_status ret_cat(taper_call *call, const taper_list *list, int64_t dim)
{
    taper_tensor *result;
    TAPER_TRY(make_cat(call->run, list, dim, &result));
    return ret_made(call, result);
}

TAPER_KERNEL(taper_op_cat)
{
    taper_list *list;
    int64_t dim;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &dim));
    return ret_cat(call, list, dim);
}

// ---- stack and similar operators: cat of tensors to which dimensions were added

typedef taper_status (*shape_change)(const taper_tensor *x, int64_t dim, taper_view *view, taper_error *error);

static taper_status cat_changed(taper_call *call, shape_change change, int64_t argument, int64_t dim)
{
    taper_list *in;
    TAPER_TRY(taper_arg_list(call, 0, &in));
    taper_list *list = taper_list_new(call->run->heap, &taper_type_tensor, in->count);
    if (list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < in->count; i++) {
        taper_tensor *x, *changed = NULL;
        taper_view view;
        status = taper_arg_tensor_item(call, 0, i, false, &x);
        if (status == TAPER_OK) {
            status = taper_run_settle(call->run, x);
        }
        if (status == TAPER_OK) {
            taper_view_of(x, &view);
            status = change(x, argument, &view, call->run->error);
        }
        if (status == TAPER_OK) {
            status = taper_view_make(call->run, x, &view, &changed);
        }
        if (status == TAPER_OK) {
            status = taper_tensor_list_add(call, list, changed);
        }
    }
    if (status == TAPER_OK) {
        status = ret_cat(call, list, dim);
    }
    taper_obj_release(&list->head.head);
    return status;
}

static taper_status insert_dim(const taper_tensor *x, int64_t dim, taper_view *view, taper_error *error)
{
    const size_t at = (size_t)dim;
    const int64_t stride = at >= x->rank ? 1 : taper_wrap_mul(x->sizes[at], x->strides[at]);
    return taper_view_insert(view, at, 1, stride, error);
}

TAPER_KERNEL(taper_op_stack)
{
    taper_error *error = call->run->error;
    taper_list *list;
    taper_tensor *first, *x;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    if (list->count == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "stack expects a non-empty TensorList");
    }
    size_t dim;
    TAPER_TRY(taper_arg_tensor_item(call, 0, 0, false, &first));
    TAPER_TRY(taper_arg_dim(call, 1, first->rank + 1u, &dim));
    for (size_t i = 1; i < list->count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        if (x->rank != first->rank || memcmp(x->sizes, first->sizes, x->rank * sizeof x->sizes[0]) != 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %zu",
                              taper_sizes_print(first->rank, first->sizes).text,
                              taper_sizes_print(x->rank, x->sizes).text, i);
        }
    }
    if (dim == first->rank) {
        return cat_changed(call, insert_dim, (int64_t)dim, (int64_t)dim);
    }
    // PyTorch concatenates along dim and then divides dim in two, so the result has the strides of that view.
    if (first->rank == TAPER_MAX_RANK) {
        return taper_rank_refused(error);
    }
    TAPER_TRY(make_cat(call->run, list, (int64_t)dim, &x));
    taper_view view = {.rank = x->rank + 1u};
    memcpy(view.sizes, x->sizes, dim * sizeof *view.sizes);
    view.sizes[dim] = (int64_t)list->count;
    memcpy(&view.sizes[dim + 1], &first->sizes[dim], (first->rank - dim) * sizeof *view.sizes);
    taper_status status = taper_run_settle(call->run, x);
    if (status == TAPER_OK && !taper_shape_strides(x, view.rank, view.sizes, view.strides)) {
        status = taper_fail(error, TAPER_ERROR_INTERNAL, "stack: a dimension that cannot be split");
    }
    if (status == TAPER_OK) {
        status = taper_view_assign(call->run, x, &view);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(x);
        return status;
    }
    return ret_made(call, x);
}

static taper_status raise_rank(const taper_tensor *x, int64_t rank, taper_view *view, taper_error *error)
{
    (void)x;
    return taper_view_raise(view, (size_t)rank, error);
}

TAPER_KERNEL(taper_op_hstack)
{
    taper_list *list;
    taper_tensor *first = NULL;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    if (list->count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "hstack expects a non-empty TensorList");
    }
    TAPER_TRY(taper_arg_tensor_item(call, 0, 0, false, &first));
    return cat_changed(call, raise_rank, 1, first->rank <= 1 ? 0 : 1);
}

TAPER_KERNEL(taper_op_vstack)
{
    return cat_changed(call, raise_rank, 2, 0);
}
TAPER_KERNEL(taper_op_dstack)
{
    return cat_changed(call, raise_rank, 3, 2);
}

static taper_status to_column(const taper_tensor *x, int64_t unused, taper_view *view, taper_error *error)
{
    (void)unused;
    if (x->rank == 0) {
        TAPER_TRY(taper_view_insert(view, 0, 1, 1, error));
    }
    return view->rank == 1 ? taper_view_insert(view, 1, 1, 1, error) : TAPER_OK;
}

TAPER_KERNEL(taper_op_column_stack)
{
    return cat_changed(call, to_column, 0, 1);
}

// ---- block_diag

TAPER_KERNEL(taper_op_block_diag)
{
    taper_error *error = call->run->error;
    taper_list *list;
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    taper_promotion promotion = taper_promotion_start();
    int64_t sizes[2] = {0, 0};
    for (size_t i = 0; i < list->count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        if (x->rank > 2) {
            return taper_fail(
                error, TAPER_ERROR_ARGUMENT,
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %zu has %u dimensions", i,
                (unsigned)x->rank);
        }
        taper_promotion_tensor(&promotion, x);
        const int64_t rows = x->rank == 2 ? x->sizes[0] : 1, columns = x->rank == 0 ? 1 : x->sizes[x->rank - 1];
        if (!taper_add_i64(sizes[0], rows, &sizes[0]) || !taper_add_i64(sizes[1], columns, &sizes[1])) {
            return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
        }
    }
    if (list->count == 0) {
        sizes[0] = 1;
    }
    TAPER_TRY(taper_run_zeros(call->run, list->count == 0 ? TAPER_F32 : taper_promotion_result(&promotion), 2, sizes,
                              &result));
    taper_tensor part = taper_tensor_local(result);
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < list->count; i++) {
        x = list->items[i].as.tensor;
        part.rank = x->rank;
        part.sizes[0] = x->rank > 0 ? x->sizes[0] : 1;
        part.sizes[1] = x->rank > 1 ? x->sizes[1] : 1;
        part.strides[0] = x->rank == 2 ? result->strides[0] : 1;
        part.strides[1] = 1;
        status = taper_run_copy(call->run, &part, x);
        const int64_t rows = x->rank == 2 ? x->sizes[0] : 1, columns = x->rank == 0 ? 1 : x->sizes[x->rank - 1];
        part.offset += rows * result->strides[0] + columns;
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

// ---- sequences and flat buffers

TAPER_KERNEL(taper_op_pad_sequence)
{
    taper_error *error = call->run->error;
    taper_list *list;
    taper_tensor *x, *first, *result;
    bool batch_first;
    double padding;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_bool(call, 1, &batch_first));
    TAPER_TRY(taper_arg_double(call, 2, &padding));
    if (list->count == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "received an empty list of sequences");
    }
    TAPER_TRY(taper_arg_tensor_item(call, 0, 0, false, &first));
    int64_t longest = 0;
    for (size_t i = 0; i < list->count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        if (x->rank == 0 || x->rank != first->rank || x->rank >= TAPER_MAX_RANK ||
            memcmp(x->sizes + 1, first->sizes + 1, (x->rank - 1u) * sizeof x->sizes[0]) != 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "sequences: item %zu does not fit to item 0", i);
        }
        longest = taper_max_i64(longest, x->sizes[0]);
    }
    int64_t sizes[TAPER_MAX_RANK];
    sizes[batch_first ? 0 : 1] = (int64_t)list->count;
    sizes[batch_first ? 1 : 0] = longest;
    for (size_t d = 1; d < first->rank; d++) {
        sizes[d + 1] = first->sizes[d];
    }
    TAPER_TRY(
        taper_tensor_new(call->run->heap, (taper_dtype)first->dtype, first->rank + 1u, sizes, NULL, &result, error));
    const taper_scalar scalar = taper_scalar_double(padding);
    taper_status status = taper_tensor_fill(call->run, result, &scalar);
    for (size_t i = 0; status == TAPER_OK && i < list->count; i++) {
        x = list->items[i].as.tensor;
        taper_tensor part = taper_tensor_local(result);
        part.offset += (int64_t)i * result->strides[batch_first ? 0 : 1];
        part.rank = first->rank;
        part.strides[0] = result->strides[batch_first ? 1 : 0];
        for (size_t d = 0; d < first->rank; d++) {
            part.sizes[d] = x->sizes[d];
            part.strides[d] = d == 0 ? part.strides[0] : result->strides[d + 1];
        }
        status = taper_run_copy(call->run, &part, x);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}
