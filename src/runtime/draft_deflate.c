// SPDX-License-Identifier: BSD-2-Clause
// Computes the form in which a bundled tensor is stored. If all elements are equal, the form is one element, which
// contiguous() expands. Otherwise the form is the tensor without the parts of its storage that the tensor does not use.
#include "ir/tensor.h"
#include "runtime/draft.h"

enum { SMALL_TENSOR = 16 }; // number of elements up to which PyTorch stores a tensor unchanged

static bool all_equal(const taper_tensor *tensor)
{
    const size_t item = taper_tensor_item(tensor);
    const char *data = taper_tensor_data(tensor);
    // The tensor is dense, so its elements can be read in the order of memory.
    const int64_t count = taper_tensor_numel(tensor);
    for (int64_t i = 1; i < count; i++) {
        if (memcmp(data, data + (size_t)i * item, item) != 0) {
            return false;
        }
    }
    return count > SMALL_TENSOR;
}

// Copies a tensor that is a view of a larger storage, so that the parts of the storage outside the view are not saved.
static taper_status store_alone(taper_heap *heap, taper_tensor *tensor, taper_val *value, taper_error *error)
{
    size_t bytes;
    taper_tensor *copy;
    if (tensor->quantizer != NULL || !taper_tensor_is_contiguous(tensor) ||
        !taper_mul_size((size_t)taper_tensor_numel(tensor), taper_tensor_item(tensor), &bytes) ||
        tensor->storage->bytes <= bytes) {
        *value = taper_val_retain(TAPER_VAL(tensor));
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_new(heap, (taper_dtype)tensor->dtype, tensor->rank, tensor->sizes, NULL, &copy, error));
    const taper_status status = taper_tensor_copy(copy, tensor, error);
    *value = TAPER_VAL(copy);
    if (status != TAPER_OK) {
        taper_val_release(*value);
        *value = taper_val_none();
    }
    return status;
}

taper_status taper_draft_deflate(taper_heap *heap, taper_tensor *tensor, taper_val *value, int64_t *format,
                                 taper_error *error)
{
    const bool contiguous = taper_tensor_is_contiguous(tensor);
    *format = -1;
    if (!(contiguous || taper_tensor_is_channels_last(tensor)) || tensor->quantizer != NULL || !all_equal(tensor)) {
        return store_alone(heap, tensor, value, error);
    }
    taper_tensor *one, *expanded;
    const int64_t size = 1, strides[TAPER_MAX_RANK] = {0};
    TAPER_TRY(taper_tensor_new(heap, (taper_dtype)tensor->dtype, 1, &size, NULL, &one, error));
    memcpy(taper_tensor_mutable(one), taper_tensor_data(tensor), taper_tensor_item(tensor));
    const taper_status status = taper_tensor_view(heap, one->storage, (taper_dtype)tensor->dtype, 0, tensor->rank,
                                                  tensor->sizes, strides, &expanded, error);
    taper_obj_release(&one->head);
    TAPER_TRY(status);
    *value = TAPER_VAL(expanded);
    *format = contiguous ? 0 : 2; // PyTorch's numbers of contiguous_format and channels_last
    return TAPER_OK;
}
