// SPDX-License-Identifier: BSD-2-Clause
// Conversions to int, float, bool and complex from numbers, strings and tensors of one element.
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/half.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_ops.h"

static taper_status load_number(taper_run *run, const taper_tensor *tensor, taper_val *number)
{
    const void *data = taper_tensor_data(tensor);
    double re = 0, im = 0;
    switch ((taper_dtype)tensor->dtype) {
    case TAPER_BOOL:
        *number = taper_val_bool(*(const uint8_t *)data != 0);
        return TAPER_OK;
    case TAPER_U8:
    case TAPER_I8:
    case TAPER_I16:
    case TAPER_I32:
    case TAPER_I64:
        *number = taper_val_int(taper_load_int((taper_dtype)tensor->dtype, data, 0));
        return TAPER_OK;
    case TAPER_F16:
    case TAPER_BF16:
    case TAPER_F32:
    case TAPER_F64:
        *number = taper_val_double(taper_load_double((taper_dtype)tensor->dtype, data, 0));
        return TAPER_OK;
    case TAPER_QI8:
    case TAPER_QU8:
    case TAPER_QI32: {
        const taper_quantizer *q = tensor->quantizer;
        if (q == NULL) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "a quantized tensor has no quantizer");
        }
        double scale = q->scale, zero = (double)q->zero_point;
        if (q->scales != NULL && q->zero_points != NULL) {
            if (taper_tensor_numel(q->scales) < 1 || taper_tensor_numel(q->zero_points) < 1) {
                return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "a quantized tensor has no scales");
            }
            scale = taper_load_double((taper_dtype)q->scales->dtype, taper_tensor_data(q->scales), 0);
            zero = taper_load_double((taper_dtype)q->zero_points->dtype, taper_tensor_data(q->zero_points), 0);
        }
        const taper_dtype integer = tensor->dtype == TAPER_QI8   ? TAPER_I8
                                    : tensor->dtype == TAPER_QU8 ? TAPER_U8
                                                                 : TAPER_I32;
        const float value = (float)((double)taper_load_int(integer, data, 0) - zero) * (float)scale;
        *number = taper_val_double((double)value);
        return TAPER_OK;
    }
    case TAPER_C32: {
        uint16_t parts[2];
        memcpy(parts, data, sizeof parts);
        re = (double)taper_f16_to_float(parts[0]);
        im = (double)taper_f16_to_float(parts[1]);
        break;
    }
    case TAPER_C64: {
        float parts[2];
        memcpy(parts, data, sizeof parts);
        re = (double)parts[0];
        im = (double)parts[1];
        break;
    }
    case TAPER_C128: {
        double parts[2];
        memcpy(parts, data, sizeof parts);
        re = parts[0];
        im = parts[1];
        break;
    }
    default:
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "no number can be read from a %s tensor",
                          taper_dtype_name((taper_dtype)tensor->dtype));
    }
    taper_complex *complex = taper_complex_new(run->heap, re, im);
    if (complex == NULL) {
        return taper_fail_memory(run->error);
    }
    *number = TAPER_VAL(complex);
    return TAPER_OK;
}

taper_status taper_tensor_number(taper_run *run, const taper_tensor *tensor, taper_val *number)
{
    const int64_t count = taper_tensor_numel(tensor);
    if (count != 1) {
        return taper_fail(run->error, TAPER_ERROR_RAISED, "a Tensor with %lld elements cannot be converted to Scalar",
                          (long long)count);
    }
    return load_number(run, tensor, number);
}

taper_status taper_scalar_value(taper_run *run, const taper_scalar *scalar, taper_val *value)
{
    switch (scalar->kind) {
    case TAPER_SCALAR_BOOL:
        *value = taper_val_bool(scalar->i != 0);
        return TAPER_OK;
    case TAPER_SCALAR_INT:
        *value = taper_val_int(scalar->i);
        return TAPER_OK;
    case TAPER_SCALAR_DOUBLE:
        *value = taper_val_double(scalar->f);
        return TAPER_OK;
    default: {
        taper_complex *complex = taper_complex_new(run->heap, scalar->f, scalar->im);
        if (complex == NULL) {
            return taper_fail_memory(run->error);
        }
        *value = TAPER_VAL(complex);
        return TAPER_OK;
    }
    }
}

// Sets *number to argument `at`, or to the only element if the argument is a tensor. *number owns a reference if it is
// complex.
static taper_status number_arg(const taper_call *call, size_t at, taper_val *number)
{
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        return taper_tensor_number(call->run, call->args[at].as.tensor, number);
    }
    taper_scalar scalar;
    TAPER_TRY(taper_arg_scalar(call, at, &scalar));
    return taper_scalar_value(call->run, &scalar, number);
}

static taper_status overflows(const taper_call *call, const char *type)
{
    return taper_fail(call->run->error, TAPER_ERROR_RAISED, "value cannot be converted to type %s without overflow",
                      type);
}

// Converts a complex *number to its real part and releases it. Fails if the imaginary part is not 0.
static taper_status drop_imaginary(const taper_call *call, taper_val *number, const char *type)
{
    if (number->tag == TAPER_COMPLEX) {
        const taper_pair z = {number->as.complex->re, number->as.complex->im};
        taper_val_release(*number);
        *number = taper_val_double(z.re);
        if (z.im != 0) {
            return overflows(call, type);
        }
    }
    return TAPER_OK;
}

