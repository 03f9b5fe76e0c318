// SPDX-License-Identifier: BSD-2-Clause
// Writes the tensors of a flatbuffer module and their storages.
#include "format/lite_flatbuffer_write.h"
#include "format/saved_value.h"

static taper_status add_storage(taper_fb_writer *w, taper_storage *storage, size_t *number)
{
    const size_t *known = taper_pointer_find(&w->storages, storage);
    if (known != NULL) {
        *number = *known;
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(w->allocator, w->storage_items, w->storage_capacity, w->storage_count + 1, w->error));
    TAPER_TRY(taper_pointer_add(w->allocator, &w->storages, storage, w->storage_count, w->error));
    w->storage_items[w->storage_count] = storage;
    *number = w->storage_count++;
    return TAPER_OK;
}

// Writes sizes or strides, which have 32 bits in this format. Fails if one of them does not fit in 32 bits.
static taper_status put_dims(taper_fb_writer *w, const int64_t *dims, size_t count, taper_fbb_ref *ref)
{
    uint32_t small[TAPER_MAX_RANK];
    for (size_t i = 0; i < count; i++) {
        if (dims[i] < 0 || dims[i] > INT32_MAX) {
            TAPER_FAIL(w->error, TAPER_ERROR_UNSUPPORTED,
                       "the module cannot be written: a tensor with a size or stride of %lld is too large for a "
                       "flatbuffer: write a zip archive",
                       (long long)dims[i]);
        }
        small[i] = (uint32_t)dims[i];
    }
    *ref = taper_fbb_u32s(&w->b, small, count);
    return TAPER_OK;
}

static taper_status put_quantizer(taper_fb_writer *w, const taper_quantizer *quantizer, taper_fbb_ref *ref)
{
    const uint8_t scheme = quantizer->scheme;
    const bool channels = scheme == TAPER_PER_CHANNEL_AFFINE || scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS;
    taper_fbb_ref scales = 0, zero_points = 0;
    if ((!channels && scheme != TAPER_PER_TENSOR_AFFINE) ||
        (channels && (quantizer->scales == NULL || quantizer->zero_points == NULL))) {
        TAPER_FAIL(w->error, TAPER_ERROR_UNSUPPORTED,
                   "the module cannot be written: a tensor quantized in the way number %u", scheme);
    }
    if (!channels && (quantizer->zero_point < INT32_MIN || quantizer->zero_point > INT32_MAX)) {
        TAPER_FAIL(w->error, TAPER_ERROR_UNSUPPORTED,
                   "the module cannot be written: a zero point of %lld does not fit 32 bits",
                   (long long)quantizer->zero_point);
    }
    if (channels) {
        TAPER_TRY(taper_fb_write_tensor(w, quantizer->scales, &scales));
        TAPER_TRY(taper_fb_write_tensor(w, quantizer->zero_points, &zero_points));
    }
    uint64_t scale = 0;
    memcpy(&scale, &quantizer->scale, sizeof scale);
    taper_fbb_table(&w->b);
    taper_fbb_number(&w->b, 1, 8, channels ? 0 : scale, 0);
    taper_fbb_number(&w->b, 2, 4, channels ? 0 : (uint32_t)(int32_t)quantizer->zero_point, 0);
    taper_fbb_refer(&w->b, 3, scales);
    taper_fbb_refer(&w->b, 4, zero_points);
    taper_fbb_number(&w->b, 5, 4, channels ? (uint32_t)quantizer->axis : 0, 0);
    taper_fbb_number(&w->b, 0, 1, scheme, 0);
    *ref = taper_fbb_table_end(&w->b);
    return TAPER_OK;
}

taper_status taper_fb_write_tensor(taper_fb_writer *w, const taper_tensor *tensor, taper_fbb_ref *ref)
{
    size_t storage;
    taper_fbb_ref sizes, strides, quantizer = 0;
    TAPER_TRY(taper_saved_tensor_fits(tensor, "the module", w->error));
    TAPER_TRY(add_storage(w, tensor->storage, &storage));
    TAPER_TRY(put_dims(w, tensor->sizes, tensor->rank, &sizes));
    TAPER_TRY(put_dims(w, tensor->strides, tensor->rank, &strides));
    if (tensor->offset > INT32_MAX) {
        TAPER_FAIL(w->error, TAPER_ERROR_UNSUPPORTED,
                   "the module cannot be written: a tensor that begins at element %lld of its storage is too far for "
                   "a flatbuffer: write a zip archive",
                   (long long)tensor->offset);
    }
    if (tensor->quantizer != NULL) {
        TAPER_TRY(put_quantizer(w, tensor->quantizer, &quantizer));
    }
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 6, quantizer);
    taper_fbb_refer(&w->b, 4, strides);
    taper_fbb_refer(&w->b, 3, sizes);
    taper_fbb_number(&w->b, 2, 4, (uint64_t)tensor->offset, 0);
    taper_fbb_number(&w->b, 0, 4, storage, 0);
    taper_fbb_number(&w->b, 5, 1, tensor->requires_grad ? 1 : 0, 0);
    taper_fbb_number(&w->b, 1, 1, tensor->dtype, 0);
    *ref = taper_fbb_table_end(&w->b);
    return TAPER_OK;
}
