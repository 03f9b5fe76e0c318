// SPDX-License-Identifier: BSD-2-Clause
// Reads storages and tensors in a pickle.
#include "base/checked.h"
#include "format/pickle.h"
#include "format/pickle_machine.h"
#include "format/saved_value.h"
#include "ir/storage.h"
#include "ir/tensor.h"

#define REFUSE(p, ...) return taper_pickle_fail((p), TAPER_ERROR_FILE, __VA_ARGS__)

static taper_status empty_storage(taper_pickle *p, taper_storage **storage)
{
    if (p->empty == NULL) {
        TAPER_TRY(taper_storage_new(p->heap, 0, &p->empty, p->error));
    }
    taper_obj_retain(&p->empty->head);
    *storage = p->empty;
    return TAPER_OK;
}

// Makes a storage from the tuple ("storage", storage class, key, location, number of elements). Before PyTorch 1.3 the
// tuple has None as a sixth item. The location is the device of the saved tensor. The location is ignored, unless it is
// the device meta, whose tensors have no bytes.
taper_status taper_pickle_storage(taper_pickle *p, taper_val id)
{
    const size_t count = id.tag == TAPER_TUPLE ? id.as.tuple->count : 0;
    const taper_val *items =
        count == 5 || (count == 6 && id.as.tuple->items[5].tag == TAPER_NONE) ? id.as.tuple->items : NULL;
    const taper_pickle_global *class = items != NULL ? taper_pickle_global_of(p, items[1]) : NULL;
    if (class == NULL || class->kind != TAPER_GLOBAL_STORAGE || !taper_val_string_is(items[0], "storage") ||
        items[2].tag != TAPER_STRING || items[3].tag != TAPER_STRING || items[4].tag != TAPER_INT) {
        REFUSE(p, "a persistent id that is no storage");
    }
    const int64_t numel = items[4].as.i;
    if (numel < 0) {
        REFUSE(p, "a storage of %lld elements", (long long)numel);
    }
    if (taper_val_string_is(items[3], "meta") && numel != 0) {
        return taper_pickle_fail(p, TAPER_ERROR_UNSUPPORTED,
                                 "a tensor on the device \"meta\" has no data; save the model with its weights");
    }
    taper_storage *storage = NULL;
    if (numel == 0) {
        TAPER_TRY(empty_storage(p, &storage));
    } else if (p->host->storage == NULL) {
        REFUSE(p, "a tensor in a record that has no place for its data");
    } else {
        const taper_string *key = items[2].as.string;
        TAPER_TRY(p->host->storage(p->host->user, key->data, key->length, (taper_dtype) class->number, numel, &storage,
                                   p->error));
    }
    taper_tuple *tuple = taper_tuple_new(p->heap, NULL, 3);
    if (tuple == NULL) {
        taper_obj_release(&storage->head);
        return taper_fail_memory(p->error);
    }
    tuple->items[0] = TAPER_VAL(storage);
    tuple->items[1] = taper_val_int(class->number);
    tuple->items[2] = taper_val_int(numel);
    return taper_pickle_push(p, TAPER_VAL(tuple), 1, true);
}

// Reads sizes or strides, which are a tuple or list of integers.
static taper_status read_dims(taper_pickle *p, taper_val value, int64_t *dims, size_t *count)
{
    const taper_val *items;
    if (value.tag == TAPER_TUPLE) {
        items = value.as.tuple->items;
        *count = value.as.tuple->count;
    } else if (value.tag == TAPER_LIST) {
        items = value.as.list->items;
        *count = value.as.list->count;
    } else {
        REFUSE(p, "the sizes of a tensor are a %s", taper_val_kind_name(value));
    }
    if (*count > TAPER_MAX_RANK) {
        return taper_pickle_fail(p, TAPER_ERROR_UNSUPPORTED, "a tensor of %zu dimensions: at most %d are supported",
                                 *count, TAPER_MAX_RANK);
    }
    for (size_t i = 0; i < *count; i++) {
        if (items[i].tag != TAPER_INT || items[i].as.i < 0) {
            REFUSE(p, "size or stride %zu of a tensor is not a number from 0 up", i);
        }
        dims[i] = items[i].as.i;
    }
    return TAPER_OK;
}

