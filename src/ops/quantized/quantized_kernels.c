// SPDX-License-Identifier: BSD-2-Clause
// Calls with quantized tensors. An operator of PyTorch's computes on the numbers that a quantized tensor stands for, or
// moves its elements, or raises; none may take the integers for numbers. So taper_call_kernel asks here, before
// anything is read, what runs a call with such an argument. Operators of the quantized namespaces and those of the
// language (prim::) take them as they are; arguments of any type (items of lists) are not looked at.
#include "ops/list/kernels.h"
#include "ops/list/op_features.h"
#include "ops/list/op_rows.h"
#include "ops/list/registry.h"
#include "ops/quantized/quantized.h"

enum { UNIFORM, CHANNELS, OUT }; // quantized per tensor only, or per channel too; OUT: also the row's .out form

static const struct {
    uint16_t row;
    uint16_t schemes;
    taper_kernel kernel;
} kernels[] = {
#if TAPER_QUANTIZES
#define QUANTIZED(id, kernel, schemes) TAPER_OP_IF(id, {TAPER_ROW_##id, schemes, kernel}, )
#include "ops/quantized/quantized_kernels.inc"
#undef QUANTIZED
#endif
    {TAPER_ROW_COUNT, UNIFORM, NULL},
};

static bool is_tensor(const taper_type *type)
{
    return type->kind == TAPER_TYPE_TENSOR ||
           (type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_TENSOR);
}

static bool is_quantized(taper_val value)
{
    return value.tag == TAPER_TENSOR && taper_dtype_is_quantized((taper_dtype)value.as.tensor->dtype);
}

static bool per_channel(taper_val value)
{
    return is_quantized(value) && value.as.tensor->quantizer != NULL &&
           value.as.tensor->quantizer->scheme != TAPER_PER_TENSOR_AFFINE &&
           value.as.tensor->quantizer->scheme != TAPER_PER_TENSOR_SYMMETRIC;
}

bool taper_call_has_quantized(const taper_call *call)
{
    const taper_schema *schema = call->schema;
    for (size_t i = 0; i < call->arg_count; i++) {
        const taper_val value = call->args[i];
        if (value.tag == TAPER_TENSOR) {
            if (taper_dtype_is_quantized((taper_dtype)value.as.tensor->dtype) &&
                (schema == NULL || i >= schema->arg_count || is_tensor(schema->args[i].type))) {
                return true;
            }
        } else if (value.tag == TAPER_LIST && schema != NULL && i < schema->arg_count &&
                   schema->args[i].type->kind == TAPER_TYPE_LIST && is_tensor(schema->args[i].type->items[0])) {
            for (size_t k = 0; k < value.as.list->count; k++) {
                if (is_quantized(value.as.list->items[k])) {
                    return true;
                }
            }
        }
    }
    return false;
}

static taper_status only_uniform(const taper_call *call)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const taper_val value = call->args[i];
        bool found = per_channel(value);
        for (size_t k = 0; value.tag == TAPER_LIST && k < value.as.list->count && !found; k++) {
            found = per_channel(value.as.list->items[k]);
        }
        if (found) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "argument '%s' is quantized per channel; only tensors quantized per tensor are possible here",
                       taper_arg_name(call, i));
        }
    }
    return TAPER_OK;
}

// The row of the functional form of what writes into an out tensor: relu of relu.out, eq.Scalar of eq.Scalar_out.
static ptrdiff_t functional_row(const taper_schema *schema)
{
    char overload[64];
    const size_t length = strlen(schema->overload);
    if (schema->out_count == 0 || length < 3 || length >= sizeof overload ||
        strcmp(schema->overload + length - 3, "out") != 0) {
        return TAPER_ROW_COUNT;
    }
    const size_t kept = length == 3 ? 0 : length - 4; // without "_out"
    memcpy(overload, schema->overload, kept);
    overload[kept] = '\0';
    const taper_op *op = taper_row_find(schema->name, overload);
    return op != NULL ? op - taper_ops : TAPER_ROW_COUNT;
}

taper_status taper_quantized_kernel(const taper_call *call, taper_kernel *kernel)
{
    if (taper_row_is_registered(call->op)) {
        return TAPER_OK;
    }
    const char *name = call->schema != NULL ? call->schema->name : "taper::"; // part of another operator's work
    if (strncmp(name, "quantized::", 11) == 0 || strncmp(name, "_quantized::", 12) == 0 ||
        strncmp(name, "prim::", 6) == 0 || strncmp(name, "taper::", 7) == 0) {
        return TAPER_OK;
    }
    const ptrdiff_t row = call->op - taper_ops, functional = functional_row(call->schema);
    for (size_t i = 0; kernels[i].kernel != NULL; i++) {
        if (kernels[i].row == row || ((kernels[i].schemes & OUT) != 0 && kernels[i].row == functional)) {
            if (*kernel == taper_row_kernel(call->op)) { // a backend's kernel is asked first, and declines
                *kernel = kernels[i].kernel;
            }
            return (kernels[i].schemes & CHANNELS) != 0 ? TAPER_OK : only_uniform(call);
        }
    }
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
               "there is no such operator for quantized tensors; dequantize its arguments first");
}

bool taper_row_takes_quantized(const taper_op *op)
{
    for (size_t i = 0; kernels[i].kernel != NULL; i++) {
        if (taper_ops + kernels[i].row == op) {
            return true;
        }
    }
    return false;
}
