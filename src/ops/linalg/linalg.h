// SPDX-License-Identifier: BSD-2-Clause
// What the linear algebra operators share: arguments as batches of matrices, temporaries, results in PyTorch's order,
// and the texts of failures. Direct methods work on copies in double precision (linalg_dense.h), iterative ones on
// copies in the argument's dtype, with LAPACK (linalg_lapack.h). Copies are column-major: batch after batch, the
// elements of a column side by side.
#ifndef TAPER_OPS_LINALG_H
#define TAPER_OPS_LINALG_H

#include "ops/engine/matmul.h"
#include "ops/linalg/linalg_dense.h"

// ---- a call with its temporaries, which are dropped at its end

enum { TAPER_LINALG_SLOTS = 12 };
typedef struct taper_linalg {
    taper_call *call;
    taper_run *run;
    const char *name; // for messages
    taper_tensor *t[TAPER_LINALG_SLOTS];
} taper_linalg;
typedef taper_status (*taper_linalg_body)(taper_linalg *w);
TAPER_MUST_USE taper_status taper_linalg_run(taper_call *call, const char *name, taper_linalg_body body);

// ---- arguments

// Fails unless tensor is of a float or complex dtype that factorizations have: float32, float64, complex64, complex128.
TAPER_MUST_USE taper_status taper_linalg_check_dtype(const taper_linalg *w, const taper_tensor *tensor);
// And has matrices; and square ones.
TAPER_MUST_USE taper_status taper_linalg_check_matrix(const taper_linalg *w, const taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_linalg_check_square(const taper_linalg *w, const taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_linalg_check_same_dtype(const taper_linalg *w, const taper_tensor *a,
                                                          const taper_tensor *b);
// Arguments at: read and checked so.
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

// The batch dimensions of several arguments.
typedef struct taper_linalg_batch {
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
} taper_linalg_batch;
taper_linalg_batch taper_linalg_batch_of(const taper_tensor *tensor); // all but the last two
TAPER_MUST_USE taper_status taper_linalg_broadcast(const taper_linalg *w, const taper_tensor *a, const taper_tensor *b,
                                                   taper_linalg_batch *batch);
int64_t taper_linalg_count(const taper_linalg_batch *batch);
// Which matrix of `own` stands for the index-th of `batch`, which own broadcasts to.
int64_t taper_linalg_index(const taper_linalg_batch *batch, int64_t index, const taper_linalg_batch *own);

// New, uninitialized, column-major matrices; or one vector of n for each matrix (contiguous); or one number (n < 0).
TAPER_MUST_USE taper_status taper_linalg_new(taper_linalg *w, size_t slot, taper_dtype dtype,
                                             const taper_linalg_batch *batch, int64_t rows, int64_t columns);
TAPER_MUST_USE taper_status taper_linalg_new_vectors(taper_linalg *w, size_t slot, taper_dtype dtype,
                                                     const taper_linalg_batch *batch, int64_t n);
TAPER_MUST_USE taper_status taper_linalg_new_empty(taper_linalg *w, size_t slot, taper_dtype dtype); // of size [0]
// Room for work, of so many items of so many bytes; at least one byte.
TAPER_MUST_USE taper_status taper_linalg_room(taper_linalg *w, size_t slot, int64_t count, size_t item, void **room);
// A column-major copy of tensor, broadcast to batch (NULL: its own), of this dtype.
TAPER_MUST_USE taper_status taper_linalg_take(taper_linalg *w, size_t slot, const taper_tensor *tensor,
                                              const taper_linalg_batch *batch, taper_dtype dtype);
// The index-th matrix of such a tensor, of F64 or C128. For an empty matrix the pointer is not to be used.
taper_dense taper_linalg_matrix(const taper_linalg *w, taper_tensor *tensor, int64_t index);
static inline int32_t *taper_linalg_ints(taper_tensor *tensor) // of I32
{
    return taper_tensor_mutable(tensor);
}
static inline double *taper_linalg_doubles(taper_tensor *tensor) // of F64 or C128
{
    return taper_tensor_mutable(tensor);
}
TAPER_MUST_USE taper_status taper_linalg_zero(const taper_linalg *w, size_t slot);
// Whether so many elements from the index-th on are finite, of a float or complex tensor without gaps.
bool taper_linalg_finite(const taper_tensor *tensor, int64_t index, int64_t count);
// Fails when the run is to end; called between matrices.
TAPER_MUST_USE static inline taper_status taper_linalg_stopped(const taper_linalg *w)
{
    return taper_run_spend(w->run, 200);
}

// ---- results

typedef enum taper_linalg_order { TAPER_BY_ROWS, TAPER_BY_COLUMNS } taper_linalg_order;
// Result `at` is the tensor in slot (given over), converted to dtype, its last two dimensions in this order.
TAPER_MUST_USE taper_status taper_linalg_ret(taper_linalg *w, size_t at, size_t slot, taper_dtype dtype,
                                             taper_linalg_order order);
// Fails as PyTorch does when one of infos (I32, one for each matrix) is not 0.
TAPER_MUST_USE taper_status taper_linalg_check_infos(taper_run *run, const char *name, const taper_tensor *infos,
                                                     bool single);

// ---- shared steps

// LU of every matrix of a (transposed: of a') into slots: wide factors, pivots, infos. linalg_lu.c
TAPER_MUST_USE taper_status taper_linalg_factor(taper_linalg *w, const taper_tensor *a, bool transposed, size_t lu,
                                                size_t pivots, size_t infos);
// x (slot, wide) = the solution of op(a) x = x, or of x op(a) = x (not left). a in factors that broadcast to x.
TAPER_MUST_USE taper_status taper_linalg_lu_solve(taper_linalg *w, size_t lu, const taper_tensor *pivots,
                                                  taper_transpose transpose, bool left, size_t x);
// Solves a x = b and leaves x (wide) in a slot, the factors in others. linalg_solve.c
typedef struct taper_linalg_system {
    size_t x, lu, pivots, infos, ones; // slots; ones: of the identity, for inverses
    bool left, transposed;             // transposed: the factors are those of a'
} taper_linalg_system;
TAPER_MUST_USE taper_status taper_linalg_solve(taper_linalg *w, const taper_tensor *a, const taper_tensor *b,
                                               taper_linalg_system *system);
// The inverses (wide) of square matrices.
TAPER_MUST_USE taper_status taper_linalg_invert(taper_linalg *w, const taper_tensor *a, taper_linalg_system *system);
// Singular values (float32 or float64) of every matrix of a, and, unless vectors is 'N', the vectors. linalg_svd.c
TAPER_MUST_USE taper_status taper_linalg_svd(taper_linalg *w, const taper_tensor *a, char vectors, size_t u, size_t s,
                                             size_t vh, size_t scratch);
// The adjoint of the matrices in slot from, wide, into slot to. linalg_svd.c
TAPER_MUST_USE taper_status taper_linalg_adjoint(taper_linalg *w, size_t from, size_t to);
// Eigenvalues (float32 or float64) of symmetric matrices and, with vectors 'V', the vectors; from this triangle.
// divide: by syevd, otherwise by syev. linalg_eig.c
TAPER_MUST_USE taper_status taper_linalg_eigh(taper_linalg *w, const taper_tensor *a, bool divide, char vectors,
                                              char triangle, size_t values, size_t to, size_t scratch);

#endif
