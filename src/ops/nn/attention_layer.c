// SPDX-License-Identifier: BSD-2-Clause
// The fused encoder layer.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/nn/attention.h"
#include "ops/nn/nested.h"

enum {
    NORM_WEIGHT_1,
    NORM_BIAS_1,
    NORM_WEIGHT_2,
    NORM_BIAS_2,
    FFN_WEIGHT_1,
    FFN_BIAS_1,
    FFN_WEIGHT_2,
    FFN_BIAS_2,
    LAYER_TENSORS
};

typedef struct encoder {
    taper_mha mha;
    taper_tensor *given[LAYER_TENSORS]; // tensor arguments, borrowed from the call
    taper_tensor *own[LAYER_TENSORS];   // contiguous copies of the arguments in the working dtype
    bool gelu, norm_first;
    double eps;
} encoder;

static taper_status check_layer(const taper_call *call, const encoder *layer)
{
    const int64_t e = layer->mha.embed;
    const int64_t inner = layer->given[FFN_WEIGHT_1]->rank == 2 ? layer->given[FFN_WEIGHT_1]->sizes[0] : -1;
    const struct {
        size_t rank;
        int64_t sizes[2];
    } wanted[LAYER_TENSORS] = {{1, {e, 0}},     {1, {e, 0}},     {1, {e, 0}},     {1, {e, 0}},
                               {2, {inner, e}}, {1, {inner, 0}}, {2, {e, inner}}, {1, {e, 0}}};
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        const taper_tensor *t = layer->given[i];
        if (t->rank != wanted[i].rank || t->sizes[0] != wanted[i].sizes[0] ||
            (t->rank == 2 && t->sizes[1] != wanted[i].sizes[1])) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s should have sizes %s, has %s",
                       call->schema->args[10 + i].name, taper_shape_print(wanted[i].rank, wanted[i].sizes).text,
                       TAPER_SHAPE(t));
        }
        if (t->dtype != layer->mha.query->dtype) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s should have the dtype of src",
                       call->schema->args[10 + i].name);
        }
    }
    return TAPER_OK;
}

static taper_status run_encoder(taper_call *call, encoder *layer, taper_dtype work, taper_tensor **src,
                                taper_tensor **x)
{
    taper_run *run = call->run;
    const int64_t e = layer->mha.embed;
    taper_tensor *weights = NULL, **own = layer->own;
    TAPER_TRY(taper_tensor_new(run->heap, work, 3, layer->mha.query->sizes, NULL, src, run->error));
    TAPER_TRY(taper_run_copy(run, *src, layer->mha.query));
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        if (layer->given[i]->dtype == work) {
            TAPER_TRY(taper_run_contiguous(run, layer->given[i], &own[i]));
            continue;
        }
        TAPER_TRY(taper_tensor_new(run->heap, work, layer->given[i]->rank, layer->given[i]->sizes, NULL, &own[i],
                                   run->error));
        TAPER_TRY(taper_run_copy(run, own[i], layer->given[i]));
    }
    taper_mha mha = layer->mha;
    taper_tensor *normed = NULL, *inner = NULL;
    if (layer->norm_first) {
        TAPER_TRY(taper_tensor_new(run->heap, work, 3, (*src)->sizes, NULL, x, run->error));
        TAPER_TRY(taper_run_copy(run, *x, *src));
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_1], own[NORM_BIAS_1], layer->eps));
        TAPER_TRY(taper_tensor_cast(run, *x, (taper_dtype)mha.query->dtype, &normed));
        mha.query = mha.key = mha.value = normed;
        taper_tensor_drop(*x);
        *x = NULL;
    }
    mha.add = *src;
    taper_status status = taper_mha_run(call, &mha, x, &weights);
    taper_tensor_drop(normed);
    TAPER_TRY(status);
    // Keeps the tensor that is added to the output of the feed-forward part.
    if (layer->norm_first) {
        TAPER_TRY(taper_run_copy(run, *src, *x));
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_2], own[NORM_BIAS_2], layer->eps));
    } else {
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_1], own[NORM_BIAS_1], layer->eps));
        taper_tensor_drop(*src);
        *src = taper_tensor_keep(*x);
    }
    status = taper_attention_linear(call, *x, own[FFN_WEIGHT_1], own[FFN_BIAS_1], NULL, &inner);
    taper_tensor_drop(*x);
    *x = NULL;
    if (status == TAPER_OK) {
        status = taper_activate_rows(run, inner, layer->gelu);
    }
    if (status == TAPER_OK) {
        status = taper_attention_linear(call, inner, own[FFN_WEIGHT_2], own[FFN_BIAS_2], *src, x);
    }
    taper_tensor_drop(inner);
    if (status == TAPER_OK && !layer->norm_first) {
        status = taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_2], own[NORM_BIAS_2], layer->eps);
    }
    return status;
}

