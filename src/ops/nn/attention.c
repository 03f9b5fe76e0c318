// SPDX-License-Identifier: BSD-2-Clause
// The fused multi-head attention, and the operator that is only it.
#include "ops/nn/attention.h"

#include <math.h>

#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/list/kernels.h"

static taper_status check_shapes(taper_run *run, const taper_mha *mha)
{
    taper_error *error = run->error;
    const taper_tensor *q = mha->query;
    if (q->rank != 3) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected 3-D `query`, got %u-D tensor", q->rank);
    }
    if (q->sizes[2] != mha->embed) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "passed-in embed_dim %lld didn't match last dim of query %lld",
                   (long long)mha->embed, (long long)q->sizes[2]);
    }
    const taper_tensor *const others[] = {mha->key, mha->value};
    for (size_t i = 0; i < 2; i++) {
        if (others[i]->rank != 3 || memcmp(others[i]->sizes, q->sizes, 3 * sizeof *q->sizes) != 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected `query`/`key`/`value` shapes to match, got %s and %s",
                       TAPER_SHAPE(q), TAPER_SHAPE(others[i]));
        }
    }
    if (mha->heads < 1 || mha->embed % mha->heads != 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "`embed_dim` must divide evenly by `num_heads`");
    }
    int64_t triple;
    if (!taper_mul_i64(mha->embed, 3, &triple)) {
        return taper_fail_memory(error);
    }
    const struct {
        const taper_tensor *tensor;
        const char *name;
        size_t rank;
        int64_t sizes[2];
    } wanted[] = {{mha->qkv_weight, "qkv_weight", 2, {triple, mha->embed}},
                  {mha->qkv_bias, "qkv_bias", 1, {triple, 0}},
                  {mha->out_weight, "proj_weight", 2, {mha->embed, mha->embed}},
                  {mha->out_bias, "proj_bias", 1, {mha->embed, 0}}};
    for (size_t i = 0; i < 4; i++) {
        const taper_tensor *t = wanted[i].tensor;
        if (t->rank != wanted[i].rank || t->sizes[0] != wanted[i].sizes[0] ||
            (t->rank == 2 && t->sizes[1] != wanted[i].sizes[1])) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected `%s` to have sizes %s, but it has %s", wanted[i].name,
                       taper_shape_print(wanted[i].rank, wanted[i].sizes).text, TAPER_SHAPE(t));
        }
        if (t->dtype != q->dtype) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but `%s` is %s",
                       taper_dtype_torch_name((taper_dtype)q->dtype), wanted[i].name,
                       taper_dtype_torch_name((taper_dtype)t->dtype));
        }
    }
    if (!taper_dtype_is_float((taper_dtype)q->dtype) || mha->key->dtype != q->dtype || mha->value->dtype != q->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "query, key and value should have one floating-point dtype");
    }
    return TAPER_OK;
}

// The mask as [B, heads, T, T] with strides of 0 where it repeats.
static taper_status expand_mask(taper_run *run, const taper_mha *mha, const taper_tensor *mask, taper_tensor *twin)
{
    const int64_t b = mha->query->sizes[0], t = mha->query->sizes[1];
    const int64_t sizes[4] = {b, mha->heads, t, t};
    int64_t strides[4] = {0};
    bool fits = false;
    if (mha->mask_type < 0) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "Mask Type should be defined");
    }
    if (mha->mask_type == 1) {
        fits = mask->rank == 2 && mask->sizes[0] == b && mask->sizes[1] == t;
        strides[0] = mask->strides[0];
        strides[3] = mask->strides[1];
    } else if (mha->mask_type == 0) {
        fits = mask->rank == 2 && mask->sizes[0] == t && mask->sizes[1] == t;
        strides[2] = mask->strides[0];
        strides[3] = mask->strides[1];
    } else {
        fits = taper_broadcast_strides(mask, 4, sizes, strides);
    }
    if (!fits) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "a mask of sizes %s (type %lld) does not fit attention of sizes %s", TAPER_SHAPE(mask),
                   (long long)mha->mask_type, taper_shape_print(4, sizes).text);
    }
    *twin = taper_tensor_twin(mask, 4, sizes, strides);
    return TAPER_OK;
}

