// SPDX-License-Identifier: BSD-2-Clause
// Calls with quantized tensors. PyTorch's operators compute with the numbers that a quantized tensor represents, move
// its elements, or raise an error; an operator must not use the integers as numbers. taper_call_kernel therefore asks
// this file, before anything is read, which kernel runs a call with such an argument. The operator's row in the
// operator list decides it, by ON_QUANTIZED( ). Arguments whose declared type is "any" (such as items of lists) are not
// examined.
#include "ops/list/op_table.h"
#include "ops/quantized/quantized.h"

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

taper_status taper_quantized_kernel(const taper_call *call, taper_kernel *kernel)
{
    const unsigned how = taper_row_on_quantized(call->op);
    // A call without a schema is a step of another operator.
    if (call->schema == NULL || how == TAPER_ON_QUANTIZED_ANY) {
        return TAPER_OK;
    }
    if (how == TAPER_ON_QUANTIZED_NONE) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "there is no such operator for quantized tensors; dequantize its arguments first");
    }
    if (*kernel == taper_row_kernel(call->op)) { // the caller tried a backend's kernel first, and that kernel declined
        *kernel = taper_row_quantized_kernel(call->op);
    }
    return (how - TAPER_ON_QUANTIZED_OWN) % 2 != 0 ? TAPER_OK : only_uniform(call);
}

bool taper_row_takes_quantized(const taper_op *op)
{
    return taper_row_on_quantized(op) >= TAPER_ON_QUANTIZED_OWN;
}
