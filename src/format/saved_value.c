// SPDX-License-Identifier: BSD-2-Clause
// Checks values that were read from a file.
#include "format/saved_value.h"

#include "ir/tensor.h"

#include <stdio.h>

static bool fits(taper_val value, const taper_type *type)
{
    while (type->kind == TAPER_TYPE_OPTIONAL) {
        if (value.tag == TAPER_NONE) {
            return true;
        }
        type = type->items[0];
    }
    switch ((taper_type_kind)type->kind) {
    case TAPER_TYPE_LIST:
        return value.tag == TAPER_LIST;
    case TAPER_TYPE_DICT:
        return value.tag == TAPER_DICT;
    case TAPER_TYPE_TUPLE:
        return value.tag == TAPER_TUPLE && value.as.tuple->count == type->count;
    case TAPER_TYPE_CLASS: // the class may later turn out to be a named tuple
        return value.tag == TAPER_OBJECT || value.tag == TAPER_TUPLE;
    case TAPER_TYPE_UNION:
        return true;
    default:
        return taper_val_is_a(value, type);
    }
}

size_t taper_saved_list_type(taper_list *list, const taper_type *element)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!fits(list->items[i], element)) {
            return i;
        }
    }
    list->element = element;
    return list->count;
}

size_t taper_saved_dict_type(taper_dict *dict, const taper_type *type)
{
    for (size_t i = 0; i < dict->count; i++) {
        if (!fits(taper_dict_key(dict, i), type->items[0]) || !fits(taper_dict_value(dict, i), type->items[1])) {
            return i;
        }
    }
    dict->key = type->items[0];
    dict->value = type->items[1];
    return dict->count;
}

// Names of devices, in the order of PyTorch's numbers.
static const char *const device_names[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                           "fpga", "ort",  "xla",    "vulkan", "metal",  "xpu",   "mps",
                                           "meta", "hpu",  "ve",     "lazy",   "ipu"};

bool taper_saved_device(const char *text, size_t length, int index, taper_val *device)
{
    const char *colon = length != 0 ? memchr(text, ':', length) : NULL;
    const size_t name_length = colon != NULL ? (size_t)(colon - text) : length;
    if (colon != NULL) {
        if (length > name_length + 4) {
            return false;
        }
        index = 0;
        for (size_t i = name_length + 1; i < length; i++) {
            if (text[i] < '0' || text[i] > '9') {
                return false;
            }
            index = 10 * index + (text[i] - '0');
        }
    }
    for (size_t kind = 0; kind < sizeof device_names / sizeof device_names[0]; kind++) {
        if (strlen(device_names[kind]) == name_length && memcmp(device_names[kind], text, name_length) == 0 &&
            index < 255) {
            *device = taper_val_device((int)kind, index);
            return true;
        }
    }
    return false;
}

bool taper_saved_device_text(taper_val device, char text[TAPER_SAVED_DEVICE])
{
    const int64_t kind = device.as.i >> 8, index = (device.as.i & 0xff) - 1;
    if (kind < 0 || kind >= (int64_t)(sizeof device_names / sizeof device_names[0])) {
        return false;
    }
    if (index < 0) {
        (void)snprintf(text, TAPER_SAVED_DEVICE, "%s", device_names[kind]);
    } else {
        (void)snprintf(text, TAPER_SAVED_DEVICE, "%s:%d", device_names[kind], (int)index);
    }
    return true;
}

taper_status taper_saved_tensor_fits(const taper_tensor *tensor, const char *where, taper_error *error)
{
    if (tensor->hidden_nhwc) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "%s cannot be written: a tensor is hidden NHWC; reveal it (taper_tensor_settle) first", where);
    }
    if (taper_dtype_is_quantized((taper_dtype)tensor->dtype) != (tensor->quantizer != NULL)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s cannot be written: a tensor of dtype %s %s quantizer", where,
                   taper_dtype_name((taper_dtype)tensor->dtype), tensor->quantizer != NULL ? "with a" : "without");
    }
    return TAPER_OK;
}

bool taper_saved_channels_fit(const taper_tensor *tensor, int64_t channels)
{
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    return tensor->rank == 1 && tensor->sizes[0] == channels && taper_tensor_is_contiguous(tensor) &&
           !taper_dtype_is_complex(dtype) && !taper_dtype_is_quantized(dtype);
}

taper_status taper_saved_channels(taper_heap *heap, taper_tensor *tensor, taper_dtype dtype, taper_tensor **result,
                                  taper_error *error)
{
    if (tensor->dtype == dtype) {
        taper_obj_retain(&tensor->head);
        *result = tensor;
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_new(heap, dtype, 1, tensor->sizes, NULL, result, error));
    const taper_status status = taper_tensor_copy(*result, tensor, error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*result)->head);
        *result = NULL;
    }
    return status;
}
