// SPDX-License-Identifier: BSD-2-Clause
// Operators made of attention: the fused encoder layer and scaled dot product attention.
#include <math.h>

#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/list/kernels.h"
#include "ops/nn/attention.h"
#include "ops/nn/linear.h"
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
    taper_tensor *given[LAYER_TENSORS]; // borrowed
    taper_tensor *own[LAYER_TENSORS];   // contiguous, working dtype
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

// x linear in the given weight and bias, in place of *x.
static taper_status feed(taper_run *run, taper_tensor **x, taper_tensor *weight, taper_tensor *bias)
{
    taper_tensor *next = NULL;
    TAPER_TRY(taper_linear_new(run, *x, weight, bias, &next));
    taper_tensor_drop(*x);
    *x = next;
    return TAPER_OK;
}

static taper_status run_encoder(taper_run *run, encoder *layer, taper_dtype work, taper_tensor **src, taper_tensor **x)
{
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
    taper_tensor *normed = NULL;
    if (layer->norm_first) {
        const taper_dtype dtype = (taper_dtype)mha.query->dtype;
        TAPER_TRY(taper_tensor_new(run->heap, work, 3, (*src)->sizes, NULL, x, run->error));
        TAPER_TRY(taper_run_copy(run, *x, *src));
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_1], own[NORM_BIAS_1], layer->eps));
        TAPER_TRY(taper_tensor_cast(run, *x, dtype, &normed));
        mha.query = mha.key = mha.value = normed;
        taper_tensor_drop(*x);
        *x = NULL;
    }
    const taper_status status = taper_mha_run(run, &mha, x, &weights);
    taper_tensor_drop(normed);
    TAPER_TRY(status);
    taper_add_rows(*x, *src);
    if (!layer->norm_first) {
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_1], own[NORM_BIAS_1], layer->eps));
    }
    TAPER_TRY(taper_run_copy(run, *src, *x)); // what is added to the outcome of the feed-forward part
    if (layer->norm_first) {
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_2], own[NORM_BIAS_2], layer->eps));
    }
    TAPER_TRY(feed(run, x, own[FFN_WEIGHT_1], own[FFN_BIAS_1]));
    TAPER_TRY(taper_activate_rows(run, *x, layer->gelu));
    TAPER_TRY(feed(run, x, own[FFN_WEIGHT_2], own[FFN_BIAS_2]));
    taper_add_rows(*x, *src);
    if (!layer->norm_first) {
        TAPER_TRY(taper_layer_norm_rows(run, *x, e, own[NORM_WEIGHT_2], own[NORM_BIAS_2], layer->eps));
    }
    return TAPER_OK;
}

static taper_status compute_layer(taper_call *call, encoder *layer, taper_tensor **result)
{
    const taper_dtype dtype = (taper_dtype)layer->mha.query->dtype;
    taper_tensor *src = NULL;
    const taper_status status = run_encoder(call->run, layer, taper_work_dtype(dtype), &src, result);
    taper_tensor_drop(src);
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        taper_tensor_drop(layer->own[i]);
    }
    return status;
}

// Sequences of different lengths: what is padding is not looked at and stays padding.
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
        taper_nested_mark(*result, padding); // new, contiguous, float32
    }
    taper_tensor_drop(cleared);
    return status;
}

taper_status taper_op_transformer_encoder_layer(taper_call *call)
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

// ---- scaled dot product attention

// A bool mask (true: keep) as numbers to add; NULL stays.
static taper_status mask_to_add(taper_run *run, taper_tensor *mask, taper_dtype work, taper_tensor **added)
{
    TAPER_TRY(taper_tensor_cast(run, mask, work, added));
    if (mask->dtype != TAPER_BOOL) {
        return TAPER_OK;
    }
    const int64_t count = taper_tensor_numel(*added);
    for (int64_t i = 0; i < count; i++) { // a fresh, contiguous copy
        if (work == TAPER_F32) {
            float *x = (float *)taper_tensor_mutable(*added) + i;
            *x = *x != 0.0f ? 0.0f : -INFINITY;
        } else {
            double *x = (double *)taper_tensor_mutable(*added) + i;
            *x = *x != 0.0 ? 0.0 : -INFINITY;
        }
    }
    return TAPER_OK;
}

