// SPDX-License-Identifier: BSD-2-Clause
// Creates tensors and reads their layout. tensor_copy.c copies elements.
#include "ir/tensor.h"
#include "ir/history.h"
#include "ir/storage.h"

#include "base/half.h"

// The external definitions of inline functions, for calls that a compiler does not inline.
extern bool taper_tensor_is_away(const taper_tensor *tensor);
extern taper_status taper_tensor_fetch(taper_tensor *tensor, taper_error *error);
extern size_t taper_tensor_item(const taper_tensor *tensor);
extern const void *taper_tensor_data(const taper_tensor *tensor);
extern void *taper_tensor_mutable(taper_tensor *tensor);
extern int64_t taper_tensor_numel(const taper_tensor *tensor);
extern bool taper_dtype_is_float(taper_dtype d);
extern bool taper_dtype_is_complex(taper_dtype d);
extern bool taper_dtype_is_quantized(taper_dtype d);

size_t taper_dtype_size(taper_dtype dtype)
{
    static const uint8_t sizes[TAPER_DTYPE_COUNT] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 0, 0};
    return (unsigned)dtype < TAPER_DTYPE_COUNT ? sizes[dtype] : 0;
}

const char *taper_dtype_name(taper_dtype dtype)
{
    static const char *const names[TAPER_DTYPE_COUNT] = {
        "uint8",     "int8",       "int16", "int32", "int64",  "float16", "float32",  "float64",  "complex32",
        "complex64", "complex128", "bool",  "qint8", "quint8", "qint32",  "bfloat16", "quint4x2", "quint2x4"};
    return (unsigned)dtype < TAPER_DTYPE_COUNT ? names[dtype] : "unknown dtype";
}

// ---- strides

void taper_strides_contiguous(size_t rank, const int64_t *sizes, int64_t *strides)
{
    uint64_t step = 1; // wraps if the sizes are too large; the caller detects this
    for (size_t i = rank; i-- > 0;) {
        strides[i] = (int64_t)step;
        step *= (uint64_t)taper_max_i64(sizes[i], 1);
    }
}

// Empty dimensions give strides of 0: as in PyTorch, strides are products of sizes, not of max(size, 1) as for
// contiguous strides. A product may wrap, because the sizes may not be checked yet.
void taper_strides_channels_last(size_t rank, const int64_t *sizes, int64_t *strides)
{
    uint64_t step = (uint64_t)sizes[1];
    strides[1] = 1;
    for (size_t i = rank; i-- > 2;) {
        strides[i] = (int64_t)step;
        step *= (uint64_t)sizes[i];
    }
    strides[0] = (int64_t)step;
}

bool taper_tensor_is_contiguous(const taper_tensor *tensor)
{
    if (taper_tensor_numel(tensor) == 0) {
        return true;
    }
    int64_t step = 1;
    for (size_t i = tensor->rank; i-- > 0;) {
        if (tensor->sizes[i] != 1) {
            if (tensor->strides[i] != step) {
                return false;
            }
            step *= tensor->sizes[i];
        }
    }
    return true;
}

static bool channels_last_contiguous(const taper_tensor *tensor)
{
    int64_t step = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        // The order of dimensions is C, then W, H, (D), N.
        const size_t d = i == 0 ? 1 : i == tensor->rank - 1u ? 0 : tensor->rank - i;
        if (tensor->sizes[d] != 1) {
            if (tensor->strides[d] != step) {
                return false;
            }
            step *= tensor->sizes[d];
        }
    }
    return true;
}

bool taper_tensor_is_channels_last(const taper_tensor *tensor)
{
    return (tensor->rank == 4 || tensor->rank == 5) && channels_last_contiguous(tensor);
}

void taper_tensor_logical_strides(const taper_tensor *tensor, int64_t *strides)
{
    if (tensor->hidden_nhwc) {
        taper_strides_contiguous(tensor->rank, tensor->sizes, strides);
    } else {
        memcpy(strides, tensor->strides, tensor->rank * sizeof *strides);
    }
}

