// SPDX-License-Identifier: BSD-2-Clause
// Defines tensors and storages, and reads them. A tensor is a strided view of a storage; several tensors
// may share one. ir/tensor.h makes and changes tensors, ir/storage.h storages.
//
// Layout. Sizes and strides are PyTorch's. One liberty is taken: a dense 4-D or 5-D tensor may be *hidden NHWC*
// (`hidden_nhwc`): its bytes and its `strides` are channels-last although PyTorch would have produced a contiguous
// tensor. Such a tensor owns its whole storage alone. Operators whose row says TAPER_OP_NHWC take it as it is; before
// any other operator, and before a result leaves the run, the executor settles it (taper_tensor_settle), which reorders
// the bytes in place, so nobody can observe the difference. The same settles a tensor whose bytes are with a device.
#ifndef TAPER_IR_TENSOR_DEF_H
#define TAPER_IR_TENSOR_DEF_H

#include "ir/heap.h"

#define TAPER_DTYPE_COUNT 18 // numbers of taper_dtype are below it

typedef enum taper_storage_kind {
    TAPER_STORAGE_OWNED,    // a block of the heap
    TAPER_STORAGE_FILE,     // pages of our own mapping of a file, which owner holds: never written, and they come back
                            // from the file when they were given to the system
    TAPER_STORAGE_BORROWED, // memory that owner holds (the host's copy of a file, a block): never written
    TAPER_STORAGE_SHARED,   // origin's, copied on the first write
    TAPER_STORAGE_HOST,     // the host's; release(user) when done. read_only: sessions take shared twins of it
    TAPER_STORAGE_PLANNED,  // a place in a session's arena, which owner keeps alive
    TAPER_STORAGE_SCALED,   // none until it is worked out: ir/scaled_storage.h
    TAPER_STORAGE_DEVICE    // a device's: data is NULL, memory has the elements of the one tensor over it
} taper_storage_kind;       // whose memory data is

typedef struct taper_storage {
    taper_obj head;
    uint8_t kind;
    bool read_only;   // writes go to a copy
    uint32_t version; // counts the writes, so that what was derived from the bytes can tell
    void *data;
    size_t bytes;
    struct taper_storage *origin; // of SHARED: the model's storage
    taper_obj *owner;             // of FILE, BORROWED and PLANNED, may be NULL; of OWNED: of what was there before
    void (*release)(void *user);
    void *user;
    struct taper_memory *memory;  // of DEVICE: owned
    uint32_t plan_run, plan_slot; // the planner's: which run bore it, as which one
} taper_storage;

#ifdef TAPER_WITHOUT_DEVICES // of this build: there are none but the CPU
enum { TAPER_DEVICES = 0 };
#else
enum { TAPER_DEVICES = 1 };
#endif

// Returned, with nothing changed and no error made, by what found that the device does not work (any more).
#define TAPER_DEVICE_LOST ((taper_status)-2)

// An opened device, as its memory knows it: it is closed when nobody uses it and no memory of it is left.
typedef struct taper_memory_owner {
    taper_refs refs;
    atomic_bool lost; // found so: it is left alone
    void (*close)(struct taper_memory_owner *owner);
} taper_memory_owner;

// A device's memory of one tensor, in a layout and precision of its own; a backend's struct begins with it.
typedef struct taper_memory {
    taper_memory_owner *owner;
    // Writes the elements to a tensor of the host with the same dtype and sizes, and any strides. May say
    // TAPER_DEVICE_LOST.
    taper_status (*fetch)(struct taper_memory *memory, struct taper_tensor *to, taper_error *error);
    void (*drop)(struct taper_memory *memory); // in any thread
} taper_memory;

typedef enum taper_qscheme {
    TAPER_PER_TENSOR_AFFINE = 0,
    TAPER_PER_CHANNEL_AFFINE = 1,
    TAPER_PER_TENSOR_SYMMETRIC = 2,
    TAPER_PER_CHANNEL_SYMMETRIC = 3,
    TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4,
    // The same of a saved quint4x2 tensor, which becomes a quint8 one when it is read: an element from 0 to 15 a byte.
    TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT = 5
} taper_qscheme;