// Makes a view from the arguments that plain and quantized tensors share: storage, offset, sizes, strides.
static taper_status view(taper_pickle *p, const taper_tuple *arguments, taper_tensor **tensor)
{
    const taper_val id = arguments->items[0];
    if (id.tag != TAPER_TUPLE || id.as.tuple->count != 3 || id.as.tuple->items[0].tag != TAPER_STORAGE) {
        REFUSE(p, "a tensor without a storage");
    }
    taper_storage *storage = (taper_storage *)id.as.tuple->items[0].as.obj;
    const taper_dtype saved = (taper_dtype)id.as.tuple->items[1].as.i;
    // QU4X2 becomes QU8, because the host has already widened the storage.
    const taper_dtype dtype = saved == TAPER_QU4X2 ? TAPER_QU8 : saved;
    int64_t sizes[TAPER_MAX_RANK] = {0}, strides[TAPER_MAX_RANK] = {0};
    size_t rank = 0, stride_count = 0;
    TAPER_TRY(read_dims(p, arguments->items[2], sizes, &rank));
    TAPER_TRY(read_dims(p, arguments->items[3], strides, &stride_count));
    if (rank != stride_count || arguments->items[1].tag != TAPER_INT) {
        REFUSE(p, "a tensor with %zu sizes and %zu strides", rank, stride_count);
    }
    const taper_status status =
        taper_tensor_view(p->heap, storage, dtype, arguments->items[1].as.i, rank, sizes, strides, tensor, p->error);
    return status == TAPER_OK ? TAPER_OK : taper_pickle_blame(p, status);
}

