// SPDX-License-Identifier: BSD-2-Clause
// Defines tensors and storages, and functions that read them. A tensor is a strided view of a storage; several tensors
// may share one. ir/tensor.h creates and changes tensors, ir/storage.h storages.
//
// Layout. Sizes and strides are those of PyTorch, with one exception. A dense 4-D or 5-D tensor may be *hidden NHWC*
// (`hidden_nhwc`): its bytes and its `strides` are channels-last although PyTorch would have produced a contiguous
// tensor. Such a tensor does not share its storage. Operators with TAPER_OP_NHWC in their row take it without change.
// Before any other operator, and before a result leaves the run, the executor settles the tensor (taper_tensor_settle):
// it reorders the bytes in place, so no code outside can observe the difference. taper_tensor_settle also fetches a
// tensor whose bytes are on a device.
#ifndef TAPER_IR_TENSOR_DEF_H
#define TAPER_IR_TENSOR_DEF_H

#include "ir/heap.h"

#define TAPER_DTYPE_COUNT 18 // upper bound of the numbers of taper_dtype

typedef enum taper_storage_kind {
    TAPER_STORAGE_OWNED, // a block of the heap
    // Pages of our own mapping of a file, which owner holds. They are never written. They return from the file after
    // they were given back to the system.
    TAPER_STORAGE_FILE,
    TAPER_STORAGE_BORROWED, // memory that owner holds (the host's copy of a file, a block), never written
    TAPER_STORAGE_SHARED,   // memory of origin, copied on the first write
    TAPER_STORAGE_HOST,     // the host's memory; release(user) frees it. If read_only, sessions use shared twins
    TAPER_STORAGE_PLANNED,  // a place in a session's arena, which owner keeps alive
    TAPER_STORAGE_SCALED,   // no memory until it is computed: ir/scaled_storage.h
    TAPER_STORAGE_DEVICE    // a device's memory: data is NULL, and memory has the elements of the only tensor over it
} taper_storage_kind;       // the owner of data

typedef struct taper_storage {
    taper_obj head;
    uint8_t kind;
    bool read_only;   // true if a write must copy first
    uint32_t version; // number of writes; code that keeps a result computed from the bytes compares it
    void *data;
    size_t bytes;
    struct taper_storage *origin; // SHARED: the model's storage
    taper_obj *owner; // FILE, BORROWED, PLANNED: holder of the memory, or NULL; OWNED: holder of the previous bytes
    void (*release)(void *user);
    void *user;
    struct taper_memory *memory;  // DEVICE: the memory, owned
    uint32_t plan_run, plan_slot; // set by the planner: number of the run that created it, and of the slot in it
} taper_storage;

#ifdef TAPER_WITHOUT_DEVICES // builds without devices other than the CPU
enum { TAPER_DEVICES = 0 };
#else
enum { TAPER_DEVICES = 1 };
#endif

// The status of a function that found that the device does not work (any more). The function has changed nothing and
// set no error.
#define TAPER_DEVICE_LOST ((taper_status)-2)

// An opened device, as its memory refers to it. It is closed when neither a user nor memory of it is left.
typedef struct taper_memory_owner {
    taper_refs refs;
    atomic_bool lost; // true if the device does not work any more; it is then not used
    void (*close)(struct taper_memory_owner *owner);
} taper_memory_owner;

// A device's memory of one tensor, in a layout and precision of the device. The struct of a backend begins with it.
typedef struct taper_memory {
    taper_memory_owner *owner;
    // Writes the elements to a tensor of the host with the same dtype and sizes, and any strides. May return
    // TAPER_DEVICE_LOST.
    taper_status (*fetch)(struct taper_memory *memory, struct taper_tensor *to, taper_error *error);
    void (*drop)(struct taper_memory *memory); // frees the memory; called in any thread
} taper_memory;

typedef enum taper_qscheme {
    TAPER_PER_TENSOR_AFFINE = 0,
    TAPER_PER_CHANNEL_AFFINE = 1,
    TAPER_PER_TENSOR_SYMMETRIC = 2,
    TAPER_PER_CHANNEL_SYMMETRIC = 3,
    TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4,
    // The scheme of a saved quint4x2 tensor with float parameters. Reading makes it a quint8 tensor, one element from 0
    // to 15 in each byte.
    TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT = 5
} taper_qscheme;

typedef struct taper_tensor taper_tensor;

typedef struct taper_quantizer {
    uint8_t scheme; // taper_qscheme
    double scale;
    int64_t zero_point;
    int64_t axis;              // dimension, if per channel
    taper_tensor *scales;      // float64, owned reference; NULL unless per channel
    taper_tensor *zero_points; // int64 (or float), owned reference; NULL unless per channel
} taper_quantizer;

