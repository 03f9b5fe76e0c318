// SPDX-License-Identifier: BSD-2-Clause
// Quantized linear layers. Static layers have a quantized result. Dynamic layers quantize a float input by its range
// and return floats. Layers of half-precision weights, which are computed in floats, are here too.
#include "base/half.h"
#include "ops/call/call.h"
#include "ops/call/packs.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/list/op_features.h"
#include "ops/quantized/quantized_layer.h"
#include "ops/quantized/quantized_linear_packed.h"

// ---- sums of products

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_tensor *weight = request->tensors[0];
    const int8_t *from = taper_tensor_data(weight);
    int8_t *to = data;
    for (int64_t o = 0; o < weight->sizes[0]; o++) {
        for (int64_t i = 0; i < weight->sizes[1]; i++) {
            *to++ = from[o * weight->strides[0] + i * weight->strides[1]];
        }
    }
}

static taper_status get_weights(taper_call *call, const taper_qlinear_params *params, taper_pack *pack,
                                const int8_t **weights)
{
    static const char kind = 0;
    *pack = (taper_pack){0};
    if (taper_tensor_is_contiguous(params->weight)) {
        *weights = taper_tensor_data(params->weight);
        return TAPER_OK;
    }
    const taper_pack_request request = {.kind = &kind,
                                        .tensors = {params->weight},
                                        .bytes = (size_t)taper_tensor_numel(params->weight),
                                        .fill = fill_weights};
    TAPER_TRY(taper_pack_get(call, &request, pack));
    *weights = pack->data;
    return TAPER_OK;
}

static void linear_row(const taper_qlinear_job *job, const int8_t *weights, int64_t row)
{
    const taper_qlinear_params *params = job->params;
    const uint8_t *x = job->x->data + row * params->in;
    const taper_tensor *bias = params->bias;
    const float *biases = bias != NULL ? taper_tensor_data(bias) : NULL;
    for (int64_t o = 0; o < params->out; o++, weights += params->in) {
        const taper_q_channel *channel = &job->output.channels[o];
        const int32_t sum = (int32_t)((uint32_t)channel->bias +
                                      taper_q_dot(x, weights, params->in, job->x->zero_point, channel->zero_point));
        if (job->floats != NULL) {
            float y = (float)sum * channel->multiplier;
            y += biases != NULL ? biases[o * bias->strides[0]] : 0.0f;
            job->floats[row * params->out + o] = job->relu && y < 0 ? 0.0f : y;
        } else {
            job->bytes[row * params->out + o] =
                (uint8_t)taper_q_requantize(sum, channel->multiplier, job->output.zero_point, job->output.range);
        }
    }
}

taper_status taper_qlinear_compute(taper_call *call, const taper_qlinear_job *job)
{
    const int8_t *weights = NULL;
    taper_pack pack;
    TAPER_TRY(get_weights(call, job->params, &pack, &weights));
    taper_status status = TAPER_OK;
    for (int64_t row = 0; row < job->rows && status == TAPER_OK; row++) {
        linear_row(job, weights, row);
        status = taper_run_spend(call->run, (uint64_t)(job->params->in * job->params->out) + 100);
    }
    if (pack.data != NULL) {
        taper_pack_done(call, &pack);
    }
    return status;
}

static taper_status compute_with_channels(taper_call *call, taper_qlinear_job *job, double out_scale)
{
    taper_run *run = call->run;
    const taper_qlinear_params *params = job->params;
    size_t bytes;
    if (!taper_mul_size((size_t)params->out, sizeof(taper_q_channel), &bytes)) {
        return taper_fail_memory(run->error);
    }
    taper_q_channel *channels = taper_heap_alloc(run->heap, taper_max_size(bytes, 1));
    if (channels == NULL) {
        return taper_fail_memory(run->error);
    }
    taper_status status =
        taper_q_channels(run, params->weight, params->bias, params->out, job->x->scale, out_scale, channels);
    if (status == TAPER_OK) {
        job->output.channels = channels;
        status = taper_qlinear_compute(call, job);
    }
    taper_heap_free(run->heap, channels, taper_max_size(bytes, 1));
    return status;
}

// ---- arguments

// Computes the sizes of the result: the sizes of the input with the last one replaced. *rows is the product of the
// other sizes.
static taper_status result_sizes(taper_call *call, const taper_qlinear_params *params, const taper_tensor *input,
                                 int64_t *sizes, int64_t *rows)
{
    if (input->rank < 2 || input->sizes[input->rank - 1u] != params->in) {
        TAPER_FAIL(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "argument '%s' should have at least 2 dimensions, the last of size %lld for a weight of sizes %s; its "
            "sizes are %s",
            taper_arg_name(call, 0), (long long)params->in, TAPER_SHAPE(params->weight), TAPER_SHAPE(input));
    }
    *rows = 1;
    for (size_t d = 0; d + 1 < input->rank; d++) {
        sizes[d] = input->sizes[d];
        if (!taper_mul_i64(*rows, sizes[d], rows)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' is too large", taper_arg_name(call, 0));
        }
    }
    sizes[input->rank - 1u] = params->out;
    return TAPER_OK;
}

