// SPDX-License-Identifier: BSD-2-Clause
// The operands that each operation takes, and the API level of each form.
#include <string.h>

#include "model.h"

// Letters of operands:
// T  a tensor; all T of a row have one type, which decides the row's level
// W  weights: of that type, or int8 with a scale per channel for quantized tensors (29)
// b  a bias: float for floats, otherwise int32
// i  int32 tensor (o: optional)                       f  float tensor
// Q  a quantized tensor: unsigned, or signed (30)     D  an input of DEQUANTIZE
// I F B  scalars: int, float, bool                    Z  int or float (29)
// V  a scalar of the tensor's type: float, or the quantized integer
// *  after a letter: any number of them, at least one
#define ROW(code, level, f, q, i, rank, in, out)                                                                       \
    {                                                                                                                  \
        ANEURALNETWORKS_##code, level, f, q, i, rank, in, out                                                          \
    }
static const signature rows[] = {
    ROW(ADD, 27, 27, 27, 30, 4, "TTI", "T"),
    ROW(MUL, 27, 27, 27, 30, 4, "TTI", "T"),
    ROW(SUB, 28, 28, 29, 30, 4, "TTI", "T"),
    ROW(DIV, 28, 28, 0, 30, 4, "TTI", "T"),
    ROW(MAXIMUM, 29, 29, 29, 29, DOUBLE_RANK, "TT", "T"),
    ROW(MINIMUM, 29, 29, 29, 29, DOUBLE_RANK, "TT", "T"),
    ROW(POW, 29, 29, 0, 0, DOUBLE_RANK, "TT", "T"),
    ROW(PRELU, 29, 29, 29, 0, DOUBLE_RANK, "TT", "T"),
    ROW(RELU, 27, 27, 27, 0, 4, "T", "T"),
    ROW(RELU1, 27, 27, 27, 0, 4, "T", "T"),
    ROW(RELU6, 27, 27, 27, 0, 4, "T", "T"),
    ROW(LOGISTIC, 27, 27, 27, 0, 4, "T", "T"),
    ROW(TANH, 27, 27, 29, 0, 4, "T", "T"),
    ROW(ABS, 29, 29, 0, 30, DOUBLE_RANK, "T", "T"),
    ROW(NEG, 29, 29, 0, 29, DOUBLE_RANK, "T", "T"),
    ROW(EXP, 29, 29, 0, 0, DOUBLE_RANK, "T", "T"),
    ROW(SQRT, 29, 29, 0, 0, DOUBLE_RANK, "T", "T"),
    ROW(RSQRT, 29, 29, 0, 0, DOUBLE_RANK, "T", "T"),
    ROW(LOG, 29, 29, 0, 0, DOUBLE_RANK, "T", "T"),
    ROW(FLOOR, 27, 27, 0, 0, 4, "T", "T"),
    ROW(HARD_SWISH, 30, 30, 30, 0, DOUBLE_RANK, "T", "T"),
    ROW(QUANTIZE, 29, 29, 0, 0, DOUBLE_RANK, "f", "Q"),
    ROW(DEQUANTIZE, 27, 27, 27, 0, DOUBLE_RANK, "D", "f"),
    ROW(CONV_2D, 27, 27, 27, 0, 4, "TWbIIII", "T"),
    ROW(CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIB", "T"),
    ROW(CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIBII", "T"),
    ROW(CONV_2D, 27, 27, 27, 0, 4, "TWbIIIIIII", "T"),
    ROW(CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIIIB", "T"),
    ROW(CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIIIBII", "T"),
    ROW(DEPTHWISE_CONV_2D, 27, 27, 27, 0, 4, "TWbIIIII", "T"),
    ROW(DEPTHWISE_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIB", "T"),
    ROW(DEPTHWISE_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIBII", "T"),
    ROW(DEPTHWISE_CONV_2D, 27, 27, 27, 0, 4, "TWbIIIIIIII", "T"),
    ROW(DEPTHWISE_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIIIIB", "T"),
    ROW(DEPTHWISE_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIIIIBII", "T"),
    ROW(GROUPED_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIB", "T"),
    ROW(GROUPED_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIIIIB", "T"),
    ROW(TRANSPOSE_CONV_2D, 29, 29, 29, 0, 4, "TWbiIIIIB", "T"),
    ROW(TRANSPOSE_CONV_2D, 29, 29, 29, 0, 4, "TWbIIIIIIIB", "T"),
    ROW(FULLY_CONNECTED, 27, 27, 27, 0, 4, "TTbI", "T"),
    ROW(AVERAGE_POOL_2D, 27, 27, 27, 0, 4, "TIIIIII", "T"),
    ROW(AVERAGE_POOL_2D, 29, 29, 29, 0, 4, "TIIIIIIB", "T"),
    ROW(AVERAGE_POOL_2D, 27, 27, 27, 0, 4, "TIIIIIIIII", "T"),
    ROW(AVERAGE_POOL_2D, 29, 29, 29, 0, 4, "TIIIIIIIIIB", "T"),
    ROW(MAX_POOL_2D, 27, 27, 27, 0, 4, "TIIIIII", "T"),
    ROW(MAX_POOL_2D, 29, 29, 29, 0, 4, "TIIIIIIB", "T"),
    ROW(MAX_POOL_2D, 27, 27, 27, 0, 4, "TIIIIIIIII", "T"),
    ROW(MAX_POOL_2D, 29, 29, 29, 0, 4, "TIIIIIIIIIB", "T"),
    ROW(RESIZE_BILINEAR, 27, 27, 29, 0, 4, "TII", "T"),
    ROW(RESIZE_BILINEAR, 29, 29, 29, 0, 4, "TZZ", "T"),
    ROW(RESIZE_BILINEAR, 29, 29, 29, 0, 4, "TZZB", "T"),
    ROW(RESIZE_BILINEAR, 30, 30, 30, 0, 4, "TZZBB", "T"),
    ROW(RESIZE_BILINEAR, 30, 30, 30, 0, 4, "TZZBBB", "T"),
    ROW(RESIZE_NEAREST_NEIGHBOR, 29, 29, 29, 0, 4, "TZZB", "T"),
    ROW(RESIZE_NEAREST_NEIGHBOR, 30, 30, 30, 0, 4, "TZZBB", "T"),
    ROW(RESIZE_NEAREST_NEIGHBOR, 30, 30, 30, 0, 4, "TZZBBB", "T"),
    ROW(SOFTMAX, 27, 27, 27, 0, 4, "TF", "T"),
    ROW(SOFTMAX, 29, 29, 29, 0, 4, "TFI", "T"),
    ROW(LOG_SOFTMAX, 29, 29, 0, 0, DOUBLE_RANK, "TFI", "T"),
    ROW(MEAN, 28, 28, 28, 0, 4, "TiI", "T"),
    ROW(REDUCE_SUM, 29, 29, 0, 0, 4, "TiB", "T"),
    ROW(REDUCE_MAX, 29, 29, 29, 0, 4, "TiB", "T"),
    ROW(REDUCE_MIN, 29, 29, 29, 0, 4, "TiB", "T"),
    ROW(CONCATENATION, 27, 27, 27, 0, 4, "T*I", "T"),
    ROW(RESHAPE, 27, 27, 27, 30, 4, "Ti", "T"),
    ROW(SQUEEZE, 28, 28, 28, 0, 4, "To", "T"),
    ROW(EXPAND_DIMS, 29, 29, 29, 29, DOUBLE_RANK, "TI", "T"),
    ROW(PAD, 28, 28, 28, 0, 4, "Ti", "T"),
    ROW(PAD_V2, 29, 29, 29, 0, 4, "TiV", "T"),
    ROW(TRANSPOSE, 28, 28, 28, 0, 4, "To", "T"),
    ROW(SLICE, 29, 29, 29, 29, DOUBLE_RANK, "Tii", "T"),
    ROW(STRIDED_SLICE, 28, 28, 28, 0, 4, "TiiiIII", "T"),
    ROW(SPLIT, 29, 29, 29, 29, DOUBLE_RANK, "TII", "T*"),
    ROW(DEPTH_TO_SPACE, 27, 27, 27, 0, 4, "TI", "T"),
    ROW(DEPTH_TO_SPACE, 29, 29, 29, 0, 4, "TIB", "T"),
    ROW(CHANNEL_SHUFFLE, 29, 29, 29, 0, 4, "TII", "T"),
};

static bool fits_letter(char letter, const tensor *t, int32_t first)
{
    const bool quantized =
        first == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || first == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    switch (letter) {
    case 'T':
        return t->type == first;
    case 'W':
        return t->type == first ||
               (quantized && DOUBLE_LEVEL >= 29 && t->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL);
    case 'b':
        return t->type == (quantized ? ANEURALNETWORKS_TENSOR_INT32 : ANEURALNETWORKS_TENSOR_FLOAT32);
    case 'i':
    case 'o':
        return t->type == ANEURALNETWORKS_TENSOR_INT32;
    case 'f':
        return t->type == ANEURALNETWORKS_TENSOR_FLOAT32;
    case 'D':
        return type_is_quant8(t->type) || t->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    case 'Q':
        return t->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || t->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    case 'I':
        return t->type == ANEURALNETWORKS_INT32;
    case 'F':
        return t->type == ANEURALNETWORKS_FLOAT32;
    case 'B':
        return t->type == ANEURALNETWORKS_BOOL;
    case 'Z':
        return t->type == ANEURALNETWORKS_INT32 || t->type == ANEURALNETWORKS_FLOAT32;
    default: // the letter is V
        return t->type == (quantized ? ANEURALNETWORKS_INT32 : ANEURALNETWORKS_FLOAT32);
    }
}

// Returns the letter of operand `at`, where * repeats the letter before it. Returns 0 if the number of operands is
// wrong.
static char letter_of(const char *letters, uint32_t count, uint32_t at)
{
    const char *star = strchr(letters, '*');
    const uint32_t length = (uint32_t)strlen(letters);
    if (star == NULL) {
        return count == length ? letters[at] : '\0';
    }
    const uint32_t fixed = length - 2, before = (uint32_t)(star - letters) - 1;
    if (count <= fixed) {
        return '\0';
    }
    return at < before ? letters[at] : at < before + count - fixed ? star[-1] : letters[at - (count - fixed) + 2];
}

static bool fits(const char *letters, const tensor *operands, uint32_t count, int32_t first)
{
    for (uint32_t i = 0; i < count; i++) {
        const char letter = letter_of(letters, count, i);
        if (letter == '\0' || !fits_letter(letter, &operands[i], first)) {
            return false;
        }
    }
    return count > 0;
}

static int level_of(const signature *row, int32_t type)
{
    int level;
    switch (type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        level = row->float_level;
        break;
    case ANEURALNETWORKS_TENSOR_INT32:
        level = row->int_level;
        break;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        level = row->quant_level;
        break;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        level = row->quant_level == 0 || row->quant_level > 30 ? row->quant_level : 30;
        break;
    default: // other input types of DEQUANTIZE
        level = row->in[0] == 'D' ? 29 : 0;
    }
    return level == 0 ? INT32_MAX : level > row->level ? level : row->level;
}

const signature *double_signature(int32_t code, const tensor *in, uint32_t in_count, const tensor *out,
                                  uint32_t out_count, bool *known)
{
    const int32_t first = in_count > 0 ? in[0].type : 0;
    int level = INT32_MAX;
    *known = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const signature *row = &rows[i];
        if (row->code != code) {
            continue;
        }
        *known = true;
        if (!fits(row->in, in, in_count, first) || !fits(row->out, out, out_count, first)) {
            continue;
        }
        if (level_of(row, first) <= DOUBLE_LEVEL) {
            if (in[0].rank > row->rank) {
                (void)double_misuse(0, "operation %d on %u dimensions", code, in[0].rank);
                return NULL;
            }
            return row;
        }
        level = level_of(row, first) < level ? level_of(row, first) : level;
    }
    if (level != INT32_MAX) {
        (void)double_misuse(0, "operation %d takes these operands from level %d on", code, level);
    } else if (*known) {
        (void)double_misuse(0, "operation %d does not take these %u inputs and %u outputs", code, in_count, out_count);
    }
    return NULL;
}

bool double_is_parameter(const signature *row, uint32_t in_count, uint32_t input)
{
    return strchr("ioIFBZV", letter_of(row->in, in_count, input)) != NULL;
}

bool double_may_omit(const signature *row, uint32_t in_count, uint32_t input)
{
    return letter_of(row->in, in_count, input) == 'o';
}
