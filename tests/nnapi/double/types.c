// SPDX-License-Identifier: BSD-2-Clause
// The operand types of an API level, and the scales, zero points and dimensions that they may have.
#include <math.h>
#include <string.h>

#include "model.h"

static int first_level(int32_t type)
{
    if (type < 0 || type_width(type) == 0) {
        return 0;
    }
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? 30 : type >= ANEURALNETWORKS_BOOL ? 29 : 27;
}

static int check_quantization(int32_t type, float scale, int32_t zero_point)
{
    int32_t low = 0, high = 0;
    bool scaled = true, maybe = false;
    switch (type) {
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        high = 255;
        break;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        low = -128;
        high = 127;
        break;
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
        high = 65535;
        break;
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        break;
    case ANEURALNETWORKS_TENSOR_INT32: // a bias is int32 and has a scale
        maybe = true;
        break;
    default:
        scaled = false;
    }
    if (!isfinite(scale) || (maybe ? scale < 0.0f : scaled ? !(scale > 0.0f) : scale != 0.0f)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "type %d with scale %g", type, (double)scale);
    }
    if (zero_point < low || zero_point > high) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "type %d with zero point %d", type, zero_point);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int double_read_type(const ANeuralNetworksOperandType *type, tensor *t)
{
    *t =
        (tensor){.type = type->type, .rank = type->dimensionCount, .scale = type->scale, .zero_point = type->zeroPoint};
    const int level = first_level(type->type);
    if (level == 0 || level > DOUBLE_LEVEL) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand type %d, which level %d does not have", type->type,
                             DOUBLE_LEVEL);
    }
    if ((type->dimensionCount == 0) != (type->dimensions == NULL)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%u dimensions, and the pointer to them is %s",
                             type->dimensionCount, type->dimensions == NULL ? "NULL" : "not NULL");
    }
    if (!type_is_tensor(type->type) && type->dimensionCount != 0) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "a scalar with %u dimensions", type->dimensionCount);
    }
    if (type->dimensionCount > DOUBLE_RANK) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%u dimensions; there are at most %d here", type->dimensionCount,
                             DOUBLE_RANK);
    }
    if (type->dimensions != NULL) {
        memcpy(t->sizes, type->dimensions, t->rank * sizeof *t->sizes);
    }
    const size_t count = tensor_count(t);
    if (count == SIZE_MAX || count > UINT32_MAX / type_width(type->type)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "a tensor of more than 4 GiB");
    }
    return check_quantization(type->type, type->scale, type->zeroPoint);
}

int double_refine_type(const ANeuralNetworksOperandType *type, const tensor *of, tensor *t)
{
    *t = *of;
    if (type == NULL) {
        return ANEURALNETWORKS_NO_ERROR;
    }
    const int code = double_read_type(type, t);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    t->channel_scales = of->channel_scales;
    t->channel_dim = of->channel_dim;
    if (t->type != of->type || t->scale != of->scale || t->zero_point != of->zero_point) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "type %d, scale %g, zero point %d; the model says %d, %g, %d",
                             t->type, (double)t->scale, t->zero_point, of->type, (double)of->scale, of->zero_point);
    }
    if (of->rank != 0 && t->rank != 0 && t->rank != of->rank) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%u dimensions; the model says %u", t->rank, of->rank);
    }
    if (t->rank == 0) {
        set_sizes(t, of->rank, of->sizes);
    }
    for (uint32_t i = 0; i < of->rank; i++) {
        if (of->sizes[i] != 0 && t->sizes[i] != 0 && t->sizes[i] != of->sizes[i]) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "dimension %u has size %u; the model says %u", i,
                                 t->sizes[i], of->sizes[i]);
        }
        t->sizes[i] = t->sizes[i] != 0 ? t->sizes[i] : of->sizes[i];
    }
    return ANEURALNETWORKS_NO_ERROR;
}
