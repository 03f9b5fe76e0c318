// SPDX-License-Identifier: BSD-2-Clause
// Defines tensors and storages, and functions that read them. A tensor is a strided view of a storage; several tensors
// may share a storage. ir/tensor.h creates and changes tensors, ir/storage.h storages.
//
// Layout. Sizes and strides are as in PyTorch, with one exception. A dense 4-D or 5-D tensor may be *hidden NHWC*
// (`hidden_nhwc`): its bytes and its `strides` are channels-last although PyTorch would have produced a contiguous
// tensor. Such a tensor does not share its storage. Operators with the flag TAPER_OP_NHWC take it without change.
// Before any other operator, and before a result leaves the run, the executor settles the tensor (taper_tensor_settle):
// it reorders the bytes in place, so no code outside can observe the difference. taper_tensor_settle also copies a
// tensor from a device to the host.
#ifndef TAPER_IR_TENSOR_DEF_H
#define TAPER_IR_TENSOR_DEF_H

#include "base/checked.h"
#include "ir/heap.h"

#define TAPER_DTYPE_COUNT 18 // greater than every taper_dtype

typedef enum taper_storage_kind {
    TAPER_STORAGE_OWNED, // memory is a block of the heap
    // Memory is pages of the library's mapping of a file, which `owner` keeps alive. The pages are never written. If
    // the system drops them, they are read from the file again.
    TAPER_STORAGE_FILE,
    TAPER_STORAGE_BORROWED, // memory that `owner` keeps alive (the host's bytes of a file, a block), never written
    TAPER_STORAGE_SHARED,   // memory of the storage `origin`, copied on the first write
    // Memory of the host, freed by release(user). If `read_only` is set, sessions use SHARED storages of this memory
    // instead.
    TAPER_STORAGE_HOST,
    TAPER_STORAGE_PLANNED, // memory in a session's arena, which `owner` keeps alive
    TAPER_STORAGE_SCALED,  // no memory until it is computed (ir/scaled_storage.h)
    TAPER_STORAGE_DEVICE // memory of a device; `data` is NULL, and `memory` contains the elements of the only tensor of
                         // this storage
} taper_storage_kind;    // says what owns the memory at a storage's `data`

typedef struct taper_storage {
    taper_obj head;
    uint8_t kind;
    bool read_only;   // true if the bytes must be copied before they are written
    uint32_t version; // number of writes so far, by which code that caches a result detects later writes
    void *data;
    size_t bytes;
    struct taper_storage *origin; // SHARED: the storage whose memory is shared
    // FILE, BORROWED, PLANNED: object that keeps the memory alive, or NULL; OWNED: object with the previous bytes.
    taper_obj *owner;
    void (*release)(void *user);
    void *user;
    struct taper_memory *memory; // DEVICE: the memory, which the storage owns
    // Number of the run that created the storage, and of its slot in the plan; set by the memory planner
    // (runtime/planner.h).
    uint32_t plan_run, plan_slot;
} taper_storage;

#ifdef TAPER_WITHOUT_DEVICES // for builds without devices other than the CPU
enum { TAPER_DEVICES = 0 };
#else
enum { TAPER_DEVICES = 1 };
#endif

// Status of a function that found that the device no longer works. The function has changed nothing and set no error.
#define TAPER_DEVICE_LOST ((taper_status)-2)

// An opened device, which its users and its memory refer to. The device is closed when no reference is left.
typedef struct taper_memory_owner {
    taper_refs refs;
    atomic_uint lost; // 1 if the device failed, otherwise 0; a device that failed is not used again
    void (*close)(struct taper_memory_owner *owner);
} taper_memory_owner;

// The memory of one tensor on a device, in a layout and precision that the device chooses. A backend's own struct
// begins with this struct.
typedef struct taper_memory {
    taper_memory_owner *owner;
    // Copies the elements to a tensor on the host with the same dtype and sizes, and any strides. May return
    // TAPER_DEVICE_LOST.
    taper_status (*fetch)(struct taper_memory *memory, struct taper_tensor *to, taper_error *error);
    void (*drop)(struct taper_memory *memory); // frees the memory; may be called in any thread
} taper_memory;

typedef enum taper_qscheme {
    TAPER_PER_TENSOR_AFFINE = 0,
    TAPER_PER_CHANNEL_AFFINE = 1,
    TAPER_PER_TENSOR_SYMMETRIC = 2,
    TAPER_PER_CHANNEL_SYMMETRIC = 3,
    TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4,
    // Scheme of a saved quint4x2 tensor with float parameters. The reader turns it into a quint8 tensor, with one
    // element from 0 to 15 in each byte.
    TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS_4BIT = 5
} taper_qscheme;

typedef struct taper_tensor taper_tensor;

