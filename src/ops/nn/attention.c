// SPDX-License-Identifier: BSD-2-Clause
// The fused multi-head attention, and the operator that computes only this attention.
#include "ops/nn/attention.h"

#include <math.h>

#include "ir/tensor.h"
#include "ops/call/parallel.h"

#include "ops/call/call.h"
#include "ops/engine/linear_rows.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

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

// Views the mask as [B, heads, T, T], with stride 0 for dimensions that it lacks.
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

// ---- rows of the working dtype

// The argument of the task that multiplies rows of `width` numbers, which are `step` apart, by a factor.
typedef struct scaled_rows {
    taper_dtype dtype;
    void *data;
    size_t width, step;
    double factor;
} scaled_rows;

static void scale_range(void *argument, size_t begin, size_t end)
{
    const scaled_rows *s = argument;
    for (size_t r = begin; r < end; r++) {
        if (s->dtype == TAPER_F32) {
            float *x = (float *)s->data + r * s->step;
            const float factor = (float)s->factor;
            for (size_t i = 0; i < s->width; i++) {
                x[i] *= factor;
            }
        } else {
            double *x = (double *)s->data + r * s->step;
            for (size_t i = 0; i < s->width; i++) {
                x[i] *= s->factor;
            }
        }
    }
}

static taper_status scale_rows(taper_run *run, taper_dtype dtype, void *data, int64_t rows, int64_t width, int64_t step,
                               double factor)
{
    scaled_rows s = {dtype, data, (size_t)width, (size_t)step, factor};
    return taper_run_floats(run, scale_range, &s, (size_t)rows, (double)width);
}

// The argument of the task that sets the scores [B, heads, T, T] to -inf where the bool mask, which has the same sizes,
// is true.
typedef struct masked_rows {
    taper_tensor *scores;
    const taper_tensor *mask;
} masked_rows;

static void mask_range(void *argument, size_t begin, size_t end)
{
    const masked_rows *m = argument;
    const taper_tensor *mask = m->mask;
    const int64_t heads = mask->sizes[1], t = mask->sizes[3], step = mask->strides[3];
    for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
        const int64_t head = row / t;
        const uint8_t *out = (const uint8_t *)taper_tensor_data(mask) + head / heads * mask->strides[0] +
                             head % heads * mask->strides[1] + row % t * mask->strides[2];
        if (m->scores->dtype == TAPER_F32) {
            float *x = (float *)taper_tensor_mutable(m->scores) + row * t;
            for (int64_t i = 0; i < t; i++) {
                x[i] = out[i * step] != 0 ? -INFINITY : x[i];
            }
        } else {
            double *x = (double *)taper_tensor_mutable(m->scores) + row * t;
            for (int64_t i = 0; i < t; i++) {
                x[i] = out[i * step] != 0 ? -(double)INFINITY : x[i];
            }
        }
    }
}

// The argument of the task that averages [B, heads, T, T] over the heads, to [B, T, T].
typedef struct averaged_rows {
    const taper_tensor *scores;
    taper_tensor *mean;
} averaged_rows;

#define AVERAGE_ROW(ELEMENT)                                                                                           \
    do {                                                                                                               \
        ELEMENT *y = (ELEMENT *)taper_tensor_mutable(a->mean) + row * t;                                               \
        const ELEMENT *x = (const ELEMENT *)taper_tensor_data(a->scores) + (row / t * heads * t + row % t) * t;        \
        for (int64_t i = 0; i < t; i++) {                                                                              \
            y[i] = x[i];                                                                                               \
        }                                                                                                              \
        for (int64_t head = 1; head < heads; head++) {                                                                 \
            for (int64_t i = 0; i < t; i++) {                                                                          \
                y[i] += x[head * t * t + i];                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = 0; i < t; i++) {                                                                              \
            y[i] *= (ELEMENT)(1.0 / (double)heads);                                                                    \
        }                                                                                                              \
    } while (0)

static void average_range(void *argument, size_t begin, size_t end)
{
    const averaged_rows *a = argument;
    const int64_t heads = a->scores->sizes[1], t = a->scores->sizes[2];
    for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
        if (a->scores->dtype == TAPER_F32) {
            AVERAGE_ROW(float);
        } else {
            AVERAGE_ROW(double);
        }
    }
}

static taper_status average_heads(taper_run *run, taper_tensor *scores, taper_tensor **result)
{
    const int64_t b = scores->sizes[0], t = scores->sizes[2];
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)scores->dtype, 3, (const int64_t[]){b, t, t}, NULL, result,
                               run->error));
    averaged_rows a = {scores, *result};
    return taper_run_floats(run, average_range, &a, (size_t)(b * t), (double)scores->sizes[1] * (double)t);
}