static void mask_causal(taper_tensor *scores)
{
    const int64_t width = scores->sizes[scores->rank - 1u], rows = scores->sizes[scores->rank - 2u];
    const int64_t count = taper_tensor_numel(scores);
    for (int64_t i = 0; i < count; i++) {
        if (i % width > i / width % rows) {
            if (scores->dtype == TAPER_F32) {
                ((float *)taper_tensor_mutable(scores))[i] = -INFINITY;
            } else {
                ((double *)taper_tensor_mutable(scores))[i] = -INFINITY;
            }
        }
    }
}

typedef struct sdpa_work {
    taper_tensor *q, *k, *v, *mask, *scores, *out;
} sdpa_work;

static taper_status run_sdpa(taper_call *call, taper_tensor *const *inputs, taper_tensor *mask, bool causal,
                             sdpa_work *own)
{
    taper_run *run = call->run;
    const taper_dtype work = taper_work_dtype((taper_dtype)inputs[0]->dtype);
    TAPER_TRY(taper_tensor_cast(run, inputs[0], work, &own->q));
    TAPER_TRY(taper_tensor_cast(run, inputs[1], work, &own->k));
    TAPER_TRY(taper_tensor_cast(run, inputs[2], work, &own->v));
    taper_tensor k = taper_tensor_twin_t(own->k);
    TAPER_TRY(taper_matmul_new(run, own->q, &k, &own->scores));
    const double depth = (double)taper_max_i64(inputs[0]->sizes[inputs[0]->rank - 1u], 1);
    const taper_scalar scale = {.kind = TAPER_SCALAR_DOUBLE, .f = 1.0 / sqrt(depth)},
                       zero = {.kind = TAPER_SCALAR_DOUBLE};
    TAPER_TRY(taper_product_combine(run, own->scores, own->scores, zero, scale));
    if (mask != NULL) {
        TAPER_TRY(mask_to_add(run, mask, work, &own->mask));
        TAPER_TRY(taper_product_combine(run, own->scores, own->mask, taper_scalar_one(), taper_scalar_one()));
    }
    if (causal) {
        mask_causal(own->scores);
    }
    TAPER_TRY(taper_softmax_rows(run, own->scores));
    return taper_matmul_new(run, own->scores, own->v, &own->out);
}

taper_status taper_op_scaled_dot_product_attention(taper_call *call)
{
    taper_tensor *inputs[3], *mask;
    double dropout;
    bool causal;
    taper_error *error = call->run->error;
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_tensor(call, i, &inputs[i]));
        if (inputs[i]->rank < 2 || !taper_dtype_is_float((taper_dtype)inputs[i]->dtype) ||
            inputs[i]->dtype != inputs[0]->dtype) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "%s should have at least 2 dimensions and a floating-point dtype, its sizes are %s",
                       call->schema->args[i].name, TAPER_SHAPE(inputs[i]));
        }
    }
    TAPER_TRY(taper_arg_tensor_or_none(call, 3, &mask));
    TAPER_TRY(taper_arg_double(call, 4, &dropout));
    TAPER_TRY(taper_arg_bool(call, 6, &causal));
    if (causal && mask != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    }
    if (dropout > 0.0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "dropout in attention is not supported; export the model with dropout_p=0");
    }
    sdpa_work own = {0};
    taper_status status = run_sdpa(call, inputs, mask, causal, &own);
    taper_tensor_drop(own.q);
    taper_tensor_drop(own.k);
    taper_tensor_drop(own.v);
    taper_tensor_drop(own.mask);
    const taper_dtype dtype = (taper_dtype)inputs[0]->dtype;
    if (status == TAPER_OK) {
        status = taper_ret_cast(call, 0, own.out, dtype);
        own.out = NULL;
    }
    if (status == TAPER_OK) {
        status = taper_ret_cast(call, 1, own.scores, dtype);
        own.scores = NULL;
    }
    taper_tensor_drop(own.out);
    taper_tensor_drop(own.scores);
    return status;
}