static taper_status compute_layer(taper_call *call, encoder *layer, taper_tensor **result)
{
    const taper_dtype dtype = (taper_dtype)layer->mha.query->dtype;
    taper_tensor *src = NULL;
    const taper_status status = run_encoder(call, layer, taper_work_dtype(dtype), &src, result);
    taper_tensor_drop(src);
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        taper_tensor_drop(layer->own[i]);
    }
    return status;
}

// Computes a batch of sequences of different lengths. No position attends to the padding, and the padding of the result
// gets the mark of padding again (nested.h).
static taper_status compute_nested(taper_call *call, encoder *layer, taper_tensor *padding, taper_tensor **result)
{
    taper_tensor *cleared = NULL;
    taper_mha *mha = &layer->mha;
    if (mha->mask != NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a mask cannot be given with a nested tensor");
    }
    taper_status status = taper_nested_cleared(call->run, mha->query, padding, &cleared);
    if (status == TAPER_OK) {
        mha->query = mha->key = mha->value = cleared;
        mha->mask = padding;
        mha->mask_type = 1;
        status = compute_layer(call, layer, result);
    }
    if (status == TAPER_OK) {
        taper_nested_mark(*result, padding); // the result is new, contiguous and float32, as taper_nested_mark needs
    }
    taper_tensor_drop(cleared);
    return status;
}

TAPER_KERNEL(taper_op_transformer_encoder_layer)
{
    encoder layer = {.mha = {.need_weights = false}};
    taper_mha *mha = &layer.mha;
    TAPER_TRY(taper_arg_tensor(call, 0, &mha->query));
    mha->key = mha->value = mha->query;
    TAPER_TRY(taper_arg_int(call, 1, &mha->embed));
    TAPER_TRY(taper_arg_int(call, 2, &mha->heads));
    TAPER_TRY(taper_arg_tensor(call, 3, &mha->qkv_weight));
    TAPER_TRY(taper_arg_tensor(call, 4, &mha->qkv_bias));
    TAPER_TRY(taper_arg_tensor(call, 5, &mha->out_weight));
    TAPER_TRY(taper_arg_tensor(call, 6, &mha->out_bias));
    TAPER_TRY(taper_arg_bool(call, 7, &layer.gelu));
    TAPER_TRY(taper_arg_bool(call, 8, &layer.norm_first));
    TAPER_TRY(taper_arg_double(call, 9, &layer.eps));
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        TAPER_TRY(taper_arg_tensor(call, 10 + i, &layer.given[i]));
    }
    TAPER_TRY(taper_arg_tensor_or_none(call, 18, &mha->mask));
    TAPER_TRY(taper_arg_int_or(call, 19, -1, &mha->mask_type));
    const taper_dtype dtype = (taper_dtype)mha->query->dtype;
    if (mha->query->rank != 3 || mha->query->sizes[2] != mha->embed || !taper_dtype_is_float(dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "src should be a floating-point tensor of 3 dimensions, the last of size %lld, its sizes are %s",
                   (long long)mha->embed, TAPER_SHAPE(mha->query));
    }
    TAPER_TRY(check_layer(call, &layer));
    taper_tensor *padding, *x = NULL;
    TAPER_TRY(taper_nested_padding(call->run, mha->query, &padding));
    const taper_status status =
        padding != NULL ? compute_nested(call, &layer, padding, &x) : compute_layer(call, &layer, &x);
    taper_tensor_drop(padding);
    if (status != TAPER_OK) {
        taper_tensor_drop(x);
        return status;
    }
    return taper_ret_cast(call, 0, x, dtype);
}