// ---- linear layers

// Computes x weight' + bias + add for each row of x, and writes it to rows of y, y_step numbers apart. x is contiguous,
// and y has the working dtype.
static taper_status project(taper_call *call, taper_tensor *x, taper_tensor *weight, taper_tensor *bias,
                            const taper_tensor *add, taper_tensor *y, int64_t y_at, int64_t y_step)
{
    taper_run *run = call->run;
    const int64_t in = weight->sizes[1], out = weight->sizes[0];
    const int64_t rows = in != 0 ? taper_tensor_numel(x) / in : 0;
    const size_t item = taper_tensor_item(y);
    char *to = (char *)taper_tensor_mutable(y) + (size_t)y_at * item;
    if (x->dtype == TAPER_F32 && y->dtype == TAPER_F32 && !x->hidden_nhwc) {
        const taper_linear_rows r = {
            .weights = {.weight = weight, .bias = bias, .vector = taper_vector_f32_select(run->cpu)},
            .rows = (size_t)rows,
            .in = (size_t)in,
            .out = (size_t)out,
            .x = taper_tensor_data(x),
            .x_step = (size_t)in,
            .add = add != NULL ? taper_tensor_data(add) : NULL,
            .add_step = (size_t)out,
            .y = (float *)to,
            .y_step = (size_t)y_step};
        const taper_status status = taper_linear_rows_run(call, &r);
        if (status != TAPER_DECLINED) {
            return status;
        }
    }
    taper_tensor turned = taper_tensor_twin_t(weight), *wide = NULL, *part = NULL;
    // A product needs operands with the same dtype.
    taper_status status = taper_tensor_cast(run, &turned, (taper_dtype)x->dtype, &wide);
    if (status == TAPER_OK) {
        status = taper_matmul_new(run, x, wide, &part);
    }
    if (status == TAPER_OK) {
        status = taper_product_combine(run, part, bias, taper_scalar_one(), taper_scalar_one());
    }
    if (status == TAPER_OK && add != NULL) {
        taper_add_rows(part, add);
    }
    for (int64_t r = 0; status == TAPER_OK && out != 0 && r < taper_tensor_numel(part) / out; r++) {
        memcpy(to + (size_t)(r * y_step) * item, (const char *)taper_tensor_data(part) + (size_t)(r * out) * item,
               (size_t)out * item);
    }
    taper_tensor_drop(wide);
    taper_tensor_drop(part);
    return status;
}

taper_status taper_attention_linear(taper_call *call, taper_tensor *x, taper_tensor *weight, taper_tensor *bias,
                                    const taper_tensor *add, taper_tensor **result)
{
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[x->rank - 1u] = weight->sizes[0];
    TAPER_TRY(taper_tensor_new(call->run->heap, taper_work_dtype((taper_dtype)x->dtype), x->rank, sizes, NULL, result,
                               call->run->error));
    taper_tensor *rows;
    TAPER_TRY(taper_run_contiguous(call->run, x, &rows));
    const taper_status status = project(call, rows, weight, bias, add, *result, 0, weight->sizes[0]);
    taper_tensor_drop(rows);
    return status;
}

// ---- multi-head attention

typedef struct mha_work {
    taper_tensor *qkv;    // query, key and value, [B, T, 3 embed]
    taper_tensor *scores; // scores, [B, heads, T, T]
    taper_tensor *joined; // heads joined, [B, T, embed]
    taper_tensor *mask;   // the mask, converted to bool
} mha_work;

