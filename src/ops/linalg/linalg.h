// SPDX-License-Identifier: BSD-2-Clause
// Functions that the linear algebra operators share: arguments as batches of matrices, temporaries, results in
// PyTorch's order, and error messages. Direct methods work on copies in double precision (linalg_dense.h). Iterative
// methods work on copies in the argument's dtype, with LAPACK (linalg_lapack.h). Copies are column-major: matrix after
// matrix, each with contiguous columns.
#ifndef TAPER_OPS_LINALG_H
#define TAPER_OPS_LINALG_H

#include "ops/engine/matmul.h"
#include "ops/linalg/linalg_dense.h"

// ---- a call with the slots for its temporaries, which are dropped at the end of the call

enum { TAPER_LINALG_SLOTS = 12 };
typedef struct taper_linalg {
    taper_call *call;
    taper_run *run;
    const char *name; // name of the operator in messages
    taper_tensor *t[TAPER_LINALG_SLOTS];
} taper_linalg;
typedef taper_status (*taper_linalg_body)(taper_linalg *w);
TAPER_MUST_USE taper_status taper_linalg_run(taper_call *call, const char *name, taper_linalg_body body);

// ---- arguments

// Fails unless the tensor has a dtype that factorizations support: float32, float64, complex64 or complex128.
TAPER_MUST_USE taper_status taper_linalg_check_dtype(const taper_linalg *w, const taper_tensor *tensor);
// These functions fail as taper_linalg_check_dtype does, and also if the tensor has no matrices, or no square matrices.
TAPER_MUST_USE taper_status taper_linalg_check_matrix(const taper_linalg *w, const taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_linalg_check_square(const taper_linalg *w, const taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_linalg_check_same_dtype(const taper_linalg *w, const taper_tensor *a,
                                                          const taper_tensor *b);
// These functions read argument `at` and check it as the functions above do.
TAPER_MUST_USE taper_status taper_linalg_arg_matrix(const taper_linalg *w, size_t at, taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_linalg_arg_square(const taper_linalg *w, size_t at, taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_linalg_fail(const taper_linalg *w, const char *text);

static inline int64_t taper_linalg_rows(const taper_tensor *tensor)
{
    return tensor->sizes[tensor->rank - 2u];
}
static inline int64_t taper_linalg_columns(const taper_tensor *tensor)
{
    return tensor->sizes[tensor->rank - 1u];
}
static inline taper_dtype taper_linalg_wide(taper_dtype dtype)
{
    return taper_dtype_is_complex(dtype) ? TAPER_C128 : TAPER_F64;
}

// ---- batches of matrices

// The batch dimensions of one or several arguments.
typedef struct taper_linalg_batch {
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
} taper_linalg_batch;
taper_linalg_batch taper_linalg_batch_of(const taper_tensor *tensor); // returns all dimensions except the last two
TAPER_MUST_USE taper_status taper_linalg_broadcast(const taper_linalg *w, const taper_tensor *a, const taper_tensor *b,
                                                   taper_linalg_batch *batch);
int64_t taper_linalg_count(const taper_linalg_batch *batch);
// Returns the index in `own` of the matrix that is broadcast to matrix `index` of `batch`.
int64_t taper_linalg_index(const taper_linalg_batch *batch, int64_t index, const taper_linalg_batch *own);

// These functions make uninitialized tensors in a slot. taper_linalg_new makes column-major matrices.
// taper_linalg_new_vectors makes one contiguous vector of n elements per matrix, or one number per matrix if n < 0.
TAPER_MUST_USE taper_status taper_linalg_new(taper_linalg *w, size_t slot, taper_dtype dtype,
                                             const taper_linalg_batch *batch, int64_t rows, int64_t columns);
TAPER_MUST_USE taper_status taper_linalg_new_vectors(taper_linalg *w, size_t slot, taper_dtype dtype,
                                                     const taper_linalg_batch *batch, int64_t n);
// Makes a tensor of size [0].
TAPER_MUST_USE taper_status taper_linalg_new_empty(taper_linalg *w, size_t slot, taper_dtype dtype);
// Allocates memory for `count` items of `item` bytes in a slot, at least one byte.
TAPER_MUST_USE taper_status taper_linalg_room(taper_linalg *w, size_t slot, int64_t count, size_t item, void **room);
// Copies the tensor to column-major matrices of this dtype, broadcast to batch. If batch is NULL, the copies keep the
// tensor's own batch.
TAPER_MUST_USE taper_status taper_linalg_take(taper_linalg *w, size_t slot, const taper_tensor *tensor,
                                              const taper_linalg_batch *batch, taper_dtype dtype);
// Returns matrix `index` of a tensor that taper_linalg_take made with dtype F64 or C128. The pointer of an empty matrix
// must not be used.
taper_dense taper_linalg_matrix(const taper_linalg *w, taper_tensor *tensor, int64_t index);
static inline int32_t *taper_linalg_ints(taper_tensor *tensor) // returns the elements of an I32 tensor
{
    return taper_tensor_mutable(tensor);
}
static inline double *taper_linalg_doubles(taper_tensor *tensor) // returns the elements of an F64 or C128 tensor
{
    return taper_tensor_mutable(tensor);
}
TAPER_MUST_USE taper_status taper_linalg_zero(const taper_linalg *w, size_t slot);
// Returns true if `count` elements from `index` on are finite. The tensor is floating or complex, without gaps.
bool taper_linalg_finite(const taper_tensor *tensor, int64_t index, int64_t count);
// Fails if the run must end. Operators call this function between matrices.
TAPER_MUST_USE static inline taper_status taper_linalg_stopped(const taper_linalg *w)
{
    return taper_run_spend(w->run, 200);
}

// ---- results

typedef enum taper_linalg_order { TAPER_BY_ROWS, TAPER_BY_COLUMNS } taper_linalg_order;
// Sets result `at` to the tensor in the slot, converted to dtype, with its last two dimensions in the given order. The
// slot is empty afterwards.
TAPER_MUST_USE taper_status taper_linalg_ret(taper_linalg *w, size_t at, size_t slot, taper_dtype dtype,
                                             taper_linalg_order order);
// Fails as PyTorch does if an entry of infos (I32, one entry per matrix) is not 0.
TAPER_MUST_USE taper_status taper_linalg_check_infos(taper_run *run, const char *name, const taper_tensor *infos,
                                                     bool single);

// ---- computations that several operators share

// Factors each matrix of `a`, or of its transpose if `transposed` is set, by LU. The slots receive wide factors (double
// precision), pivots and infos (linalg_lu.c).
TAPER_MUST_USE taper_status taper_linalg_factor(taper_linalg *w, const taper_tensor *a, bool transposed, size_t lu,
                                                size_t pivots, size_t infos);
// Replaces x, wide matrices (double precision) in a slot, by the solution y of op(a) y = x, or of y op(a) = x if left
// is false. The factors of `a` are broadcast to x.
TAPER_MUST_USE taper_status taper_linalg_lu_solve(taper_linalg *w, size_t lu, const taper_tensor *pivots,
                                                  taper_transpose transpose, bool left, size_t x);
// A system a x = b and its solution. x (double precision) and the factors are stored in slots (linalg_solve.c).
typedef struct taper_linalg_system {
    size_t x, lu, pivots, infos, ones; // numbers of slots. `ones` is the slot of the identity matrix, for inverses
    bool left, transposed;             // left: a is on the left of x; transposed: a' was factored
} taper_linalg_system;
TAPER_MUST_USE taper_status taper_linalg_solve(taper_linalg *w, const taper_tensor *a, const taper_tensor *b,
                                               taper_linalg_system *system);
// Computes the inverses of square matrices, in double precision.
TAPER_MUST_USE taper_status taper_linalg_invert(taper_linalg *w, const taper_tensor *a, taper_linalg_system *system);
// Computes the singular values (float32 or float64) of each matrix of `a`. Also computes the singular vectors unless
// vectors is 'N' (linalg_svd.c).
TAPER_MUST_USE taper_status taper_linalg_svd(taper_linalg *w, const taper_tensor *a, char vectors, size_t u, size_t s,
                                             size_t vh, size_t scratch);
// Writes the adjoints of the matrices (double precision) in slot `from` to slot `to` (linalg_svd.c).
TAPER_MUST_USE taper_status taper_linalg_adjoint(taper_linalg *w, size_t from, size_t to);
// Computes the eigenvalues (float32 or float64) of symmetric matrices, and their vectors if vectors is 'V'. It reads
// only the given triangle. It uses syevd if `divide` is set, otherwise syev (linalg_eig.c).
TAPER_MUST_USE taper_status taper_linalg_eigh(taper_linalg *w, const taper_tensor *a, bool divide, char vectors,
                                              char triangle, size_t values, size_t to, size_t scratch);

#endif