static taper_status refuse_half(taper_call *call, size_t at, const taper_qlinear_params *params, bool wanted)
{
    if (params->half != wanted) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' holds %s weights, the operator needs %s ones",
                   taper_arg_name(call, at), params->half ? "half-precision" : "int8",
                   wanted ? "half-precision" : "int8");
    }
    return TAPER_OK;
}

// Returns a view as a matrix. taper_q_input treats rank 4 and 5 as images, but the rows of a linear layer are no
// images.
static taper_tensor as_rows(const taper_tensor *contiguous, int64_t rows, int64_t in)
{
    return taper_tensor_twin(contiguous, 2, (const int64_t[]){rows, in}, (const int64_t[]){taper_max_i64(in, 1), 1});
}

// ---- static layers

static taper_status run_static(taper_call *call, bool relu)
{
    taper_run *run = call->run;
    taper_tensor *input, *plain = NULL, *y;
    taper_qlinear_params params;
    double scale;
    int64_t zero_point, rows, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_quantized(call, 0, &input));
    TAPER_TRY(taper_arg_qlinear(call, 1, &params));
    TAPER_TRY(taper_arg_double(call, 2, &scale));
    TAPER_TRY(taper_arg_int(call, 3, &zero_point));
    TAPER_TRY(refuse_half(call, 1, &params, false));
    TAPER_TRY(result_sizes(call, &params, input, sizes, &rows));
    const taper_dtype dtype = (taper_dtype)input->dtype;
    taper_q_input x;
    TAPER_TRY(taper_run_contiguous(run, input, &plain));
    taper_tensor seen = as_rows(plain, rows, params.in);
    taper_status status = taper_q_input_open(run, &seen, &x);
    if (status == TAPER_OK) {
        status = taper_ret_quantized(call, 0, dtype, input->rank, sizes, NULL, scale, zero_point, &y);
        if (status == TAPER_OK) {
            taper_q_range range = taper_q_range_of(dtype);
            range.low = relu ? taper_max_i64(range.low, zero_point) : range.low;
            taper_qlinear_job job = {.params = &params,
                                     .x = &x,
                                     .rows = rows,
                                     .output = {.zero_point = zero_point, .range = range},
                                     .bytes = taper_tensor_mutable(y)};
            status = compute_with_channels(call, &job, scale);
        }
        taper_q_input_close(&x);
    }
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_qlinear)
{
    return run_static(call, false);
}

TAPER_KERNEL(taper_op_qlinear_relu)
{
    return run_static(call, true);
}

// ---- dynamic layers

// Converts the weights of a half-precision layer to floats that are rounded to half, without infinities.
static void fill_half(const taper_pack_request *request, void *data)
{
    const taper_tensor *weight = request->tensors[0];
    const float *from = taper_tensor_data(weight);
    float *to = data;
    for (int64_t o = 0; o < weight->sizes[0]; o++) {
        for (int64_t i = 0; i < weight->sizes[1]; i++) {
            const float w = from[o * weight->strides[0] + i * weight->strides[1]];
            *to++ = taper_f16_to_float(taper_float_to_f16(w > 65504.0f ? 65504.0f : w < -65504.0f ? -65504.0f : w));
        }
    }
}

static taper_status half_dynamic(taper_call *call, const taper_qlinear_params *params, const float *x, int64_t rows,
                                 bool relu, float *y)
{
    static const char kind = 0;
    taper_pack pack = {0};
    const taper_tensor *bias = params->bias;
    const taper_pack_request request = {.kind = &kind,
                                        .tensors = {params->weight},
                                        .bytes = (size_t)taper_tensor_numel(params->weight) * sizeof(float),
                                        .fill = fill_half};
    TAPER_TRY(taper_pack_get(call, &request, &pack));
    const float *biases = bias != NULL ? taper_tensor_data(bias) : NULL;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t o = 0; o < params->out; o++) {
            y[r * params->out + o] = biases != NULL ? biases[o * bias->strides[0]] : 0.0f;
        }
    }
    const taper_gemm gemm = {.dtype = TAPER_F32,
                             .m = rows,
                             .n = params->out,
                             .k = params->in,
                             .a = x,
                             .a_row = params->in,
                             .a_column = 1,
                             .b = pack.data,
                             .b_row = 1,
                             .b_column = params->in,
                             .c = y,
                             .c_row = params->out,
                             .c_column = 1,
                             .add = true};
    const taper_status status = taper_gemm_run(call->run, &gemm);
    taper_pack_done(call, &pack);
    for (int64_t i = 0; relu && i < rows * params->out; i++) {
        y[i] = y[i] < 0 ? 0.0f : y[i];
    }
    return status;
}

