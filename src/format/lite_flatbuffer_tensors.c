// SPDX-License-Identifier: BSD-2-Clause
// Reads the tensors of a flatbuffer module and their storages.
#include "base/reader.h"
#include "format/lite_flatbuffer.h"
#include "format/saved_value.h"
#include "ir/storage.h"
#include "ir/tensor.h"

enum { // slots of the table TensorMetadata
    TENSOR_STORAGE,
    TENSOR_DTYPE,
    TENSOR_OFFSET,
    TENSOR_SIZES,
    TENSOR_STRIDES,
    TENSOR_REQUIRES_GRAD,
    TENSOR_QUANTIZED
};

enum { // slots of the table QuantizedSchema
    QUANTIZED_SCHEME,
    QUANTIZED_SCALE,
    QUANTIZED_ZERO_POINT,
    QUANTIZED_SCALES,
    QUANTIZED_ZERO_POINTS,
    QUANTIZED_AXIS
};

// Alignment of storages in bytes, which is sufficient for every dtype. A storage that is not aligned in memory is
// copied; this depends on the address of the file's bytes.
enum { STORAGE_ALIGNMENT = 8 };

static taper_status read_storage(taper_fb_reader *r, size_t number, taper_storage **storage)
{
    taper_fb_table table;
    taper_fb_vector data;
    taper_error *error = r->fb.error;
    TAPER_TRY(taper_fb_item_table(&r->fb, &r->storage_data, number, &table));
    TAPER_TRY(taper_fb_vector_in(&r->fb, &table, 0, 1, &data));
    if (data.count == 0) {
        return taper_storage_new(r->module->heap, 0, storage, error);
    }
    const uint8_t *bytes = r->fb.data + data.at;
    if ((uintptr_t)bytes % STORAGE_ALIGNMENT == 0) {
        return taper_storage_borrow(r->module->heap, taper_blob_kind(r->blob), bytes, data.count, &r->blob->head,
                                    storage, error);
    }
    TAPER_TRY(taper_storage_new(r->module->heap, data.count, storage, error));
    memcpy((*storage)->data, bytes, data.count);
    return TAPER_OK;
}

// Returns a storage, which the reader owns.
static taper_status storage_of(taper_fb_reader *r, const taper_fb_table *table, taper_storage **storage)
{
    uint64_t number = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, TENSOR_STORAGE, 4, &number));
    if (number >= r->storage_data.count) {
        return taper_fb_damaged(&r->fb, table->at, "a tensor in storage %llu, of %zu", (unsigned long long)number,
                                r->storage_data.count);
    }
    if (r->storages[number] == NULL) {
        TAPER_TRY(read_storage(r, (size_t)number, &r->storages[number]));
    }
    *storage = r->storages[number];
    return TAPER_OK;
}

static taper_status read_dims(taper_fb_reader *r, const taper_fb_table *table, unsigned slot, int64_t *dims,
                              size_t *rank)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, slot, 4, &items));
    if (items.count > TAPER_MAX_RANK) {
        return taper_fail(r->fb.error, TAPER_ERROR_UNSUPPORTED, "a tensor of %zu dimensions: at most %d are supported",
                          items.count, TAPER_MAX_RANK);
    }
    *rank = items.count;
    for (size_t i = 0; i < items.count; i++) {
        dims[i] = (int32_t)taper_load_u32(taper_fb_item(&r->fb, &items, i, 4));
        if (dims[i] < 0) {
            return taper_fb_damaged(&r->fb, table->at, "a tensor with the negative size or stride %lld",
                                    (long long)dims[i]);
        }
    }
    return TAPER_OK;
}

// Reads a tensor except its quantizer.
static taper_status read_view(taper_fb_reader *r, const taper_fb_table *table, taper_tensor **tensor)
{
    taper_storage *storage;
    int64_t sizes[TAPER_MAX_RANK] = {0}, strides[TAPER_MAX_RANK] = {0};
    size_t rank, stride_count;
    uint64_t dtype = 0, offset = 0, requires_grad = 0;
    *tensor = NULL;
    TAPER_TRY(storage_of(r, table, &storage));
    TAPER_TRY(read_dims(r, table, TENSOR_SIZES, sizes, &rank));
    TAPER_TRY(read_dims(r, table, TENSOR_STRIDES, strides, &stride_count));
    TAPER_TRY(taper_fb_number(&r->fb, table, TENSOR_DTYPE, 1, &dtype));
    TAPER_TRY(taper_fb_number(&r->fb, table, TENSOR_OFFSET, 4, &offset));
    TAPER_TRY(taper_fb_number(&r->fb, table, TENSOR_REQUIRES_GRAD, 1, &requires_grad));
    if (rank != stride_count || dtype >= TAPER_DTYPE_COUNT) {
        return taper_fb_damaged(&r->fb, table->at, "a tensor of dtype number %u with %zu sizes and %zu strides",
                                (unsigned)dtype, rank, stride_count);
    }
    const taper_status status = taper_tensor_view(r->module->heap, storage, (taper_dtype)dtype,
                                                  (int32_t)(uint32_t)offset, rank, sizes, strides, tensor, r->fb.error);
    if (status != TAPER_OK) {
        return status != TAPER_ERROR_ARGUMENT
                   ? status
                   : taper_fb_damaged(&r->fb, table->at, "%s", taper_error_message(r->fb.error));
    }
    (*tensor)->requires_grad = requires_grad != 0;
    return TAPER_OK;
}