// scores [T, T] of one head: -inf where the mask (bool) says so.
static void apply_mask(taper_tensor *scores, int64_t head_offset, const taper_tensor *mask, int64_t at)
{
    const int64_t t = mask->sizes[3];
    for (int64_t i = 0; i < t; i++) {
        for (int64_t j = 0; j < t; j++) {
            if (((const uint8_t *)taper_tensor_data(mask))[at + i * mask->strides[2] + j * mask->strides[3]] == 0) {
                continue;
            }
            if (scores->dtype == TAPER_F32) {
                ((float *)taper_tensor_mutable(scores))[head_offset + i * t + j] = -INFINITY;
            } else {
                ((double *)taper_tensor_mutable(scores))[head_offset + i * t + j] = -INFINITY;
            }
        }
    }
}

static void scale_rows(taper_dtype dtype, void *data, int64_t rows, int64_t width, int64_t step, double factor)
{
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < width; i++) {
            if (dtype == TAPER_F32) {
                ((float *)data)[r * step + i] *= (float)factor;
            } else {
                ((double *)data)[r * step + i] *= factor;
            }
        }
    }
}

typedef struct mha_work {
    taper_tensor *qkv;    // [3, B, T, embed]
    taper_tensor *scores; // [B, heads, T, T]
    taper_tensor *joined; // [B, T, embed]
    taper_tensor *mask;   // bool
} mha_work;

