// SPDX-License-Identifier: BSD-2-Clause
// Names of operations. They are stored as numbers and one text, because pointers would need relocation in each process.
#include "backends/nnapi/operation_names.h"

#include <string.h>

#include "backends/nnapi/neural_networks.h"

// clang-format off
#define OPERATIONS(NAME) \
    NAME(ADD) NAME(AVERAGE_POOL_2D) NAME(CONCATENATION) NAME(CONV_2D) NAME(DEPTHWISE_CONV_2D) \
    NAME(DEPTH_TO_SPACE) NAME(DEQUANTIZE) NAME(FLOOR) NAME(FULLY_CONNECTED) NAME(LOGISTIC) NAME(MAX_POOL_2D) \
    NAME(MUL) NAME(RELU) NAME(RELU1) NAME(RELU6) NAME(RESHAPE) NAME(RESIZE_BILINEAR) NAME(SOFTMAX) NAME(TANH) \
    NAME(DIV) NAME(MEAN) NAME(PAD) NAME(SQUEEZE) NAME(STRIDED_SLICE) NAME(SUB) NAME(TRANSPOSE) NAME(ABS) \
    NAME(EXP) NAME(EXPAND_DIMS) NAME(GROUPED_CONV_2D) NAME(LOG_SOFTMAX) NAME(MAXIMUM) NAME(MINIMUM) NAME(NEG) \
    NAME(PAD_V2) NAME(PRELU) NAME(QUANTIZE) NAME(SLICE) NAME(SPLIT) NAME(SQRT) NAME(TRANSPOSE_CONV_2D) \
    NAME(RESIZE_NEAREST_NEIGHBOR) NAME(HARD_SWISH)
// clang-format on

const char *taper_nnapi_operation_name(int32_t code)
{
    static const char names[] =
#define NAME(name) #name "\0"
        OPERATIONS(NAME);
#undef NAME
    static const uint8_t codes[] = {
#define NAME(name) ANEURALNETWORKS_##name,
        OPERATIONS(NAME)
#undef NAME
    };
    const char *name = names;
    for (size_t i = 0; i < sizeof codes; i++, name += strlen(name) + 1) {
        if (codes[i] == code) {
            return name;
        }
    }
    return "";
}