typedef struct taper_quantizer {
    uint8_t scheme; // a taper_qscheme
    double scale;
    int64_t zero_point;
    int64_t axis;         // dimension of the channels, if quantized per channel
    taper_tensor *scales; // float64 tensor, a reference that this struct owns; NULL unless quantized per channel
    // Int64 (or float) tensor, a reference that this struct owns; NULL unless quantized per channel.
    taper_tensor *zero_points;
} taper_quantizer;

struct taper_tensor {
    taper_obj head;
    taper_storage *storage;
    int64_t offset; // offset of the first element in the storage, in elements
    uint8_t dtype;  // a taper_dtype
    uint8_t rank;
    bool hidden_nhwc;
    // True if a gradient for the tensor may be asked for; read from the file, or set by the host or the program.
    bool requires_grad;
    bool wrapped_number; // true if made from a Python number, so that type promotion treats it as a number
    bool reshaped; // true if shape or storage was changed in place, so that data prepared for the tensor is invalid
    taper_quantizer *quantizer; // for quantized dtypes: a block of the heap; otherwise NULL
    // Entries from index `rank` on are 0 in a new tensor.
    int64_t sizes[TAPER_MAX_RANK];
    int64_t strides[TAPER_MAX_RANK];
    struct taper_history *history; // ir/history.h; NULL unless a run that records for gradients made the tensor
};

inline bool taper_tensor_is_away(const taper_tensor *tensor) // true if the elements are on a device
{
    return TAPER_DEVICES && tensor->storage->kind == TAPER_STORAGE_DEVICE;
}
inline size_t taper_tensor_item(const taper_tensor *tensor) // size of an element in bytes
{
    static const uint8_t sizes[TAPER_DTYPE_COUNT] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 0, 0};
    return sizes[tensor->dtype];
}
inline const void *taper_tensor_data(const taper_tensor *tensor)
{
    return (const char *)tensor->storage->data + (size_t)tensor->offset * taper_tensor_item(tensor);
}
// Returns the elements for writing. The caller must have created the storage or called taper_storage_write; the result
// is then not NULL.
inline void *taper_tensor_mutable(taper_tensor *tensor)
{
    return (char *)tensor->storage->data + (size_t)tensor->offset * taper_tensor_item(tensor);
}
inline int64_t taper_tensor_numel(const taper_tensor *tensor)
{
    int64_t n = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        n *= tensor->sizes[i]; // cannot overflow: checked when the tensor was made
    }
    return n;
}
// Sets steps[d] to the distance from one index of dimension d to the next, in units of `unit` (1: elements; size of an
// element: bytes). The step is 0 if there is no next index, or no element. Loops must use these steps and not the
// strides. All elements are within the storage, so the sum of all steps times their sizes does not overflow. Strides
// may overflow: for a dimension of size 1 PyTorch allows any stride up to INT64_MAX. Strides are used only to compute
// the strides of views.
void taper_tensor_steps(const taper_tensor *tensor, size_t unit, int64_t *steps);
// Returns the step of dimension d, in elements.
int64_t taper_tensor_step(const taper_tensor *tensor, size_t d);
void taper_strides_contiguous(size_t rank, const int64_t *sizes, int64_t *strides);
// Returns the strides of channels_last for rank 4, and of channels_last_3d for rank 5.
void taper_strides_channels_last(size_t rank, const int64_t *sizes, int64_t *strides);
// These functions return PyTorch's is_contiguous() and is_contiguous(memory_format=channels_last), for the strides in
// memory.
bool taper_tensor_is_contiguous(const taper_tensor *tensor);
bool taper_tensor_is_channels_last(const taper_tensor *tensor);
// Returns PyTorch's is_non_overlapping_and_dense, for the strides in memory.
bool taper_tensor_is_dense(const taper_tensor *tensor);
// Returns the strides that PyTorch would show: contiguous strides if hidden_nhwc is true, otherwise the tensor's own
// strides.
void taper_tensor_logical_strides(const taper_tensor *tensor, int64_t *strides);
// Returns PyTorch's suggest_memory_format: true for channels last. The result is false if hidden_nhwc is true.
bool taper_tensor_suggests_channels_last(const taper_tensor *tensor);

inline bool taper_dtype_is_float(taper_dtype d)
{
    return d == TAPER_F32 || d == TAPER_F64 || d == TAPER_F16 || d == TAPER_BF16;
}
inline bool taper_dtype_is_complex(taper_dtype d)
{
    return d == TAPER_C32 || d == TAPER_C64 || d == TAPER_C128;
}
static inline bool taper_dtype_is_integral(taper_dtype d) // returns false for bool
{
    return d <= TAPER_I64;
}
inline bool taper_dtype_is_quantized(taper_dtype d)
{
    return d == TAPER_QI8 || d == TAPER_QU8 || d == TAPER_QI32 || d == TAPER_QU4X2 || d == TAPER_QU2X4;
}

// These functions read the element at `index`, counted in elements from `data`, and convert it. They are too slow for
// loops over elements.
double taper_load_double(taper_dtype dtype, const void *data, int64_t index);
int64_t taper_load_int(taper_dtype dtype, const void *data, int64_t index);

#endif