// q, k and v side by side, each with its part of the weight.
static taper_status project_all(taper_run *run, const taper_mha *mha, taper_dtype work, mha_work *own)
{
    const int64_t *sizes = mha->query->sizes;
    const int64_t all[4] = {3, sizes[0], sizes[1], mha->embed};
    taper_tensor *const inputs[] = {mha->query, mha->key, mha->value};
    TAPER_TRY(taper_tensor_new(run->heap, work, 4, all, NULL, &own->qkv, run->error));
    for (int64_t i = 0; i < 3; i++) {
        taper_tensor weight =
            taper_tensor_twin(mha->qkv_weight, 2, (const int64_t[]){mha->embed, mha->embed}, mha->qkv_weight->strides);
        taper_tensor bias = taper_tensor_twin(mha->qkv_bias, 1, &mha->embed, mha->qkv_bias->strides);
        weight.offset += i * mha->embed * mha->qkv_weight->strides[0];
        bias.offset += i * mha->embed * mha->qkv_bias->strides[0];
        weight = taper_tensor_twin_t(&weight);
        taper_tensor *part = NULL;
        taper_status status = taper_matmul_new(run, inputs[i], &weight, &part);
        if (status == TAPER_OK) {
            status = taper_product_combine(run, part, &bias, taper_scalar_one(), taper_scalar_one());
        }
        if (status == TAPER_OK) {
            const size_t bytes = (size_t)taper_tensor_numel(part) * taper_tensor_item(part);
            memcpy((char *)taper_tensor_mutable(own->qkv) + (size_t)i * bytes, taper_tensor_data(part), bytes);
        }
        taper_tensor_drop(part);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status attend(taper_run *run, const taper_mha *mha, taper_dtype work, mha_work *own)
{
    const int64_t b = mha->query->sizes[0], t = mha->query->sizes[1], e = mha->embed, heads = mha->heads,
                  depth = e / heads;
    const int64_t item = (int64_t)taper_tensor_item(own->qkv), plane = b * t * e;
    taper_tensor mask = {0};
    if (mha->mask != NULL) {
        TAPER_TRY(taper_tensor_cast(run, mha->mask, TAPER_BOOL, &own->mask));
        TAPER_TRY(expand_mask(run, mha, own->mask, &mask));
    }
    char *q = taper_tensor_mutable(own->qkv);
    const char *k = q + plane * item, *v = k + plane * item;
    scale_rows(work, q, b * t, e, e, 1.0 / sqrt((double)taper_max_i64(depth, 1)));
    TAPER_TRY(taper_tensor_new(run->heap, work, 4, (const int64_t[]){b, heads, t, t}, NULL, &own->scores, run->error));
    TAPER_TRY(taper_tensor_new(run->heap, work, 3, (const int64_t[]){b, t, e}, NULL, &own->joined, run->error));
    const taper_gemm products = {.dtype = work,
                                 .m = t,
                                 .n = t,
                                 .k = depth,
                                 .a = q,
                                 .a_row = e,
                                 .a_column = 1,
                                 .b = k,
                                 .b_row = 1,
                                 .b_column = e,
                                 .c = taper_tensor_mutable(own->scores),
                                 .c_row = t,
                                 .c_column = 1};
    const taper_gemm_batch each_score = {
        .rank = 2, .sizes = {b, heads}, .a = {t * e, depth}, .b = {t * e, depth}, .c = {heads * t * t, t * t}};
    TAPER_TRY(taper_gemm_run_batch(run, &products, &each_score));
    for (int64_t i = 0; mha->mask != NULL && i < b * heads; i++) {
        apply_mask(own->scores, i * t * t, &mask, i / heads * mask.strides[0] + i % heads * mask.strides[1]);
    }
    TAPER_TRY(taper_softmax_rows(run, own->scores));
    const taper_gemm sums = {.dtype = work,
                             .m = t,
                             .n = depth,
                             .k = t,
                             .a = taper_tensor_data(own->scores),
                             .a_row = t,
                             .a_column = 1,
                             .b = v,
                             .b_row = e,
                             .b_column = 1,
                             .c = taper_tensor_mutable(own->joined),
                             .c_row = e,
                             .c_column = 1};
    const taper_gemm_batch each_sum = {
        .rank = 2, .sizes = {b, heads}, .a = {heads * t * t, t * t}, .b = {t * e, depth}, .c = {t * e, depth}};
    return taper_gemm_run_batch(run, &sums, &each_sum);
}

// The mean over the heads, [B, T, T].
static taper_status average_heads(taper_run *run, const taper_tensor *scores, taper_tensor **result)
{
    const int64_t b = scores->sizes[0], heads = scores->sizes[1], t = scores->sizes[2];
    TAPER_TRY(taper_run_zeros(run, (taper_dtype)scores->dtype, 3, (const int64_t[]){b, t, t}, result));
    for (int64_t i = 0; i < b * heads; i++) {
        for (int64_t j = 0; j < t * t; j++) {
            if (scores->dtype == TAPER_F32) {
                ((float *)taper_tensor_mutable(*result))[i / heads * t * t + j] +=
                    ((const float *)taper_tensor_data(scores))[i * t * t + j];
            } else {
                ((double *)taper_tensor_mutable(*result))[i / heads * t * t + j] +=
                    ((const double *)taper_tensor_data(scores))[i * t * t + j];
            }
        }
    }
    scale_rows((taper_dtype)scores->dtype, taper_tensor_mutable(*result), b * t, t, t, 1.0 / (double)heads);
    return TAPER_OK;
}

taper_status taper_mha_run(taper_run *run, const taper_mha *mha, taper_tensor **result, taper_tensor **weights)
{
    TAPER_TRY(check_shapes(run, mha));
    const taper_dtype work = taper_work_dtype((taper_dtype)mha->query->dtype);
    mha_work own = {0};
    taper_tensor *made = NULL, *shown = NULL;
    taper_status status = project_all(run, mha, work, &own);
    if (status == TAPER_OK) {
        status = attend(run, mha, work, &own);
    }
    if (status == TAPER_OK) {
        taper_tensor weight = taper_tensor_local(mha->out_weight), *wide = NULL;
        weight = taper_tensor_twin_t(&weight);
        status = taper_tensor_cast(run, &weight, work, &wide);
        if (status == TAPER_OK) {
            status = taper_matmul_new(run, own.joined, wide, &made);
        }
        taper_tensor_drop(wide);
    }
    if (status == TAPER_OK) {
        status = taper_product_combine(run, made, mha->out_bias, taper_scalar_one(), taper_scalar_one());
    }
    if (status == TAPER_OK && mha->need_weights) {
        if (mha->average) {
            status = average_heads(run, own.scores, &shown);
        } else {
            shown = taper_tensor_keep(own.scores);
        }
    }
    taper_tensor_drop(own.qkv);
    taper_tensor_drop(own.scores);
    taper_tensor_drop(own.joined);
    taper_tensor_drop(own.mask);
    if (status != TAPER_OK) {
        taper_tensor_drop(made);
        taper_tensor_drop(shown);
        return status;
    }
    *result = made;
    *weights = shown;
    return TAPER_OK;
}

taper_status taper_op_native_multi_head_attention(taper_call *call)
{
    taper_mha mha = {0};
    taper_tensor *result = NULL, *weights = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &mha.query));
    TAPER_TRY(taper_arg_tensor(call, 1, &mha.key));
    TAPER_TRY(taper_arg_tensor(call, 2, &mha.value));
    TAPER_TRY(taper_arg_int(call, 3, &mha.embed));
    TAPER_TRY(taper_arg_int(call, 4, &mha.heads));
    TAPER_TRY(taper_arg_tensor(call, 5, &mha.qkv_weight));
    TAPER_TRY(taper_arg_tensor(call, 6, &mha.qkv_bias));
    TAPER_TRY(taper_arg_tensor(call, 7, &mha.out_weight));
    TAPER_TRY(taper_arg_tensor(call, 8, &mha.out_bias));
    TAPER_TRY(taper_arg_tensor_or_none(call, 9, &mha.mask));
    TAPER_TRY(taper_arg_bool(call, 10, &mha.need_weights));
    TAPER_TRY(taper_arg_bool(call, 11, &mha.average));
    TAPER_TRY(taper_arg_int_or(call, 12, -1, &mha.mask_type));
    TAPER_TRY(taper_mha_run(call->run, &mha, &result, &weights));
    const taper_dtype dtype = (taper_dtype)mha.query->dtype;
    const taper_status status = taper_ret_cast(call, 0, result, dtype);
    if (status != TAPER_OK || weights == NULL) {
        taper_tensor_drop(weights);
        return status;
    }
    return taper_ret_cast(call, 1, weights, dtype);
}

