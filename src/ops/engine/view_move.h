// SPDX-License-Identifier: BSD-2-Clause
// Moves, clones and fills elements, for operators that create, view and index tensors. Strides are in elements and
// physical: the strides of a hidden NHWC tensor follow the bytes in memory.
#ifndef TAPER_OPS_VIEW_MOVE_H
#define TAPER_OPS_VIEW_MOVE_H

#include "ops/call/call.h"

enum { TAPER_MOVE_RANK = 2 * TAPER_MAX_RANK };

// The values of PyTorch's MemoryFormat.
enum {
    TAPER_FORMAT_CONTIGUOUS = 0,
    TAPER_FORMAT_PRESERVE = 1,
    TAPER_FORMAT_CHANNELS_LAST = 2,
    TAPER_FORMAT_CHANNELS_LAST_3D = 3
};

// Copies elements of `item` bytes: to[sum of i*to_strides] = from[sum of i*from_strides] for each index i below sizes.
// rank is at most TAPER_MOVE_RANK. Strides may be zero or negative. to and from must not overlap. If the run must end,
// the remaining elements are not copied (ops/call/call.h).
void taper_move(taper_run *run, size_t item, size_t rank, const int64_t *sizes, void *to, const int64_t *to_strides,
                const void *from, const int64_t *from_strides);

// Copies `lines` lines of n elements on the calling thread. Steps are in bytes. The caller has checked that the run
// goes on.
void taper_move_plane(const taper_run *run, size_t item, size_t lines, size_t n, char *to, int64_t to_line,
                      int64_t to_step, const char *from, int64_t from_line, int64_t from_step);

// Copies a plane in which the elements of a row are contiguous in `to`, and the elements of a column are contiguous in
// `from`. Steps are in bytes. The caller has checked that the run goes on.
void taper_move_transposed(const taper_run *run, size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row,
                           const char *from, int64_t from_column);

// Sets *item to the size of an element in bytes. Fails for dtypes whose elements are not whole bytes.
TAPER_MUST_USE taper_status taper_move_item(const taper_tensor *tensor, size_t *item, taper_error *error);

// Computes strides without gaps, in the order of the tensor's own strides. Copies of a tensor that is not dense have
// these strides.
void taper_strides_dense(const taper_tensor *tensor, int64_t *strides);
// Computes the strides of PyTorch's empty_like(tensor, memory_format).
TAPER_MUST_USE taper_status taper_like_strides(const taper_tensor *tensor, int64_t format, int64_t *strides,
                                               taper_error *error);
// Clones the tensor in the memory format. A hidden NHWC tensor that keeps its format remains hidden. The caller owns
// *clone.
TAPER_MUST_USE taper_status taper_view_clone(taper_run *run, const taper_tensor *tensor, int64_t format,
                                             taper_tensor **clone);
// Makes an uninitialized tensor with these sizes and strides (NULL: contiguous), and with the dtype and the quantizer
// of `tensor`.
TAPER_MUST_USE taper_status taper_tensor_like(taper_heap *heap, const taper_tensor *tensor, size_t rank,
                                              const int64_t *sizes, const int64_t *strides, taper_tensor **result,
                                              taper_error *error);
// Copies the elements of `from` to `to`. Both tensors have equal sizes and dtypes; strides of `from` may be 0.
TAPER_MUST_USE taper_status taper_tensor_move(taper_run *run, taper_tensor *to, const taper_tensor *from);

// ---- single elements and fills

// Fails if PyTorch would refuse the number: "value cannot be converted to type uint8_t without overflow".
TAPER_MUST_USE taper_status taper_scalar_check(taper_dtype dtype, const taper_scalar *scalar, taper_error *error);
// taper_scalar_store converts the number to dtype and writes it to p; taper_scalar_load reads it back. p may be
// unaligned.
void taper_scalar_store(taper_dtype dtype, void *p, const taper_scalar *scalar);
void taper_scalar_load(taper_dtype dtype, const void *p, taper_scalar *scalar);
inline taper_scalar taper_scalar_int(int64_t i)
{
    return (taper_scalar){.kind = TAPER_SCALAR_INT, .i = i, .f = (double)i};
}
inline taper_scalar taper_scalar_double(double f)
{
    return (taper_scalar){.kind = TAPER_SCALAR_DOUBLE, .f = f};
}
// Sets each element of the tensor to the number. The tensor's storage must be writable.
TAPER_MUST_USE taper_status taper_tensor_fill(taper_run *run, taper_tensor *tensor, const taper_scalar *scalar);

// ---- dimensions

// Returns the index of the dimension, or -1 if dim is not in [-rank, rank). Rank 0 counts as 1.
static inline int64_t taper_wrap_dim(int64_t dim, size_t rank)
{
    const int64_t n = rank == 0 ? 1 : (int64_t)rank;
    return dim < -n || dim >= n ? -1 : dim < 0 ? dim + n : dim;
}
TAPER_MUST_USE taper_status taper_wrap_dim_or_fail(int64_t dim, size_t rank, size_t *wrapped, taper_error *error);
// A text such as "[2, 3]", cut if it is too long.
typedef struct taper_sizes_text {
    char text[176];
} taper_sizes_text;
taper_sizes_text taper_sizes_print(size_t rank, const int64_t *sizes);

// ---- arguments that a kernel changes in place

// Returns argument 0 for writing, retained: the argument itself for an in-place operator, otherwise a clone. The
// storage of the returned tensor is writable, and no two of its elements share memory (taper_ret_check_overlap). The
// caller passes it to taper_inplace_end on success, and releases it on failure.
TAPER_MUST_USE taper_status taper_inplace_begin(taper_call *call, int64_t format, taper_tensor **self);
TAPER_MUST_USE taper_status taper_inplace_end(taper_call *call, taper_tensor *self);

static inline taper_error *taper_call_error(const taper_call *call)
{
    return call->run->error;
}
inline void taper_tensor_drop(taper_tensor *tensor) // accepts a NULL tensor
{
    if (tensor != NULL) {
        taper_obj_release(&tensor->head);
    }
}

#endif
