// SPDX-License-Identifier: BSD-2-Clause
// The layer taper::linear_integers, see linear_integers.h. The reference makes floats of all weights in each call.
#include "ops/nn/linear_integers.h"

#include "ir/tensor.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

// Reads argument `at`: None, or a contiguous tensor [out, groups] of floats or halves. All arguments that are not None
// have the same number of groups.
static taper_status read_groups(const taper_call *call, size_t at, int64_t out, int64_t in, int64_t *groups,
                                taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_tensor_or_none(call, at, tensor));
    const taper_tensor *t = *tensor;
    if (t == NULL) {
        return TAPER_OK;
    }
    if ((t->dtype != TAPER_F32 && t->dtype != TAPER_BF16 && t->dtype != TAPER_F16) || t->rank != 2 ||
        t->sizes[0] != out || t->sizes[1] < 1 || in % t->sizes[1] != 0 || !taper_tensor_is_contiguous(t) ||
        (*groups != 0 && *groups != t->sizes[1])) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s does not fit a weight of %lld outputs and %lld inputs",
                   call->schema->args[at].name, (long long)out, (long long)in);
    }
    *groups = t->sizes[1];
    return TAPER_OK;
}

taper_status taper_linear_integers_parse(taper_call *call, taper_linear_integers_args *args)
{
    taper_error *error = call->run->error;
    int64_t bits, groups = 0;
    *args = (taper_linear_integers_args){0};
    TAPER_TRY(taper_arg_tensor(call, 0, &args->input));
    TAPER_TRY(taper_arg_tensor(call, 1, &args->weight));
    const taper_tensor *x = args->input, *w = args->weight;
    if (w->dtype != TAPER_I8 || w->rank != 2 || w->sizes[0] < 1 || w->sizes[1] < 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "weight should be a matrix of int8, not %s of sizes %s",
                   taper_dtype_torch_name((taper_dtype)w->dtype), TAPER_SHAPE(w));
    }
    args->out = w->sizes[0];
    args->in = w->sizes[1];
    TAPER_TRY(read_groups(call, 2, args->out, args->in, &groups, &args->scale));
    TAPER_TRY(read_groups(call, 3, args->out, args->in, &groups, &args->point));
    TAPER_TRY(taper_arg_tensor_or_none(call, 4, &args->bias));
    TAPER_TRY(taper_arg_int(call, 5, &bits));
    if (args->scale != NULL && args->point != NULL && args->scale->dtype != args->point->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "scale and zero_point should have one dtype, not %s and %s",
                   taper_dtype_torch_name((taper_dtype)args->scale->dtype),
                   taper_dtype_torch_name((taper_dtype)args->point->dtype));
    }
    args->nibbles = bits == 4;
    args->group = args->in / taper_max_i64(groups, 1);
    taper_dtype dtype;
    TAPER_TRY(taper_arg_dtype_or(call, 6, TAPER_F32, &dtype));
    if (x->dtype != dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but found %s", taper_dtype_torch_name(dtype),
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    if (dtype != TAPER_F32 && dtype != TAPER_BF16 && dtype != TAPER_F16) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "the input should be float32, bfloat16 or float16, not %s",
                   taper_dtype_torch_name(dtype));
    }
    bool matrix;
    TAPER_TRY(taper_arg_bool(call, 7, &matrix));
    if (matrix && x->rank != 2) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "self must be a matrix, but its sizes are %s", TAPER_SHAPE(x));
    }
    if (x->rank < 1 || x->sizes[x->rank - 1u] != args->in) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "an input of sizes %s does not fit a weight of sizes %s",
                   TAPER_SHAPE(x), TAPER_SHAPE(w));
    }
    if (args->bias != NULL &&
        (args->bias->dtype != x->dtype || args->bias->rank != 1 || args->bias->sizes[0] != args->out)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "bias should have %lld elements of the input's dtype",
                   (long long)args->out);
    }
    memcpy(args->out_sizes, x->sizes, x->rank * sizeof *x->sizes);
    args->out_sizes[x->rank - 1u] = args->out;
    return TAPER_OK;
}

// Computes the weights as floats, [in, out]. The scales and zero points are floats.
static taper_status make_floats(taper_run *run, const taper_linear_integers_args *a, const taper_tensor *scales,
                                const taper_tensor *points, taper_tensor **made)
{
    const int64_t sizes[2] = {a->in, a->out}, groups = a->in / a->group;
    const int8_t *from = taper_tensor_data(a->weight);
    const float *scale = scales != NULL ? taper_tensor_data(scales) : NULL;
    const float *point = points != NULL ? taper_tensor_data(points) : NULL;
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(a->weight, 1, steps);
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, 2, sizes, NULL, made, run->error));
    float *to = taper_tensor_mutable(*made);
    for (int64_t k = 0; k < a->in && taper_run_goes_on(run, (uint64_t)a->out * 4); k++) {
        for (int64_t n = 0; n < a->out; n++) {
            const int64_t g = n * groups + k / a->group;
            const float number = (float)from[n * steps[0] + k * steps[1]] - (point != NULL ? point[g] : 0.0f);
            *to++ = scale != NULL ? number * scale[g] : number;
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_linear_integers)
{
    taper_run *const run = call->run;
    taper_linear_integers_args args;
    TAPER_TRY(taper_linear_integers_parse(call, &args));
    taper_tensor *weight = NULL, *x = NULL, *result = NULL, *scales = NULL, *points = NULL;
    taper_status status = args.scale != NULL ? taper_tensor_floats(run, args.scale, &scales) : TAPER_OK;
    if (status == TAPER_OK && args.point != NULL) {
        status = taper_tensor_floats(run, args.point, &points);
    }
    if (status == TAPER_OK) {
        status = make_floats(run, &args, scales, points, &weight);
    }
    taper_tensor_drop(scales);
    taper_tensor_drop(points);
    if (status == TAPER_OK) {
        status = taper_tensor_cast(run, args.input, TAPER_F32, &x);
    }
    if (status == TAPER_OK) {
        status = taper_matmul_new(run, x, weight, &result);
    }
    if (status == TAPER_OK && args.bias != NULL) {
        status = taper_product_combine(run, result, args.bias, taper_scalar_one(), taper_scalar_one());
    }
    taper_tensor_drop(weight);
    taper_tensor_drop(x);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_cast(call, 0, result, (taper_dtype)args.input->dtype);
}