struct taper_tensor {
    taper_obj head;
    taper_storage *storage;
    int64_t offset; // in elements
    uint8_t dtype;  // taper_dtype
    uint8_t rank;
    bool hidden_nhwc;
    bool requires_grad;         // copied from the file; only prim::requires_grad reads it
    bool wrapped_number;        // true if made from a Python number, which is weak in type promotion
    bool reshaped;              // true if shape or storage was changed in place, so data prepared for it is stale
    taper_quantizer *quantizer; // set for quantized dtypes; a block of the heap
    // Entries from rank on are 0 in a new tensor.
    int64_t sizes[TAPER_MAX_RANK];
    int64_t strides[TAPER_MAX_RANK];
};

inline bool taper_tensor_is_away(const taper_tensor *tensor) // true if the elements are on a device
{
    return TAPER_DEVICES && tensor->storage->kind == TAPER_STORAGE_DEVICE;
}
inline size_t taper_tensor_item(const taper_tensor *tensor) // bytes per element
{
    static const uint8_t sizes[TAPER_DTYPE_COUNT] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 0, 0};
    return sizes[tensor->dtype];
}
inline const void *taper_tensor_data(const taper_tensor *tensor)
{
    return (const char *)tensor->storage->data + (size_t)tensor->offset * taper_tensor_item(tensor);
}
// Returns the elements for writing. It is not NULL if the storage is new or was prepared with taper_storage_write.
inline void *taper_tensor_mutable(taper_tensor *tensor)
{
    return (char *)tensor->storage->data + (size_t)tensor->offset * taper_tensor_item(tensor);
}
inline int64_t taper_tensor_numel(const taper_tensor *tensor)
{
    int64_t n = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        n *= tensor->sizes[i]; // checked when the tensor was made
    }
    return n;
}
// Returns the strides that loops should use. steps[d] leads from one index of dimension d to the next, in units of
// `unit` (1: elements; the item's size: bytes). It is 0 if there is no next index, or no element. All elements are
// within the storage, so the sum of all steps times their sizes does not overflow. The strides themselves may overflow:
// for a dimension without steps PyTorch allows any stride up to INT64_MAX. The strides are used only to compute the
// strides of views.
void taper_tensor_steps(const taper_tensor *tensor, size_t unit, int64_t *steps);
// Returns one step, in elements.
int64_t taper_tensor_step(const taper_tensor *tensor, size_t d);
// Arithmetic for strides and offsets of views, which wraps as in PyTorch.
static inline int64_t taper_mul_stride(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline int64_t taper_add_stride(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
void taper_strides_contiguous(size_t rank, const int64_t *sizes, int64_t *strides);
// Returns the strides of channels_last for rank 4, of channels_last_3d for rank 5.
void taper_strides_channels_last(size_t rank, const int64_t *sizes, int64_t *strides);
// Return PyTorch's is_contiguous() and is_contiguous(memory_format=channels_last) for the physical strides.
bool taper_tensor_is_contiguous(const taper_tensor *tensor);
bool taper_tensor_is_channels_last(const taper_tensor *tensor);
// Returns PyTorch's is_non_overlapping_and_dense for the physical strides.
bool taper_tensor_is_dense(const taper_tensor *tensor);
// Returns the strides that PyTorch would show: contiguous ones for a hidden tensor, otherwise the tensor's own.
void taper_tensor_logical_strides(const taper_tensor *tensor, int64_t *strides);
// Returns PyTorch's suggest_memory_format: true for channels last, false for a hidden tensor.
bool taper_tensor_suggests_channels_last(const taper_tensor *tensor);

inline bool taper_dtype_is_float(taper_dtype d)
{
    return d == TAPER_F32 || d == TAPER_F64 || d == TAPER_F16 || d == TAPER_BF16;
}
inline bool taper_dtype_is_complex(taper_dtype d)
{
    return d == TAPER_C32 || d == TAPER_C64 || d == TAPER_C128;
}
static inline bool taper_dtype_is_integral(taper_dtype d) // false for bool
{
    return d <= TAPER_I64;
}
inline bool taper_dtype_is_quantized(taper_dtype d)
{
    return d == TAPER_QI8 || d == TAPER_QU8 || d == TAPER_QI32 || d == TAPER_QU4X2 || d == TAPER_QU2X4;
}

// Read an element and convert it. index: in elements from the tensor's data. For setup code, because loops over these
// are slow.
double taper_load_double(taper_dtype dtype, const void *data, int64_t index);
int64_t taper_load_int(taper_dtype dtype, const void *data, int64_t index);

#endif