typedef struct taper_tensor taper_tensor;

typedef struct taper_quantizer {
    uint8_t scheme; // taper_qscheme
    double scale;
    int64_t zero_point;
    int64_t axis;              // per channel
    taper_tensor *scales;      // float64, owned reference
    taper_tensor *zero_points; // int64 (or float), owned reference
} taper_quantizer;

struct taper_tensor {
    taper_obj head;
    taper_storage *storage;
    int64_t offset; // in elements
    uint8_t dtype;  // taper_dtype
    uint8_t rank;
    bool hidden_nhwc;
    bool requires_grad;         // as saved; only prim::requires_grad looks at it
    bool wrapped_number;        // made from a Python number: weak in type promotion
    bool reshaped;              // its shape or storage was changed in place: nothing prepared for it before holds
    taper_quantizer *quantizer; // of quantized dtypes; a block of the heap
    // Of a new tensor 0 from rank on.
    int64_t sizes[TAPER_MAX_RANK];
    int64_t strides[TAPER_MAX_RANK];
};

inline bool taper_tensor_is_away(const taper_tensor *tensor) // with a device
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
// For writing; NULL is never returned for a tensor whose storage was prepared with taper_storage_write or is new.
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
// Where a loop gets its strides from: steps[d] takes it from one index of dimension d to the next, in units of `unit`
// (1: elements, the item's size: bytes), and is 0 where there is no next index or no element at all. The elements being
// inside the storage, the sum of all steps times their sizes does not overflow. With the strides themselves it may:
// those of dimensions that nobody steps along are whatever PyTorch makes of them, up to INT64_MAX. From these only the
// strides of views are made.
void taper_tensor_steps(const taper_tensor *tensor, size_t unit, int64_t *steps);
// One of them, in elements.
int64_t taper_tensor_step(const taper_tensor *tensor, size_t d);
// The strides and offsets of views; they wrap, as in PyTorch.
static inline int64_t taper_mul_stride(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static inline int64_t taper_add_stride(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
void taper_strides_contiguous(size_t rank, const int64_t *sizes, int64_t *strides);
// channels_last for rank 4, channels_last_3d for rank 5.
void taper_strides_channels_last(size_t rank, const int64_t *sizes, int64_t *strides);
// PyTorch's is_contiguous and is_contiguous(memory_format=channels_last) on the physical strides.
bool taper_tensor_is_contiguous(const taper_tensor *tensor);
bool taper_tensor_is_channels_last(const taper_tensor *tensor);
// PyTorch's is_non_overlapping_and_dense, on the physical strides.
bool taper_tensor_is_dense(const taper_tensor *tensor);
// What PyTorch's strides would be: those of a contiguous tensor when hidden, the tensor's own otherwise.
void taper_tensor_logical_strides(const taper_tensor *tensor, int64_t *strides);
// PyTorch's suggest_memory_format: true for channels last. A hidden tensor says false.
bool taper_tensor_suggests_channels_last(const taper_tensor *tensor);

inline bool taper_dtype_is_float(taper_dtype d)
{
    return d == TAPER_F32 || d == TAPER_F64 || d == TAPER_F16 || d == TAPER_BF16;
}
inline bool taper_dtype_is_complex(taper_dtype d)
{
    return d == TAPER_C32 || d == TAPER_C64 || d == TAPER_C128;
}
static inline bool taper_dtype_is_integral(taper_dtype d) // bool excluded
{
    return d <= TAPER_I64;
}
inline bool taper_dtype_is_quantized(taper_dtype d)
{
    return d == TAPER_QI8 || d == TAPER_QU8 || d == TAPER_QI32 || d == TAPER_QU4X2 || d == TAPER_QU2X4;
}

// Element access through conversion; index in elements from the tensor's data. For setup code, not for loops.
double taper_load_double(taper_dtype dtype, const void *data, int64_t index);
int64_t taper_load_int(taper_dtype dtype, const void *data, int64_t index);

#endif
