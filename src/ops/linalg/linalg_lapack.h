// SPDX-License-Identifier: BSD-2-Clause
// LAPACK routines for the linear algebra operators: singular values, eigenvalues, least squares. They are the routines
// that PyTorch calls, in the argument's own dtype, so that vectors have the same signs. Matrices are tensors made by
// taper_linalg_take; index is the number of the matrix in the batch. The caller checks that arguments are finite,
// because LAPACK may end the process if they are not.
#ifndef TAPER_OPS_LINALG_LAPACK_H
#define TAPER_OPS_LINALG_LAPACK_H

#include "ops/linalg/linalg.h"
#include "platform/lapack.h"

// A routine with its dtype and its work memory, which occupies three slots.
typedef struct taper_lapack_job {
    taper_linalg *w;
    taper_lapack_routine routine;
    taper_dtype dtype;
    bool complex;
    size_t slot;
    void *work, *real_work;
    int32_t *int_work;
    int32_t work_count, real_count, int_count;
} taper_lapack_job;

// Finds the routine for the dtype. The routine's name is s or d followed by real_name, or c or z followed by
// complex_name. Without LAPACK the function fails with a message that says what to do. Three slots from `slot` on
// become the work memory.
TAPER_MUST_USE taper_status taper_lapack_begin(taper_linalg *w, size_t slot, taper_dtype dtype, const char *real_name,
                                               const char *complex_name, taper_lapack_job *job);
// Fails unless positions in matrices of these sizes fit into LAPACK's 32-bit integers.
TAPER_MUST_USE taper_status taper_lapack_check_size(const taper_linalg *w, int64_t rows, int64_t columns);

// Each function below gets the address of a matrix's elements and works on that matrix. If job->work is NULL, the
// function only allocates the work memory; the first call must do this.

// Computes singular values. *info is LAPACK's info. vectors is 'N', 'S' (thin) or 'A' (square).
TAPER_MUST_USE taper_status taper_lapack_svd(taper_lapack_job *job, char vectors, int64_t rows, int64_t columns,
                                             void *a, void *s, void *u, void *vh, int32_t *info);
// Computes eigenvalues of symmetric and Hermitian matrices. It uses syevd and heevd if `divide` is set, otherwise syev
// and heev. vectors is 'N' or 'V', and the vectors replace a.
TAPER_MUST_USE taper_status taper_lapack_eigh(taper_lapack_job *job, bool divide, char vectors, char triangle,
                                              int64_t n, void *a, void *values, int32_t *info);
// Computes eigenvalues of general matrices. For real matrices the real parts are in values and the imaginary parts in
// imaginary, and the vectors are packed as geev does.
TAPER_MUST_USE taper_status taper_lapack_eig(taper_lapack_job *job, char vectors, int64_t n, void *a, void *values,
                                             void *imaginary, void *right, int32_t *info);

typedef enum taper_lstsq_driver { TAPER_GELS, TAPER_GELSY, TAPER_GELSD, TAPER_GELSS } taper_lstsq_driver;
// Solves least squares. b has max(rows, columns) rows. gels does not set *rank; gelsd and gelss set s.
TAPER_MUST_USE taper_status taper_lapack_lstsq(taper_lapack_job *job, taper_lstsq_driver driver, int64_t rows,
                                               int64_t columns, int64_t right, double rcond, void *a, void *b, void *s,
                                               int32_t *rank, int32_t *info);

#endif
