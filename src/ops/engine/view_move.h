// SPDX-License-Identifier: BSD-2-Clause
// Moving, cloning and filling elements: what creation, views and indexing share. Strides are in elements, of the bytes
// as they lie (those of hidden NHWC tensors too).
#ifndef TAPER_OPS_VIEW_MOVE_H
#define TAPER_OPS_VIEW_MOVE_H

#include "ops/call/call.h"

enum { TAPER_MOVE_RANK = 2 * TAPER_MAX_RANK };

// PyTorch's MemoryFormat.
enum {
    TAPER_FORMAT_CONTIGUOUS = 0,
    TAPER_FORMAT_PRESERVE = 1,
    TAPER_FORMAT_CHANNELS_LAST = 2,
    TAPER_FORMAT_CHANNELS_LAST_3D = 3
};

// Copies elements of `item` bytes: to[sum of i*to_strides] = from[sum of i*from_strides] for every index i below sizes.
// rank up to TAPER_MOVE_RANK; strides may be zero or negative; to and from must not overlap.
// Leaves the rest undone when the run is to end (ops/call/call.h).
void taper_move(taper_run *run, size_t item, size_t rank, const int64_t *sizes, void *to, const int64_t *to_strides,
                const void *from, const int64_t *from_strides);

// The same of `lines` times n elements, steps in bytes, from one thread; whoever calls has asked whether the run goes
// on.
void taper_move_plane(const taper_run *run, size_t item, size_t lines, size_t n, char *to, int64_t to_line,
                      int64_t to_step, const char *from, int64_t from_line, int64_t from_step);

// Of a plane whose rows' elements lie side by side in `to` and those of its columns in `from`; as above.
void taper_move_transposed(const taper_run *run, size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row,
                           const char *from, int64_t from_column);

// Fails for dtypes whose elements are no whole bytes.
TAPER_MUST_USE taper_status taper_move_item(const taper_tensor *tensor, size_t *item, taper_error *error);

// Strides without gaps in the order of the tensor's own: those of its copies where it is not dense.
void taper_strides_dense(const taper_tensor *tensor, int64_t *strides);
// The strides that empty_like(tensor, memory_format) has in PyTorch.
TAPER_MUST_USE taper_status taper_like_strides(const taper_tensor *tensor, int64_t format, int64_t *strides,
                                               taper_error *error);
// clone(memory_format); a hidden tensor that keeps its format stays hidden.
TAPER_MUST_USE taper_status taper_view_clone(taper_run *run, const taper_tensor *tensor, int64_t format,
                                             taper_tensor **clone);
// A contiguous tensor with tensor's quantizer and dtype, uninitialized.
TAPER_MUST_USE taper_status taper_tensor_like(taper_heap *heap, const taper_tensor *tensor, size_t rank,
                                              const int64_t *sizes, const int64_t *strides, taper_tensor **result,
                                              taper_error *error);
// Copies the elements of from into to: same sizes (from may have stride 0), same dtype.
TAPER_MUST_USE taper_status taper_tensor_move(taper_run *run, taper_tensor *to, const taper_tensor *from);

// ---- single elements and fills

// Whether PyTorch would store number as dtype: "value cannot be converted to type uint8_t without overflow".
TAPER_MUST_USE taper_status taper_scalar_check(taper_dtype dtype, const taper_scalar *scalar, taper_error *error);
// Converts; p need not be aligned.
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
// Fills a tensor whose storage may be written.
TAPER_MUST_USE taper_status taper_tensor_fill(taper_run *run, taper_tensor *tensor, const taper_scalar *scalar);

// ---- dimensions

// -1 when dim is not in [-rank, rank) (rank 0 counts as 1).
static inline int64_t taper_wrap_dim(int64_t dim, size_t rank)
{
    const int64_t n = rank == 0 ? 1 : (int64_t)rank;
    return dim < -n || dim >= n ? -1 : dim < 0 ? dim + n : dim;
}
TAPER_MUST_USE taper_status taper_wrap_dim_or_fail(int64_t dim, size_t rank, size_t *wrapped, taper_error *error);
// "[2, 3]" into text, cut when it does not fit.
typedef struct taper_sizes_text {
    char text[176];
} taper_sizes_text;
taper_sizes_text taper_sizes_print(size_t rank, const int64_t *sizes);

// ---- arguments that a kernel changes in place

// Argument 0 for writing, retained: the argument itself in the in-place form, a clone otherwise. Storage is writable,
// and no element of it has the memory of another (taper_ret_check_overlap). End with taper_inplace_end on success,
// release on failure.
TAPER_MUST_USE taper_status taper_inplace_begin(taper_call *call, int64_t format, taper_tensor **self);
TAPER_MUST_USE taper_status taper_inplace_end(taper_call *call, taper_tensor *self);

static inline taper_error *taper_call_error(const taper_call *call)
{
    return call->run->error;
}
inline void taper_tensor_drop(taper_tensor *tensor) // NULL is fine
{
    if (tensor != NULL) {
        taper_obj_release(&tensor->head);
    }
}

#endif