// Parses argument 0 as a decimal int. Fails unless the whole string is the number.
static taper_status int_of_string(const taper_call *call, int64_t *number)
{
    const taper_string *text;
    TAPER_TRY(taper_arg_string(call, 0, &text));
    errno = 0;
    char *end = NULL;
    const long long value = strtoll(text->data, &end, 10);
    if (end == text->data || end != text->data + text->length) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "invalid literal for int() with base 10: '%s'",
                          text->data);
    }
    if (errno == ERANGE) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "int() of '%s' does not fit 64 bits", text->data);
    }
    *number = value;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_to_int)
{
    int64_t result = 0;
    if (call->arg_count >= 1 && call->args[0].tag == TAPER_STRING) {
        TAPER_TRY(int_of_string(call, &result));
    } else {
        const bool checked = call->arg_count >= 1 && call->args[0].tag == TAPER_TENSOR;
        taper_val number;
        TAPER_TRY(number_arg(call, 0, &number));
        TAPER_TRY(drop_imaginary(call, &number, "int64_t"));
        if (number.tag != TAPER_DOUBLE) {
            result = number.as.i;
        } else if (checked && !(number.as.f >= -9223372036854775808.0 && number.as.f <= 9223372036854775808.0)) {
            return overflows(call, "int64_t");
        } else {
            result = taper_double_to_int(number.as.f);
        }
    }
    taper_ret(call, 0, taper_val_int(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_to_float)
{
    double result = 0;
    if (call->arg_count >= 1 && call->args[0].tag == TAPER_STRING) {
        const taper_string *text = call->args[0].as.string;
        if (!taper_parse_double(text->data, text->length, &result)) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED, "could not convert string to float: '%s'",
                              text->data);
        }
    } else {
        taper_val number;
        TAPER_TRY(number_arg(call, 0, &number));
        TAPER_TRY(drop_imaginary(call, &number, "double"));
        result = number.tag == TAPER_DOUBLE ? number.as.f : (double)number.as.i;
    }
    taper_ret(call, 0, taper_val_double(result));
    return TAPER_OK;
}

// Kernel of Bool.* and is_nonzero.
TAPER_KERNEL(taper_op_to_bool)
{
    taper_val number;
    if (call->arg_count >= 1 && call->args[0].tag == TAPER_TENSOR) {
        const int64_t count = taper_tensor_numel(call->args[0].as.tensor);
        if (count != 1) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Boolean value of Tensor with %s is ambiguous",
                              count == 0 ? "no values" : "more than one value");
        }
    }
    TAPER_TRY(number_arg(call, 0, &number));
    bool result;
    if (number.tag == TAPER_COMPLEX) {
        result = number.as.complex->re != 0 || number.as.complex->im != 0;
    } else {
        result = number.tag == TAPER_DOUBLE ? number.as.f != 0 : number.as.i != 0;
    }
    taper_val_release(number);
    taper_ret(call, 0, taper_val_bool(result));
    return TAPER_OK;
}

// Makes a complex number from one number, or from a real and an imaginary part.
TAPER_KERNEL(taper_op_to_complex)
{
    taper_pair parts[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < 2 && i < call->arg_count; i++) {
        taper_val number;
        TAPER_TRY(number_arg(call, i, &number));
        if (number.tag == TAPER_COMPLEX) {
            parts[i] = (taper_pair){number.as.complex->re, number.as.complex->im};
            taper_val_release(number);
            if (call->arg_count > 1 && parts[i].im != 0) {
                return overflows(call, "double");
            }
        } else {
            parts[i].re = number.tag == TAPER_DOUBLE ? number.as.f : (double)number.as.i;
        }
    }
    return taper_ret_complex(call, 0, (taper_pair){parts[0].re, call->arg_count > 1 ? parts[1].re : parts[0].im});
}

// Kernel of item, _local_scalar_dense and similar operators.
TAPER_KERNEL(taper_op_item)
{
    taper_val number;
    TAPER_TRY(number_arg(call, 0, &number));
    taper_ret(call, 0, number);
    return TAPER_OK;
}

// Checks a tensor that is used as a number: it must have no dimensions and not require gradients.
static taper_status check_implicit(taper_call *call, const taper_tensor **out)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    if (tensor->requires_grad) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          "Cannot input a tensor that requires grad as a scalar argument");
    }
    if (tensor->rank != 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          "Cannot input a tensor of dimension other than 0 as a scalar argument");
    }
    *out = tensor;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_scalar_implicit)
{
    const taper_tensor *tensor = NULL;
    TAPER_TRY(check_implicit(call, &tensor));
    return taper_op_item(call);
}

TAPER_KERNEL(taper_op_int_implicit)
{
    const taper_tensor *tensor = NULL;
    TAPER_TRY(check_implicit(call, &tensor));
    if (!taper_dtype_is_integral((taper_dtype)tensor->dtype)) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          "Cannot input a tensor of type %s as an integral argument",
                          taper_dtype_torch_name((taper_dtype)tensor->dtype));
    }
    return taper_op_to_int(call);
}

TAPER_KERNEL(taper_op_float_implicit)
{
    const taper_tensor *tensor = NULL;
    TAPER_TRY(check_implicit(call, &tensor));
    return taper_op_to_float(call);
}

TAPER_KERNEL(taper_op_complex_implicit)
{
    const taper_tensor *tensor = NULL;
    TAPER_TRY(check_implicit(call, &tensor));
    return taper_op_to_complex(call);
}