bool taper_tensor_is_dense(const taper_tensor *tensor)
{
    if (taper_tensor_is_contiguous(tensor) || taper_tensor_is_channels_last(tensor)) {
        return true;
    }
    // Visits the dimensions from the smallest stride up. Each stride must equal the product of the sizes of the
    // dimensions visited before.
    int64_t want = 1;
    bool done[TAPER_MAX_RANK] = {false};
    for (unsigned step = 0; step < tensor->rank; step++) {
        int best = -1;
        for (unsigned d = 0; d < tensor->rank; d++) {
            if (!done[d] && tensor->sizes[d] > 1 && (best < 0 || tensor->strides[d] < tensor->strides[best])) {
                best = (int)d;
            }
        }
        if (best < 0) {
            return true;
        }
        if (tensor->strides[best] != want) {
            return false;
        }
        done[best] = true;
        want *= tensor->sizes[best];
    }
    return true;
}

// Implements PyTorch's is_channels_last_strides_2d and _3d: strides must rise in the order C, W, H, (D), N.
bool taper_tensor_suggests_channels_last(const taper_tensor *tensor)
{
    if (tensor->hidden_nhwc || (tensor->rank != 4 && tensor->rank != 5) || tensor->strides[1] == 0) {
        return false;
    }
    int64_t least = 0;
    for (size_t i = 0; i < tensor->rank; i++) {
        const size_t d = i == 0 ? 1 : i == tensor->rank - 1u ? 0 : tensor->rank - i;
        if (tensor->sizes[d] == 0 || tensor->strides[d] < least) {
            return false;
        }
        if (d == 0 && least == tensor->strides[1]) {
            return false; // sizes N, 1, 1, 1 count as contiguous
        }
        least = tensor->strides[d];
        if (tensor->sizes[d] > 1) {
            least = taper_wrap_mul(least, tensor->sizes[d]);
        }
    }
    return true;
}

void taper_tensor_steps(const taper_tensor *tensor, size_t unit, int64_t *steps)
{
    const bool none = taper_tensor_numel(tensor) == 0;
    for (size_t d = 0; d < tensor->rank; d++) {
        steps[d] = none || tensor->sizes[d] == 1 ? 0 : tensor->strides[d] * (int64_t)unit;
    }
}

int64_t taper_tensor_step(const taper_tensor *tensor, size_t d)
{
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(tensor, 1, steps);
    return steps[d];
}

// ---- creating tensors

// Checks sizes and strides. *extent receives the number of elements from the first one to the last one that the strides
// reach.
static taper_status check_geometry(taper_dtype dtype, size_t rank, const int64_t *sizes, const int64_t *strides,
                                   int64_t *extent, taper_error *error)
{
    if (rank > TAPER_MAX_RANK) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "a tensor of %zu dimensions: at most %d are supported", rank,
                   TAPER_MAX_RANK);
    }
    const size_t item = taper_dtype_size(dtype);
    if (item == 0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "tensors of dtype %s are not supported", taper_dtype_name(dtype));
    }
    const int64_t limit = TAPER_LIMIT_TENSOR_BYTES / (int64_t)taper_max_size(item, TAPER_LEAST_ITEM);
    int64_t numel = 1, product = 1;
    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] < 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "a tensor cannot have the negative size %lld in dimension %zu",
                       (long long)sizes[i], i);
        }
        // A size of 0 counts as 1 here, because strides are products of the other sizes, and these products must not
        // overflow either.
        if (!taper_mul_i64(product, taper_max_i64(sizes[i], 1), &product) || product > limit) {
            TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "a tensor of more than %lld elements is too large",
                       (long long)limit);
        }
        numel *= sizes[i];
    }
    if (strides == NULL || numel == 0) {
        *extent = numel;
        return TAPER_OK;
    }
    int64_t last = 0;
    for (size_t i = 0; i < rank; i++) {
        int64_t reach;
        if (strides[i] < 0 || !taper_mul_i64(sizes[i] - 1, strides[i], &reach) || !taper_add_i64(last, reach, &last) ||
            last >= limit) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "stride %lld of dimension %zu is out of range",
                       (long long)strides[i], i);
        }
    }
    *extent = last + 1;
    return TAPER_OK;
}

taper_status taper_tensor_check_sizes(taper_dtype dtype, size_t rank, const int64_t *sizes, taper_error *error)
{
    int64_t extent;
    return check_geometry(dtype, rank, sizes, NULL, &extent, error);
}