// ---- quantized tensors

// Reads the scales or zero points of a tensor: a plain tensor with one number for each channel.
static taper_status read_channels(taper_fb_reader *r, const taper_fb_table *table, unsigned slot, int64_t channels,
                                  taper_dtype dtype, taper_tensor **result)
{
    taper_fb_table child;
    taper_tensor *tensor;
    TAPER_TRY(taper_fb_child(&r->fb, table, slot, &child, NULL));
    TAPER_TRY(read_view(r, &child, &tensor));
    const taper_status status =
        taper_saved_channels_fit(tensor, channels)
            ? taper_saved_channels(r->module->heap, tensor, dtype, result, r->fb.error)
            : taper_fb_damaged(&r->fb, child.at, "the scales or zero points of a tensor do not fit its %lld channels",
                               (long long)channels);
    taper_obj_release(&tensor->head);
    return status;
}

static taper_status read_per_channel(taper_fb_reader *r, const taper_fb_table *table, const taper_tensor *tensor,
                                     taper_quantizer *quantizer)
{
    uint64_t number = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, QUANTIZED_AXIS, 4, &number));
    const int32_t axis = (int32_t)(uint32_t)number;
    if (axis < 0 || axis >= tensor->rank) {
        return taper_fb_damaged(&r->fb, table->at, "a tensor of %d dimensions quantized along dimension %d",
                                tensor->rank, (int)axis);
    }
    const bool in_float = quantizer->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS;
    quantizer->axis = axis;
    TAPER_TRY(read_channels(r, table, QUANTIZED_SCALES, tensor->sizes[axis], TAPER_F64, &quantizer->scales));
    return read_channels(r, table, QUANTIZED_ZERO_POINTS, tensor->sizes[axis], in_float ? TAPER_F32 : TAPER_I64,
                         &quantizer->zero_points);
}

static taper_status read_quantizer(taper_fb_reader *r, const taper_fb_table *table, const taper_tensor *tensor,
                                   taper_quantizer *quantizer)
{
    uint64_t scheme = 0, scale = 0, zero_point = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, QUANTIZED_SCHEME, 1, &scheme));
    quantizer->scheme = (uint8_t)scheme;
    if (scheme == TAPER_PER_CHANNEL_AFFINE || scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS) {
        return read_per_channel(r, table, tensor, quantizer);
    }
    if (scheme != TAPER_PER_TENSOR_AFFINE) {
        return taper_fb_damaged(&r->fb, table->at, "a tensor quantized in the unknown way %u", (unsigned)scheme);
    }
    TAPER_TRY(taper_fb_number(&r->fb, table, QUANTIZED_SCALE, 8, &scale));
    TAPER_TRY(taper_fb_number(&r->fb, table, QUANTIZED_ZERO_POINT, 4, &zero_point));
    memcpy(&quantizer->scale, &scale, sizeof scale);
    quantizer->zero_point = (int32_t)(uint32_t)zero_point;
    return TAPER_OK;
}

static taper_status set_quantizer(taper_fb_reader *r, const taper_fb_table *table, taper_tensor *tensor)
{
    taper_fb_table schema;
    bool present;
    const bool quantized = taper_dtype_is_quantized((taper_dtype)tensor->dtype);
    TAPER_TRY(taper_fb_child(&r->fb, table, TENSOR_QUANTIZED, &schema, &present));
    if (present != quantized) {
        return taper_fb_damaged(&r->fb, table->at, "a tensor of dtype %s %s quantization parameters",
                                taper_dtype_name((taper_dtype)tensor->dtype), present ? "with" : "without");
    }
    if (!present) {
        return TAPER_OK;
    }
    taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE};
    taper_status status = read_quantizer(r, &schema, tensor, &quantizer);
    if (status == TAPER_OK) {
        status = taper_tensor_set_quantizer(tensor, &quantizer, r->fb.error);
    }
    if (quantizer.scales != NULL) {
        taper_obj_release(&quantizer.scales->head);
    }
    if (quantizer.zero_points != NULL) {
        taper_obj_release(&quantizer.zero_points->head);
    }
    return status;
}

taper_status taper_fb_read_tensor(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    taper_tensor *tensor;
    TAPER_TRY(read_view(r, table, &tensor));
    *value = TAPER_VAL(tensor);
    return set_quantizer(r, table, tensor);
}
