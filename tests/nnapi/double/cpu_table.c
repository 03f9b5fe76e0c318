// SPDX-License-Identifier: BSD-2-Clause
// The table of operations that the emulation computes.
#include "cpu.h"

#define ROW(code, prepare, run)                                                                                        \
    {                                                                                                                  \
        ANEURALNETWORKS_##code, prepare, run                                                                           \
    }
static const operation_kernel kernels[] = {
    ROW(ADD, prepare_binary, run_binary),
    ROW(SUB, prepare_binary, run_binary),
    ROW(MUL, prepare_binary, run_binary),
    ROW(DIV, prepare_binary, run_binary),
    ROW(MAXIMUM, prepare_binary, run_binary),
    ROW(MINIMUM, prepare_binary, run_binary),
    ROW(POW, prepare_binary, run_binary),
    ROW(PRELU, prepare_binary, run_binary),
    ROW(RELU, prepare_unary, run_unary),
    ROW(RELU1, prepare_unary, run_unary),
    ROW(RELU6, prepare_unary, run_unary),
    ROW(LOGISTIC, prepare_unary, run_unary),
    ROW(TANH, prepare_unary, run_unary),
    ROW(ABS, prepare_unary, run_unary),
    ROW(NEG, prepare_unary, run_unary),
    ROW(EXP, prepare_unary, run_unary),
    ROW(SQRT, prepare_unary, run_unary),
    ROW(RSQRT, prepare_unary, run_unary),
    ROW(LOG, prepare_unary, run_unary),
    ROW(FLOOR, prepare_unary, run_unary),
    ROW(HARD_SWISH, prepare_unary, run_unary),
    ROW(QUANTIZE, prepare_cast, run_cast),
    ROW(DEQUANTIZE, prepare_cast, run_cast),
    ROW(CONV_2D, prepare_conv, run_conv),
    ROW(DEPTHWISE_CONV_2D, prepare_conv, run_conv),
    ROW(GROUPED_CONV_2D, prepare_conv, run_conv),
    ROW(TRANSPOSE_CONV_2D, prepare_transposed, run_transposed),
    ROW(FULLY_CONNECTED, prepare_linear, run_linear),
    ROW(AVERAGE_POOL_2D, prepare_pool, run_pool),
    ROW(MAX_POOL_2D, prepare_pool, run_pool),
    ROW(RESIZE_BILINEAR, prepare_resize, run_resize),
    ROW(RESIZE_NEAREST_NEIGHBOR, prepare_resize, run_resize),
    ROW(SOFTMAX, prepare_softmax, run_softmax),
    ROW(LOG_SOFTMAX, prepare_softmax, run_softmax),
    ROW(MEAN, prepare_mean, run_mean),
    ROW(REDUCE_SUM, prepare_mean, run_mean),
    ROW(REDUCE_MAX, prepare_mean, run_mean),
    ROW(REDUCE_MIN, prepare_mean, run_mean),
    ROW(CONCATENATION, prepare_concat, run_concat),
    ROW(RESHAPE, prepare_reshape, run_copy),
    ROW(SQUEEZE, prepare_squeeze, run_copy),
    ROW(EXPAND_DIMS, prepare_expand, run_copy),
    ROW(PAD, prepare_pad, run_pad),
    ROW(PAD_V2, prepare_pad, run_pad),
    ROW(TRANSPOSE, prepare_transpose, run_gather),
    ROW(SLICE, prepare_slice, run_gather),
    ROW(STRIDED_SLICE, prepare_strided, run_gather),
    ROW(SPLIT, prepare_split, run_split),
    ROW(DEPTH_TO_SPACE, prepare_depth, run_depth),
    ROW(CHANNEL_SHUFFLE, prepare_shuffle, run_shuffle),
};

const operation_kernel *double_kernel(int32_t code)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (kernels[i].code == code) {
            return &kernels[i];
        }
    }
    return NULL;
}
