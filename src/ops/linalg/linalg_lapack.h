// SPDX-License-Identifier: BSD-2-Clause
// What LAPACK does for the linear algebra operators: singular values, eigenvalues, least squares. These are the
// routines that PyTorch calls, in the argument's own dtype, so that vectors have the same signs. Matrices are tensors
// as taper_linalg_take makes them; index says which matrix of the batch. Arguments must be finite (checked by the
// caller): LAPACK may end the process over what is not a number.
#ifndef TAPER_OPS_LINALG_LAPACK_H
#define TAPER_OPS_LINALG_LAPACK_H

#include "ops/linalg/linalg.h"
#include "platform/lapack.h"

// A routine with its dtype and its room for work, which lies in three slots.
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

// Finds the routine of the dtype: real_name with s or d in front, complex_name with c or z. Fails, naming the way out,
// where there is no LAPACK. Three slots from `slot` on become the room for work.
TAPER_MUST_USE taper_status taper_lapack_begin(taper_linalg *w, size_t slot, taper_dtype dtype, const char *real_name,
                                               const char *complex_name, taper_lapack_job *job);
// Fails unless positions in matrices of these sizes fit LAPACK's 32-bit integers.
TAPER_MUST_USE taper_status taper_lapack_check_size(const taper_linalg *w, int64_t rows, int64_t columns);

// Each takes the addresses of the first matrix's elements and works on the one at this address; called first with
// job->work NULL, it makes the room.

// *info is LAPACK's. vectors: 'N', 'S' (thin) or 'A' (square).
TAPER_MUST_USE taper_status taper_lapack_svd(taper_lapack_job *job, char vectors, int64_t rows, int64_t columns,
                                             void *a, void *s, void *u, void *vh, int32_t *info);
// Symmetric and Hermitian matrices. divide: syevd and heevd; otherwise syev and heev. vectors: 'N' or 'V', in place.
TAPER_MUST_USE taper_status taper_lapack_eigh(taper_lapack_job *job, bool divide, char vectors, char triangle,
                                              int64_t n, void *a, void *values, int32_t *info);
// General matrices. Of real ones the eigenvalues' parts are in values and imaginary, the vectors packed as geev does.
TAPER_MUST_USE taper_status taper_lapack_eig(taper_lapack_job *job, char vectors, int64_t n, void *a, void *values,
                                             void *imaginary, void *right, int32_t *info);

typedef enum taper_lstsq_driver { TAPER_GELS, TAPER_GELSY, TAPER_GELSD, TAPER_GELSS } taper_lstsq_driver;
// b has max(rows, columns) rows. rank is untouched by gels, s is for gelsd and gelss.
TAPER_MUST_USE taper_status taper_lapack_lstsq(taper_lapack_job *job, taper_lstsq_driver driver, int64_t rows,
                                               int64_t columns, int64_t right, double rcond, void *a, void *b, void *s,
                                               int32_t *rank, int32_t *info);

#endif