// Computes q, k and v next to each other. If query, key and value are one tensor, one product is enough.
static taper_status project_all(taper_call *call, const taper_mha *mha, taper_dtype work, mha_work *own)
{
    const int64_t *sizes = mha->query->sizes, embed = mha->embed;
    taper_tensor *const inputs[] = {mha->query, mha->key, mha->value};
    const bool one = mha->key == mha->query && mha->value == mha->query;
    const int64_t parts = one ? 1 : 3, width = one ? 3 * embed : embed;
    TAPER_TRY(taper_tensor_new(call->run->heap, work, 3, (const int64_t[]){sizes[0], sizes[1], 3 * embed}, NULL,
                               &own->qkv, call->run->error));
    for (int64_t i = 0; i < parts; i++) {
        taper_tensor weight =
            taper_tensor_twin(mha->qkv_weight, 2, (const int64_t[]){width, embed}, mha->qkv_weight->strides);
        taper_tensor bias = taper_tensor_twin(mha->qkv_bias, 1, &width, mha->qkv_bias->strides);
        weight.offset += i * embed * mha->qkv_weight->strides[0];
        bias.offset += i * embed * mha->qkv_bias->strides[0];
        taper_tensor *rows;
        TAPER_TRY(taper_run_contiguous(call->run, inputs[i], &rows));
        const taper_status status = project(call, rows, &weight, &bias, NULL, own->qkv, i * embed, 3 * embed);
        taper_tensor_drop(rows);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status attend(taper_run *run, const taper_mha *mha, taper_dtype work, mha_work *own)
{
    const int64_t b = mha->query->sizes[0], t = mha->query->sizes[1], e = mha->embed, heads = mha->heads,
                  depth = e / heads, step = 3 * e;
    const int64_t item = (int64_t)taper_tensor_item(own->qkv);
    taper_tensor mask = {0};
    if (mha->mask != NULL) {
        TAPER_TRY(taper_tensor_cast(run, mha->mask, TAPER_BOOL, &own->mask));
        TAPER_TRY(expand_mask(run, mha, own->mask, &mask));
    }
    char *q = taper_tensor_mutable(own->qkv);
    const char *k = q + e * item, *v = k + e * item;
    TAPER_TRY(scale_rows(run, work, q, b * t, e, step, 1.0 / sqrt((double)taper_max_i64(depth, 1))));
    TAPER_TRY(taper_tensor_new(run->heap, work, 4, (const int64_t[]){b, heads, t, t}, NULL, &own->scores, run->error));
    TAPER_TRY(taper_tensor_new(run->heap, work, 3, (const int64_t[]){b, t, e}, NULL, &own->joined, run->error));
    const taper_gemm products = {.dtype = work,
                                 .m = t,
                                 .n = t,
                                 .k = depth,
                                 .a = q,
                                 .a_row = step,
                                 .a_column = 1,
                                 .b = k,
                                 .b_row = 1,
                                 .b_column = step,
                                 .c = taper_tensor_mutable(own->scores),
                                 .c_row = t,
                                 .c_column = 1};
    const taper_gemm_batch each_score = {
        .rank = 2, .sizes = {b, heads}, .a = {t * step, depth}, .b = {t * step, depth}, .c = {heads * t * t, t * t}};
    TAPER_TRY(taper_gemm_run_batch(run, &products, &each_score));
    if (mha->mask != NULL) {
        masked_rows m = {own->scores, &mask};
        TAPER_TRY(taper_run_floats(run, mask_range, &m, (size_t)(b * heads * t), 2.0 * (double)t));
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
                             .b_row = step,
                             .b_column = 1,
                             .c = taper_tensor_mutable(own->joined),
                             .c_row = e,
                             .c_column = 1};
    const taper_gemm_batch each_sum = {
        .rank = 2, .sizes = {b, heads}, .a = {heads * t * t, t * t}, .b = {t * step, depth}, .c = {t * e, depth}};
    return taper_gemm_run_batch(run, &sums, &each_sum);
}

taper_status taper_mha_run(taper_call *call, const taper_mha *mha, taper_tensor **result, taper_tensor **weights)
{
    taper_run *run = call->run;
    TAPER_TRY(check_shapes(run, mha));
    const taper_dtype work = taper_work_dtype((taper_dtype)mha->query->dtype);
    mha_work own = {0};
    taper_tensor *made = NULL, *shown = NULL;
    taper_status status = project_all(call, mha, work, &own);
    if (status == TAPER_OK) {
        status = attend(run, mha, work, &own);
    }
    if (status == TAPER_OK) {
        status = taper_attention_linear(call, own.joined, mha->out_weight, mha->out_bias, mha->add, &made);
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

TAPER_KERNEL(taper_op_native_multi_head_attention)
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
    TAPER_TRY(taper_mha_run(call, &mha, &result, &weights));
    const taper_dtype dtype = (taper_dtype)mha.query->dtype;
    const taper_status status = taper_ret_cast(call, 0, result, dtype);
    if (status != TAPER_OK || weights == NULL) {
        taper_tensor_drop(weights);
        return status;
    }
    return taper_ret_cast(call, 1, weights, dtype);
}

// Computes q / sqrt(depth), k and v, each [B, heads, T, depth], from [B, T, 3 embed] + bias.
TAPER_KERNEL(taper_op_transform_bias_rescale_qkv)
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
        status = scale_rows(run, work, taper_tensor_mutable(sum), b * t, e, 3 * e,
                            1.0 / sqrt((double)taper_max_i64(depth, 1)));
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