static taper_tensor *new_tensor(taper_heap *heap, taper_storage *storage, taper_dtype dtype, int64_t offset,
                                size_t rank, const int64_t *sizes, const int64_t *strides)
{
    taper_tensor *tensor = taper_heap_alloc(heap, sizeof *tensor);
    if (tensor == NULL) {
        return NULL;
    }
    memset(tensor, 0, sizeof *tensor);
    tensor->storage = storage;
    tensor->offset = offset;
    tensor->dtype = (uint8_t)dtype;
    tensor->rank = (uint8_t)rank;
    if (rank != 0) {
        memcpy(tensor->sizes, sizes, rank * sizeof *sizes);
        if (strides != NULL) {
            memcpy(tensor->strides, strides, rank * sizeof *strides);
        } else {
            taper_strides_contiguous(rank, sizes, tensor->strides);
        }
    }
    taper_heap_adopt(heap, &tensor->head, TAPER_TENSOR);
    return tensor;
}

taper_status taper_tensor_new(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                              const int64_t *strides, taper_tensor **tensor, taper_error *error)
{
    *tensor = NULL;
    int64_t extent;
    TAPER_TRY(check_geometry(dtype, rank, sizes, strides, &extent, error));
    taper_storage *storage;
    TAPER_TRY(taper_storage_new(heap, (size_t)extent * taper_dtype_size(dtype), &storage, error));
    *tensor = new_tensor(heap, storage, dtype, 0, rank, sizes, strides);
    if (*tensor == NULL) {
        taper_obj_release(&storage->head);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

taper_status taper_tensor_zeros(taper_heap *heap, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                taper_tensor **tensor, taper_error *error)
{
    TAPER_TRY(taper_tensor_new(heap, dtype, rank, sizes, NULL, tensor, error));
    memset((*tensor)->storage->data, 0, (*tensor)->storage->bytes);
    return TAPER_OK;
}

taper_status taper_tensor_view(taper_heap *heap, taper_storage *storage, taper_dtype dtype, int64_t offset, size_t rank,
                               const int64_t *sizes, const int64_t *strides, taper_tensor **tensor, taper_error *error)
{
    *tensor = NULL;
    int64_t extent, end, bytes;
    TAPER_TRY(check_geometry(dtype, rank, sizes, strides, &extent, error));
    if (offset < 0 || !taper_add_i64(offset, extent, &end) ||
        !taper_mul_i64(end, (int64_t)taper_dtype_size(dtype), &bytes) ||
        (extent != 0 && (uint64_t)bytes > storage->bytes)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "a view of %lld elements at offset %lld does not fit its storage of %zu bytes", (long long)extent,
                   (long long)offset, storage->bytes);
    }
    *tensor = new_tensor(heap, storage, dtype, offset, rank, sizes, strides);
    if (*tensor == NULL) {
        return taper_fail_memory(error);
    }
    taper_obj_retain(&storage->head);
    return TAPER_OK;
}

taper_tensor taper_tensor_local(const taper_tensor *tensor)
{
    taper_tensor local;
    memcpy((char *)&local + offsetof(taper_tensor, storage), (const char *)tensor + offsetof(taper_tensor, storage),
           sizeof local - offsetof(taper_tensor, storage));
    taper_refs_init(&local.head.refs);
    local.head.tag = TAPER_TENSOR;
    local.head.heap = tensor->head.heap;
    return local;
}

void taper_tensor_was_reshaped(taper_tensor *tensor)
{
    tensor->reshaped = true;
    taper_heap_copied(tensor->head.heap);
}

static void drop_quantizer(taper_tensor *tensor, taper_quantizer *quantizer)
{
    if (quantizer == NULL) {
        return;
    }
    if (quantizer->scales != NULL) {
        taper_obj_release(&quantizer->scales->head);
    }
    if (quantizer->zero_points != NULL) {
        taper_obj_release(&quantizer->zero_points->head);
    }
    taper_heap_free(tensor->head.heap, quantizer, sizeof *quantizer);
}

taper_status taper_tensor_set_quantizer(taper_tensor *tensor, const taper_quantizer *quantizer, taper_error *error)
{
    taper_quantizer *copy = NULL;
    if (quantizer != NULL) {
        copy = taper_heap_alloc(tensor->head.heap, sizeof *copy);
        if (copy == NULL) {
            return taper_fail_memory(error);
        }
        *copy = *quantizer;
        if (copy->scales != NULL) {
            taper_obj_retain(&copy->scales->head);
        }
        if (copy->zero_points != NULL) {
            taper_obj_retain(&copy->zero_points->head);
        }
    }
    drop_quantizer(tensor, tensor->quantizer);
    tensor->quantizer = copy;
    return TAPER_OK;
}

taper_status taper_tensor_alias(taper_heap *heap, const taper_tensor *like, int64_t offset, size_t rank,
                                const int64_t *sizes, const int64_t *strides, taper_tensor **tensor, taper_error *error)
{
    TAPER_TRY(
        taper_tensor_view(heap, like->storage, (taper_dtype)like->dtype, offset, rank, sizes, strides, tensor, error));
    if (like->quantizer != NULL && taper_tensor_set_quantizer(*tensor, like->quantizer, error) != TAPER_OK) {
        taper_obj_release(&(*tensor)->head);
        *tensor = NULL;
        return TAPER_ERROR_RESOURCE;
    }
    return TAPER_OK;
}

void taper_tensor_free(taper_tensor *tensor)
{
#ifdef TAPER_WITH_GRADIENTS
    if (tensor->history != NULL) {
        taper_history_drop(tensor);
    }
#endif
    drop_quantizer(tensor, tensor->quantizer);
    taper_heap *heap = tensor->head.heap;
    taper_obj_release(&tensor->storage->head);
    taper_heap_free(heap, tensor, sizeof *tensor);
    taper_heap_forget(heap);
}

// ---- layout changes

taper_status taper_tensor_of_memory(taper_heap *heap, taper_memory *memory, taper_dtype dtype, size_t rank,
                                    const int64_t *sizes, const int64_t *strides, taper_tensor **tensor,
                                    taper_error *error)
{
    *tensor = NULL;
    int64_t extent;
    taper_status status = check_geometry(dtype, rank, sizes, strides, &extent, error);
    if (status != TAPER_OK) {
        memory->drop(memory);
        return status;
    }
    taper_storage *storage;
    TAPER_TRY(taper_storage_of_memory(heap, memory, (size_t)extent * taper_dtype_size(dtype), &storage, error));
    *tensor = new_tensor(heap, storage, dtype, 0, rank, sizes, strides);
    if (*tensor == NULL) {
        taper_obj_release(&storage->head);
        return taper_fail_memory(error);
    }
    return TAPER_OK;
}

taper_status taper_tensor_like_of_memory(taper_heap *heap, taper_memory *memory, const taper_tensor *like,
                                         taper_tensor **tensor, taper_error *error)
{
    TAPER_TRY(taper_tensor_of_memory(heap, memory, (taper_dtype)like->dtype, like->rank, like->sizes, like->strides,
                                     tensor, error));
    (*tensor)->hidden_nhwc = like->hidden_nhwc;
    (*tensor)->requires_grad = like->requires_grad;
    (*tensor)->wrapped_number = like->wrapped_number;
    if (like->quantizer != NULL && taper_tensor_set_quantizer(*tensor, like->quantizer, error) != TAPER_OK) {
        taper_obj_release(&(*tensor)->head);
        *tensor = NULL;
        return TAPER_ERROR_RESOURCE;
    }
    return TAPER_OK;
}

void taper_tensor_trade_storages(taper_tensor *tensor, taper_tensor *other)
{
    taper_storage *old = tensor->storage;
    tensor->storage = other->storage;
    other->storage = old;
    memcpy(tensor->strides, other->strides, sizeof tensor->strides);
    tensor->offset = 0;
}

static TAPER_COLD taper_status tell_lost(const taper_memory *memory, taper_status status, taper_error *error)
{
    if (status == TAPER_DEVICE_LOST) {
        atomic_store_explicit(&memory->owner->lost, 1u, memory_order_relaxed);
        return taper_fail(error, TAPER_ERROR_DEVICE,
                          "a tensor went with the device that held it, which does not work any more; run once more, "
                          "and the CPU does it all");
    }
    return status;
}

// Copies the elements to a new storage on the host with these strides. NULL means contiguous.
static taper_status arrange(taper_tensor *tensor, const int64_t *strides, taper_error *error)
{
    taper_memory *const memory = taper_tensor_is_away(tensor) ? tensor->storage->memory : NULL;
    taper_tensor *home;
    TAPER_TRY(taper_tensor_new(tensor->head.heap, (taper_dtype)tensor->dtype, tensor->rank, tensor->sizes, strides,
                               &home, error));
    const taper_status status =
        memory != NULL ? memory->fetch(memory, home, error) : taper_tensor_copy(home, tensor, error);
    if (status == TAPER_OK) {
        taper_tensor_trade_storages(tensor, home);
    }
    const taper_status told = TAPER_DEVICES && memory != NULL ? tell_lost(memory, status, error) : status;
    taper_obj_release(&home->head);
    return told;
}

taper_status taper_tensor_come_home(taper_tensor *tensor, taper_error *error)
{
    return arrange(tensor, tensor->strides, error);
}

taper_status taper_tensor_settle(taper_tensor *tensor, taper_error *error)
{
    if (!tensor->hidden_nhwc) {
        return taper_tensor_fetch(tensor, error);
    }
    TAPER_TRY(arrange(tensor, NULL, error));
    tensor->hidden_nhwc = false;
    return TAPER_OK;
}

taper_status taper_tensor_contiguous(taper_heap *heap, taper_tensor *tensor, taper_tensor **result, taper_error *error)
{
    *result = NULL;
    TAPER_TRY(taper_tensor_settle(tensor, error));
    if (taper_tensor_is_contiguous(tensor)) {
        taper_obj_retain(&tensor->head);
        *result = tensor;
        return TAPER_OK;
    }
    taper_tensor *plain;
    TAPER_TRY(taper_tensor_new(heap, (taper_dtype)tensor->dtype, tensor->rank, tensor->sizes, NULL, &plain, error));
    taper_status status = taper_tensor_copy(plain, tensor, error);
    if (status == TAPER_OK && tensor->quantizer != NULL) {
        status = taper_tensor_set_quantizer(plain, tensor->quantizer, error);
    }
    if (status != TAPER_OK) {
        taper_obj_release(&plain->head);
        return status;
    }
    *result = plain;
    return TAPER_OK;
}

// ---- reading and writing single elements

double taper_load_double(taper_dtype dtype, const void *data, int64_t index)
{
    const size_t i = (size_t)index;
    switch (dtype) {
    case TAPER_F32:
        return (double)((const float *)data)[i];
    case TAPER_F64:
    case TAPER_C128:
        return ((const double *)data)[dtype == TAPER_C128 ? 2 * i : i];
    case TAPER_C64:
        return (double)((const float *)data)[2 * i];
    case TAPER_F16:
        return (double)taper_f16_to_float(((const uint16_t *)data)[i]);
    case TAPER_C32:
        return (double)taper_f16_to_float(((const uint16_t *)data)[2 * i]);
    case TAPER_BF16:
        return (double)taper_bf16_to_float(((const uint16_t *)data)[i]);
    default:
        return (double)taper_load_int(dtype, data, index);
    }
}

int64_t taper_load_int(taper_dtype dtype, const void *data, int64_t index)
{
    const size_t i = (size_t)index;
    switch (dtype) {
    case TAPER_U8:
    case TAPER_QU8:
    case TAPER_BOOL:
        return ((const uint8_t *)data)[i];
    case TAPER_I8:
    case TAPER_QI8:
        return ((const int8_t *)data)[i];
    case TAPER_I16:
        return ((const int16_t *)data)[i];
    case TAPER_I32:
    case TAPER_QI32:
        return ((const int32_t *)data)[i];
    case TAPER_I64:
        return ((const int64_t *)data)[i];
    default: {
        const double f = taper_load_double(dtype, data, index);
        // For numbers out of range, the result is the one that x86's conversion gives.
        return f >= -9.2e18 && f <= 9.2e18 ? (int64_t)f : INT64_MIN;
    }
    }
}