// Fails if the last argument says that the tensor has a pending negation or conjugation.
static taper_status check_bits(taper_pickle *p, const taper_tuple *arguments, size_t at)
{
    if (arguments->count > at && arguments->items[at].tag == TAPER_DICT) {
        const taper_dict *bits = arguments->items[at].as.dict;
        for (size_t i = 0; i < bits->count; i++) {
            if (taper_dict_value(bits, i).tag != TAPER_BOOLEAN || taper_dict_value(bits, i).as.i != 0) {
                return taper_pickle_fail(
                    p, TAPER_ERROR_UNSUPPORTED,
                    "a tensor saved with a pending conjugation or negation; resolve it (resolve_conj(), "
                    "resolve_neg()) before saving the model");
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_pickle_tensor(taper_pickle *p, const taper_tuple *arguments)
{
    if (arguments->count < 6 || arguments->count > 7 || arguments->items[4].tag != TAPER_BOOLEAN) {
        REFUSE(p, "a tensor with %zu arguments", arguments->count);
    }
    TAPER_TRY(check_bits(p, arguments, 6));
    taper_tensor *tensor;
    TAPER_TRY(view(p, arguments, &tensor));
    if (taper_dtype_is_quantized((taper_dtype)tensor->dtype)) {
        taper_obj_release(&tensor->head);
        REFUSE(p, "a tensor of a quantized dtype without quantization parameters");
    }
    tensor->requires_grad = arguments->items[4].as.i != 0;
    return taper_pickle_push_new(p, tensor);
}

// ---- quantized tensors

static taper_status read_channels(taper_pickle *p, taper_val value, int64_t channels, taper_dtype dtype,
                                  taper_tensor **result)
{
    taper_tensor *tensor = value.tag == TAPER_TENSOR ? value.as.tensor : NULL;
    if (tensor == NULL || !taper_saved_channels_fit(tensor, channels)) {
        REFUSE(p, "a tensor quantized per channel whose scales or zero points do not fit its %lld channels",
               (long long)channels);
    }
    return taper_saved_channels(p->heap, tensor, dtype, result, p->error);
}

static taper_status read_per_channel(taper_pickle *p, const taper_tensor *tensor, const taper_tuple *from,
                                     taper_quantizer *quantizer)
{
    const int64_t axis = from->count == 4 && from->items[3].tag == TAPER_INT ? from->items[3].as.i : -1;
    if (axis < 0 || axis >= tensor->rank) {
        REFUSE(p, "a tensor quantized per channel without a proper axis");
    }
    const bool in_float = quantizer->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS;
    quantizer->axis = axis;
    TAPER_TRY(read_channels(p, from->items[1], tensor->sizes[axis], TAPER_F64, &quantizer->scales));
    return read_channels(p, from->items[2], tensor->sizes[axis], in_float ? TAPER_F32 : TAPER_I64,
                         &quantizer->zero_points);
}

static taper_status read_per_tensor(taper_pickle *p, taper_val scale, taper_val zero_point, taper_quantizer *quantizer)
{
    if (scale.tag != TAPER_DOUBLE || zero_point.tag != TAPER_INT) {
        REFUSE(p, "a quantized tensor without scale and zero point");
    }
    quantizer->scale = scale.as.f;
    quantizer->zero_point = zero_point.as.i;
    if (quantizer->zero_point < INT32_MIN || quantizer->zero_point > INT32_MAX) {
        REFUSE(p, "a quantized tensor whose zero point does not fit 32 bits");
    }
    return TAPER_OK;
}

static taper_status read_quantizer(taper_pickle *p, const taper_tensor *tensor, taper_val value,
                                   taper_quantizer *quantizer)
{
    const taper_tuple *from = value.tag == TAPER_TUPLE && value.as.tuple->count >= 3 ? value.as.tuple : NULL;
    const taper_pickle_global *scheme = from != NULL ? taper_pickle_global_of(p, from->items[0]) : NULL;
    if (scheme == NULL || scheme->kind != TAPER_GLOBAL_QSCHEME) {
        REFUSE(p, "a quantized tensor without a quantization scheme");
    }
    quantizer->scheme = (uint8_t)scheme->number;
    return scheme->number == TAPER_PER_TENSOR_AFFINE ? read_per_tensor(p, from->items[1], from->items[2], quantizer)
                                                     : read_per_channel(p, tensor, from, quantizer);
}

taper_status taper_pickle_qtensor(taper_pickle *p, const taper_tuple *arguments)
{
    // The arguments are storage, offset, sizes, strides, (scheme, scale, zero point…), requires_grad, hooks, and
    // metadata since PyTorch 1.13. Before PyTorch 1.3 they were storage, offset, sizes, strides, scale, zero point,
    // requires_grad, hooks.
    const bool apart = arguments->count == 8 && arguments->items[4].tag == TAPER_DOUBLE;
    const size_t grad = apart ? 6 : 5;
    if (arguments->count < 7 || arguments->count > 8 || arguments->items[grad].tag != TAPER_BOOLEAN) {
        REFUSE(p, "a quantized tensor with %zu arguments", arguments->count);
    }
    taper_tensor *tensor;
    TAPER_TRY(view(p, arguments, &tensor));
    taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE};
    taper_status status;
    if (taper_dtype_is_quantized((taper_dtype)tensor->dtype)) {
        status = apart ? read_per_tensor(p, arguments->items[4], arguments->items[5], &quantizer)
                       : read_quantizer(p, tensor, arguments->items[4], &quantizer);
    } else {
        status = taper_pickle_fail(p, TAPER_ERROR_FILE, "a quantized tensor of dtype %s",
                                   taper_dtype_name((taper_dtype)tensor->dtype));
    }
    const taper_val id = arguments->items[0];
    if (status == TAPER_OK && id.as.tuple->items[1].as.i == TAPER_QU4X2) {
        if (quantizer.scheme != TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS) {
            status = taper_pickle_fail(p, TAPER_ERROR_UNSUPPORTED,
                                       "a quint4x2 tensor that is not quantized per channel with float parameters");
        }
        quantizer.scheme = TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT;
    }
    if (status == TAPER_OK) {
        status = taper_tensor_set_quantizer(tensor, &quantizer, p->error);
    }
    if (quantizer.scales != NULL) {
        taper_obj_release(&quantizer.scales->head);
    }
    if (quantizer.zero_points != NULL) {
        taper_obj_release(&quantizer.zero_points->head);
    }
    if (status != TAPER_OK) {
        taper_obj_release(&tensor->head);
        return status;
    }
    tensor->requires_grad = arguments->items[grad].as.i != 0;
    return taper_pickle_push_new(p, tensor);
}
