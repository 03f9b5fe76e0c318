// SPDX-License-Identifier: BSD-2-Clause
// The table of supported operations.
#include "frontend/nnapi/lowering.h"

#include "frontend/nnapi/codes.h"
#include "ir/effects.h"

typedef struct operation_row {
    uint32_t code, least, most; // NNAPI's code; smallest and largest number of inputs
    taper_nnapi_lower *lower;
} operation_row;

static const operation_row rows[] = {
    {TAPER_NNAPI_ADD, 3, 3, taper_nnapi_lower_binary},
    {TAPER_NNAPI_SUB, 3, 3, taper_nnapi_lower_binary},
    {TAPER_NNAPI_MUL, 3, 3, taper_nnapi_lower_binary},
    {TAPER_NNAPI_DIV, 3, 3, taper_nnapi_lower_binary},
    {TAPER_NNAPI_MAXIMUM, 2, 2, taper_nnapi_lower_binary},
    {TAPER_NNAPI_MINIMUM, 2, 2, taper_nnapi_lower_binary},
    {TAPER_NNAPI_POW, 2, 2, taper_nnapi_lower_binary},
    {TAPER_NNAPI_PRELU, 2, 2, taper_nnapi_lower_prelu},
    {TAPER_NNAPI_RELU, 1, 1, taper_nnapi_lower_activation},
    {TAPER_NNAPI_RELU1, 1, 1, taper_nnapi_lower_activation},
    {TAPER_NNAPI_RELU6, 1, 1, taper_nnapi_lower_activation},
    {TAPER_NNAPI_LOGISTIC, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_TANH, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_HARD_SWISH, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_ABS, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_NEG, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_EXP, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_LOG, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_SQRT, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_RSQRT, 1, 1, taper_nnapi_lower_unary},
    {TAPER_NNAPI_FLOOR, 1, 1, taper_nnapi_lower_unary},
    // windows.c checks the numbers of inputs of layers and pools more exactly than this table.
    {TAPER_NNAPI_CONV_2D, 7, 13, taper_nnapi_lower_conv},
    {TAPER_NNAPI_DEPTHWISE_CONV_2D, 8, 14, taper_nnapi_lower_conv},
    {TAPER_NNAPI_GROUPED_CONV_2D, 9, 12, taper_nnapi_lower_conv},
    {TAPER_NNAPI_TRANSPOSE_CONV_2D, 9, 11, taper_nnapi_lower_conv},
    {TAPER_NNAPI_FULLY_CONNECTED, 4, 4, taper_nnapi_lower_linear},
    {TAPER_NNAPI_MAX_POOL_2D, 7, 11, taper_nnapi_lower_pool},
    {TAPER_NNAPI_AVERAGE_POOL_2D, 7, 11, taper_nnapi_lower_pool},
    {TAPER_NNAPI_RESIZE_NEAREST_NEIGHBOR, 4, 6, taper_nnapi_lower_resize},
    {TAPER_NNAPI_RESIZE_BILINEAR, 3, 6, taper_nnapi_lower_resize},
    {TAPER_NNAPI_DEPTH_TO_SPACE, 2, 3, taper_nnapi_lower_depth_to_space},
    {TAPER_NNAPI_CHANNEL_SHUFFLE, 3, 3, taper_nnapi_lower_shuffle},
    {TAPER_NNAPI_SOFTMAX, 2, 3, taper_nnapi_lower_softmax},
    {TAPER_NNAPI_LOG_SOFTMAX, 3, 3, taper_nnapi_lower_softmax},
    {TAPER_NNAPI_MEAN, 3, 3, taper_nnapi_lower_reduce},
    {TAPER_NNAPI_REDUCE_SUM, 3, 3, taper_nnapi_lower_reduce},
    {TAPER_NNAPI_REDUCE_MAX, 3, 3, taper_nnapi_lower_reduce},
    {TAPER_NNAPI_REDUCE_MIN, 3, 3, taper_nnapi_lower_reduce},
    {TAPER_NNAPI_QUANTIZE, 1, 1, taper_nnapi_lower_quantize},
    {TAPER_NNAPI_DEQUANTIZE, 1, 1, taper_nnapi_lower_quantize},
    {TAPER_NNAPI_RESHAPE, 2, 2, taper_nnapi_lower_reshape},
    {TAPER_NNAPI_EXPAND_DIMS, 2, 2, taper_nnapi_lower_expand_dims},
    {TAPER_NNAPI_SQUEEZE, 2, 2, taper_nnapi_lower_squeeze},
    {TAPER_NNAPI_STRIDED_SLICE, 7, 7, taper_nnapi_lower_strided_slice},
    {TAPER_NNAPI_SLICE, 3, 3, taper_nnapi_lower_slice},
    {TAPER_NNAPI_SPLIT, 3, 3, taper_nnapi_lower_split},
    {TAPER_NNAPI_PAD, 2, 2, taper_nnapi_lower_pad},
    {TAPER_NNAPI_PAD_V2, 3, 3, taper_nnapi_lower_pad},
    {TAPER_NNAPI_CONCATENATION, 2, UINT32_MAX, taper_nnapi_lower_concat},
    {TAPER_NNAPI_TRANSPOSE, 2, 2, taper_nnapi_lower_transpose},
};

static taper_status lower_operation(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code != op->code) {
            continue;
        }
        const bool many = op->code == TAPER_NNAPI_SPLIT;
        if (op->in_count < rows[i].least || op->in_count > rows[i].most || op->out_count < 1 ||
            (op->out_count > 1 && !many)) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%u inputs and %u outputs are not possible", op->in_count,
                       op->out_count);
        }
        TAPER_TRY(taper_nnapi_check_free(l, op->out[0]));
        return rows[i].lower(l, op);
    }
    TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "the operation is not supported");
}

taper_status taper_nnapi_lower_operations(taper_nnapi_lowering *l)
{
    for (uint32_t i = 0; i < l->model->operation_count; i++) {
        const taper_status status = lower_operation(l, &l->model->operations[i]);
        if (status != TAPER_OK) {
            taper_error_prefix(l->emit.error, "NNAPI operation %u (code %u): ", i, l->model->operations[i].code);
            return status;
        }
    }
    return TAPER_OK;
}