// [B, T, 3 embed] + bias to q / sqrt(depth), k and v, each [B, heads, T, depth].
taper_status taper_op_transform_bias_rescale_qkv(taper_call *call)
{
    taper_tensor *qkv, *bias, *sum = NULL;
    int64_t heads;
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &qkv));
    TAPER_TRY(taper_arg_tensor(call, 1, &bias));
    TAPER_TRY(taper_arg_int(call, 2, &heads));
    if (qkv->rank != 3 || bias->rank != 1 || bias->sizes[0] != qkv->sizes[2] || qkv->sizes[2] % 3 != 0 || heads < 1 ||
        qkv->sizes[2] / 3 % heads != 0 || qkv->dtype != bias->dtype || !taper_dtype_is_float((taper_dtype)qkv->dtype)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "qkv of sizes %s, qkv_bias of sizes %s and num_heads %lld do not fit", TAPER_SHAPE(qkv),
                   TAPER_SHAPE(bias), (long long)heads);
    }
    const int64_t b = qkv->sizes[0], t = qkv->sizes[1], e = qkv->sizes[2] / 3, depth = e / heads;
    const taper_dtype dtype = (taper_dtype)qkv->dtype, work = taper_work_dtype(dtype);
    TAPER_TRY(taper_tensor_new(run->heap, work, 3, qkv->sizes, NULL, &sum, run->error));
    taper_status status = taper_run_copy(run, sum, qkv);
    if (status == TAPER_OK) {
        status = taper_product_combine(run, sum, bias, taper_scalar_one(), taper_scalar_one());
    }
    if (status == TAPER_OK) {
        scale_rows(work, taper_tensor_mutable(sum), b * t, e, 3 * e, 1.0 / sqrt((double)taper_max_i64(depth, 1)));
    }
    for (size_t i = 0; i < 3 && status == TAPER_OK; i++) {
        const int64_t sizes[4] = {b, heads, t, depth}, strides[4] = {t * 3 * e, depth, 3 * e, 1};
        taper_tensor from = taper_tensor_twin(sum, 4, sizes, strides), *part = NULL;
        from.offset += (int64_t)i * e;
        status = taper_tensor_new(run->heap, dtype, 4, sizes, NULL, &part, run->error);
        if (status == TAPER_OK) {
            status = taper_run_copy(run, part, &from);
        }
        if (status != TAPER_OK) {
            taper_tensor_drop(part);
            break;
        }
        status = taper_ret_tensor(call, i, part);
    }
    taper_tensor_drop(sum);
    return status;
}