taper_status taper_qlinear_dynamic(taper_call *call, const taper_qlinear_params *params, taper_tensor *x, int64_t rows,
                                   bool relu, float *y)
{
    if (params->half) {
        return half_dynamic(call, params, taper_tensor_data(x), rows, relu, y);
    }
    if (TAPER_QUANTIZES_STATES && !call->run->portable && rows != 0) {
        const taper_status done =
            taper_qlinear_packed_dynamic(call, params, taper_tensor_data(x), (size_t)rows, relu, y);
        if (done != TAPER_DECLINED) {
            return done;
        }
    }
    taper_q_input bytes;
    taper_tensor seen = as_rows(x, rows, params->in);
    TAPER_TRY(taper_q_input_dynamic(call->run, &seen, &bytes));
    taper_qlinear_job job = {.params = params, .x = &bytes, .rows = rows, .floats = y, .relu = relu};
    const taper_status status = compute_with_channels(call, &job, 0);
    taper_q_input_close(&bytes);
    return status;
}

static taper_status run_dynamic(taper_call *call, bool half, bool relu)
{
    taper_run *run = call->run;
    taper_tensor *input, *plain = NULL, *y;
    taper_qlinear_params params;
    int64_t rows, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_qlinear(call, 1, &params));
    TAPER_TRY(refuse_half(call, 1, &params, half));
    if (input->dtype != TAPER_F32) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' should be float32 but is %s",
                   taper_arg_name(call, 0), taper_dtype_torch_name((taper_dtype)input->dtype));
    }
    TAPER_TRY(result_sizes(call, &params, input, sizes, &rows));
    TAPER_TRY(taper_run_contiguous(run, input, &plain));
    taper_status status = taper_ret_new(call, 0, TAPER_F32, input->rank, sizes, NULL, &y);
    if (status == TAPER_OK) {
        status = taper_qlinear_dynamic(call, &params, plain, rows, relu, taper_tensor_mutable(y));
    }
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_qlinear_dynamic)
{
    return run_dynamic(call, false, false);
}

TAPER_KERNEL(taper_op_qlinear_relu_dynamic)
{
    return run_dynamic(call, false, true);
}

TAPER_KERNEL(taper_op_qlinear_dynamic_fp16)
{
    return run_dynamic(call, true, false);
}

TAPER_KERNEL(taper_op_qlinear_relu_dynamic_fp16)
{
    return run_dynamic(call, true, true);
}

// ---- layers with floats as input and result, which quantize by the parameters in the arguments

// Fills the result with NaN, for a scale that is NaN or infinite. A dynamic layer gets such a scale from an input that
// contains NaN or infinity.
static void fill_nan(taper_tensor *y)
{
    float *to = taper_tensor_mutable(y);
    for (int64_t i = 0; i < taper_tensor_numel(y); i++) {
        to[i] = (float)NAN;
    }
}

// Reads (X, X_scale, X_zero_point, W_prepack) and computes the layer.
static taper_status run_told(taper_call *call, bool relu)
{
    taper_run *run = call->run;
    taper_tensor *input, *plain = NULL, *y;
    taper_qlinear_params params;
    double scale;
    int64_t zero_point, rows, sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(taper_arg_double(call, 1, &scale));
    TAPER_TRY(taper_arg_int(call, 2, &zero_point));
    TAPER_TRY(taper_arg_qlinear(call, 3, &params));
    TAPER_TRY(refuse_half(call, 3, &params, false));
    TAPER_TRY(result_sizes(call, &params, input, sizes, &rows));
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, input->rank, sizes, NULL, &y));
    if (isnan(scale) || isinf(scale)) {
        fill_nan(y);
        return taper_run_spend(run, (uint64_t)taper_tensor_numel(y));
    }
    TAPER_TRY(taper_q_check(TAPER_QU8, scale, zero_point, run->error));
    TAPER_TRY(taper_run_contiguous(run, input, &plain));
    taper_q_input x;
    taper_tensor seen = as_rows(plain, rows, params.in);
    taper_status status = taper_q_input_told(run, &seen, scale, zero_point, &x);
    if (status == TAPER_OK) {
        taper_qlinear_job job = {
            .params = &params, .x = &x, .rows = rows, .floats = taper_tensor_mutable(y), .relu = relu};
        status = compute_with_channels(call, &job, 0);
    }
    taper_q_input_close(&x);
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_qlinear_told)
{
    return run_told(call, false);
}

TAPER_KERNEL(taper_op_qlinear_told_relu)
{
    return run_told(call, true);
}
