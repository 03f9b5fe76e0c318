// SPDX-License-Identifier: BSD-2-Clause
// Values for apps (taper_app.h): entries of dicts, and copies of tensors in contiguous memory.
#include "app/app_values.h"

#include <stdio.h>

#include <taper/taper_app.h>

#include "base/arguments.h"
#include "ir/tensor.h"
#include "runtime/context.h"

enum { KEYS_TOLD = 64 };

// Sets an error about a missing key, with the existing keys.
static TAPER_COLD taper_status missing(const taper_dict *dict, const char *key, taper_error *error)
{
    (void)taper_fail(error, TAPER_ERROR_ARGUMENT, "the dict has no key %s", key);
    for (size_t i = 0; i < dict->count && i < KEYS_TOLD; i++) {
        const taper_val one = taper_dict_key(dict, i);
        if (one.tag == TAPER_STRING) {
            taper_error_add_detail(error, "  \"%s\"\n", one.as.string->data);
        } else if (one.tag == TAPER_INT) {
            taper_error_add_detail(error, "  %lld\n", (long long)one.as.i);
        }
    }
    return TAPER_ERROR_ARGUMENT;
}

// Finds the entry of a dict. name: the key as text, for messages.
static taper_status find(const taper_value *dict, taper_val key, const char *name, taper_value **item,
                         taper_error *error)
{
    const taper_val *found = taper_dict_find(dict->val.as.dict, key);
    if (found == NULL) {
        return missing(dict->val.as.dict, name, error);
    }
    *item = taper_box_new(dict->head.heap, taper_val_retain(*found));
    if (*item == NULL) {
        taper_val_release(*found);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

static taper_status check_dict(const taper_value *dict, taper_error *error)
{
    TAPER_NEED(dict, error);
    if (dict->val.tag != TAPER_DICT) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the value is not a Dict but %s", taper_val_kind_name(dict->val));
    }
    return TAPER_OK;
}

taper_status taper_value_find(const taper_value *dict, const char *key, taper_value **item, taper_error *error)
{
    char name[80];
    TAPER_NEED_OUT(item, error);
    TAPER_TRY(check_dict(dict, error));
    TAPER_NEED(key, error);
    taper_string *text = taper_string_new(dict->head.heap, key, strlen(key));
    if (text == NULL) {
        return taper_fail_memory(error);
    }
    snprintf(name, sizeof name, "\"%.60s\"", key);
    const taper_status status = find(dict, TAPER_VAL(text), name, item, error);
    taper_obj_release(&text->head);
    return status;
}

taper_status taper_value_find_int(const taper_value *dict, int64_t key, taper_value **item, taper_error *error)
{
    char name[32];
    TAPER_NEED_OUT(item, error);
    TAPER_TRY(check_dict(dict, error));
    snprintf(name, sizeof name, "%lld", (long long)key);
    return find(dict, taper_val_int(key), name, item, error);
}

// ---- copies

static taper_status check_tensor(const taper_value *value, taper_tensor **tensor, taper_error *error)
{
    TAPER_NEED(value, error);
    if (value->val.tag != TAPER_TENSOR) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the value is not a Tensor but %s", taper_val_kind_name(value->val));
    }
    *tensor = value->val.as.tensor;
    return taper_tensor_settle(*tensor, error);
}

// Makes a contiguous tensor of this dtype with the elements of `from`, without a quantizer.
static taper_status copy_of(taper_context *context, const taper_tensor *from, taper_dtype dtype, taper_tensor **copy,
                            taper_error *error)
{
    TAPER_TRY(taper_tensor_new(context->heap, dtype, from->rank, from->sizes, NULL, copy, error));
    const taper_status status = taper_tensor_copy(*copy, from, error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*copy)->head);
    }
    return status;
}

static taper_status box(taper_context *context, taper_tensor *tensor, taper_value **value, taper_error *error)
{
    *value = taper_box_new(context->heap, TAPER_VAL(tensor));
    if (*value == NULL) {
        taper_obj_release(&tensor->head);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

taper_status taper_value_contiguous(taper_context *context, const taper_value *tensor, taper_value **copy,
                                    taper_error *error)
{
    taper_tensor *from, *made;
    TAPER_NEED_OUT(copy, error);
    TAPER_NEED(context, error);
    TAPER_TRY(check_tensor(tensor, &from, error));
    TAPER_TRY(copy_of(context, from, (taper_dtype)from->dtype, &made, error));
    if (from->quantizer != NULL) {
        const taper_status status = taper_tensor_set_quantizer(made, from->quantizer, error);
        if (status != TAPER_OK) {
            taper_obj_release(&made->head);
            return status;
        }
    }
    return box(context, made, copy, error);
}

// Converts integers of q in `numbers` to the real values that they represent.
static taper_status dequantize(const taper_tensor *q, float *numbers, taper_error *error)
{
    const taper_quantizer *quantizer = q->quantizer;
    const size_t count = (size_t)taper_tensor_numel(q);
    if (quantizer->scales == NULL) {
        for (size_t i = 0; i < count; i++) {
            numbers[i] = (numbers[i] - (float)quantizer->zero_point) * (float)quantizer->scale;
        }
        return TAPER_OK;
    }
    const taper_tensor *scales = quantizer->scales, *points = quantizer->zero_points;
    if (scales->dtype != TAPER_F64 || points == NULL || points->dtype != TAPER_I64 ||
        !taper_tensor_is_contiguous(scales) || !taper_tensor_is_contiguous(points) || quantizer->axis < 0 ||
        quantizer->axis >= q->rank || taper_tensor_numel(scales) != q->sizes[quantizer->axis] ||
        taper_tensor_numel(points) != q->sizes[quantizer->axis]) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "the tensor's quantizer is not one of integers per channel");
    }
    size_t inner = 1;
    for (size_t i = (size_t)quantizer->axis + 1; i < q->rank; i++) {
        inner *= (size_t)q->sizes[i];
    }
    const double *scale = taper_tensor_data(scales);
    const int64_t *point = taper_tensor_data(points);
    for (size_t i = 0; i < count; i++) {
        const size_t channel = i / inner % (size_t)q->sizes[quantizer->axis];
        numbers[i] = (numbers[i] - (float)point[channel]) * (float)scale[channel];
    }
    return TAPER_OK;
}

taper_status taper_app_floats(taper_context *context, const taper_value *value, taper_tensor **floats,
                              taper_error *error)
{
    taper_tensor *from;
    *floats = NULL;
    TAPER_TRY(check_tensor(value, &from, error));
    if (from->dtype == TAPER_C32 || from->dtype == TAPER_C64 || from->dtype == TAPER_C128) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the tensor is of %s, plain numbers are wanted",
                   taper_dtype_name((taper_dtype)from->dtype));
    }
    TAPER_TRY(copy_of(context, from, TAPER_F32, floats, error));
    const taper_status status =
        from->quantizer != NULL ? dequantize(from, taper_tensor_mutable(*floats), error) : TAPER_OK;
    if (status != TAPER_OK) {
        taper_obj_release(&(*floats)->head);
        *floats = NULL;
    }
    return status;
}

taper_status taper_value_floats(taper_context *context, const taper_value *tensor, taper_value **copy,
                                taper_error *error)
{
    taper_tensor *made;
    TAPER_NEED_OUT(copy, error);
    TAPER_NEED(context, error);
    TAPER_TRY(taper_app_floats(context, tensor, &made, error));
    return box(context, made, copy, error);
}
