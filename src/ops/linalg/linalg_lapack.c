// SPDX-License-Identifier: BSD-2-Clause
// Calls of LAPACK's Fortran routines. Arguments are addresses. The lengths of strings follow them, as gfortran passes
// them; a routine that does not expect the lengths ignores them.
#include "ops/linalg/linalg_lapack.h"

#include <stdio.h>

#include "ops/list/registry.h"

typedef int32_t num;

taper_status taper_lapack_check_size(const taper_linalg *w, int64_t rows, int64_t columns)
{
    int64_t product;
    if (!taper_mul_i64(taper_max_i64(rows, 1), taper_max_i64(columns, 1), &product) || product > INT32_MAX) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_RESOURCE, "%s: matrices of %lld by %lld are too large for LAPACK",
                   w->name, (long long)rows, (long long)columns);
    }
    return TAPER_OK;
}

taper_status taper_lapack_begin(taper_linalg *w, size_t slot, taper_dtype dtype, const char *real_name,
                                const char *complex_name, taper_lapack_job *job)
{
    const bool complex = taper_dtype_is_complex(dtype);
    const char prefix = dtype == TAPER_F32 ? 's' : dtype == TAPER_F64 ? 'd' : dtype == TAPER_C64 ? 'c' : 'z';
    char name[24];
    *job = (taper_lapack_job){.w = w, .dtype = dtype, .complex = complex, .slot = slot};
    taper_lapack *const lapack = w->run->registry == NULL ? NULL : taper_registry_lapack(w->run->registry);
    if (lapack == NULL) {
#if TAPER_WITH_LAPACK
        TAPER_FAIL(w->run->error, TAPER_ERROR_UNSUPPORTED, "needs LAPACK, which was not found; install liblapack3");
#else
        TAPER_FAIL(w->run->error, TAPER_ERROR_UNSUPPORTED, "needs LAPACK; build Taper with TAPER_WITH_LAPACK=ON");
#endif
    }
    (void)snprintf(name, sizeof name, "%c%s_", prefix, complex ? complex_name : real_name);
    job->routine = taper_lapack_find(lapack, name);
    if (job->routine == NULL) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_UNSUPPORTED, "the LAPACK that was found has no %s; install liblapack3",
                   name);
    }
    return TAPER_OK;
}

// Allocates work memory: `reals` real numbers, `ints` integers, and the number of elements of LAPACK's dtype that
// LAPACK gave as its answer to a query.
static taper_status make_room(taper_lapack_job *job, const void *answer, int64_t reals, int64_t ints)
{
    const bool single = job->dtype == TAPER_F32 || job->dtype == TAPER_C64;
    double wanted = 0.0;
    if (answer != NULL) { // a float cannot represent every count, so the count is rounded up
        wanted = single ? ceil((double)*(const float *)answer * (1.0 + 1e-6)) : *(const double *)answer;
    }
    if (!(wanted <= INT32_MAX) || reals > INT32_MAX || ints > INT32_MAX) {
        TAPER_FAIL(job->w->run->error, TAPER_ERROR_RESOURCE, "%s: the matrices are too large for LAPACK", job->w->name);
    }
    const size_t part = single ? sizeof(float) : sizeof(double);
    void *room;
    job->work_count = wanted < 1.0 ? 1 : (num)wanted;
    job->real_count = (num)taper_max_i64(reals, 1);
    job->int_count = (num)taper_max_i64(ints, 1);
    TAPER_TRY(taper_linalg_room(job->w, job->slot, job->work_count, job->complex ? 2 * part : part, &job->work));
    TAPER_TRY(taper_linalg_room(job->w, job->slot + 1, job->real_count, part, &job->real_work));
    TAPER_TRY(taper_linalg_room(job->w, job->slot + 2, job->int_count, sizeof(num), &room));
    job->int_work = room;
    return TAPER_OK;
}

static num leading(int64_t rows)
{
    return (num)taper_max_i64(rows, 1);
}

// ---- singular values

typedef void (*gesdd_real)(const char *, const num *, const num *, void *, const num *, void *, void *, const num *,
                           void *, const num *, void *, const num *, num *, num *, size_t);
typedef void (*gesdd_complex)(const char *, const num *, const num *, void *, const num *, void *, void *, const num *,
                              void *, const num *, void *, const num *, void *, num *, num *, size_t);

taper_status taper_lapack_svd(taper_lapack_job *job, char vectors, int64_t rows, int64_t columns, void *a, void *s,
                              void *u, void *vh, int32_t *info)
{
    const int64_t least = taper_min_i64(rows, columns), most = taper_max_i64(rows, columns);
    const num m = (num)rows, n = (num)columns, lda = leading(rows), ldu = lda,
              ldv = leading(vectors == 'S' ? least : columns), ask = -1;
    double answer[2] = {0.0, 0.0};
    const bool asking = job->work == NULL;
    void *const work = asking ? (void *)answer : job->work;
    const num *const count = asking ? &ask : &job->work_count;
    num no_ints[1] = {0};
    num *const ints = asking ? no_ints : job->int_work;
    if (job->complex) {
        ((gesdd_complex)job->routine)(&vectors, &m, &n, a, &lda, s, u, &ldu, vh, &ldv, work, count,
                                      asking ? (void *)answer : job->real_work, ints, info, 1);
    } else {
        ((gesdd_real)job->routine)(&vectors, &m, &n, a, &lda, s, u, &ldu, vh, &ldv, work, count, ints, info, 1);
    }
    if (!asking) {
        return TAPER_OK;
    }
    const int64_t square = 5 * least * least + 7 * least; // size that LAPACK's documentation gives
    const int64_t reals =
        vectors == 'N' ? 7 * least : taper_max_i64(square, 2 * most * least + 2 * least * least + least);
    return make_room(job, answer, job->complex ? reals : 0, 8 * least);
}

// ---- symmetric eigenvalues

typedef void (*syevd_real)(const char *, const char *, const num *, void *, const num *, void *, void *, const num *,
                           num *, const num *, num *, size_t, size_t);
typedef void (*heevd_complex)(const char *, const char *, const num *, void *, const num *, void *, void *, const num *,
                              void *, const num *, num *, const num *, num *, size_t, size_t);
typedef void (*syev_real)(const char *, const char *, const num *, void *, const num *, void *, void *, const num *,
                          num *, size_t, size_t);
typedef void (*heev_complex)(const char *, const char *, const num *, void *, const num *, void *, void *, const num *,
                             void *, num *, size_t, size_t);

taper_status taper_lapack_eigh(taper_lapack_job *job, bool divide, char vectors, char triangle, int64_t n, void *a,
                               void *values, int32_t *info)
{
    const num order = (num)n, lda = leading(n), ask = -1;
    double answer[2] = {0.0, 0.0}, reals[2] = {0.0, 0.0};
    num ints[1] = {0};
    const bool asking = job->work == NULL;
    void *const work = asking ? (void *)answer : job->work, *const real_work = asking ? (void *)reals : job->real_work;
    num *const int_work = asking ? ints : job->int_work;
    const num *const count = asking ? &ask : &job->work_count, *const real_count = asking ? &ask : &job->real_count,
                     *const int_count = asking ? &ask : &job->int_count;
    if (divide && job->complex) {
        ((heevd_complex)job->routine)(&vectors, &triangle, &order, a, &lda, values, work, count, real_work, real_count,
                                      int_work, int_count, info, 1, 1);
    } else if (divide) {
        ((syevd_real)job->routine)(&vectors, &triangle, &order, a, &lda, values, work, count, int_work, int_count, info,
                                   1, 1);
    } else if (job->complex) {
        ((heev_complex)job->routine)(&vectors, &triangle, &order, a, &lda, values, work, count, real_work, info, 1, 1);
    } else {
        ((syev_real)job->routine)(&vectors, &triangle, &order, a, &lda, values, work, count, info, 1, 1);
    }
    if (!asking) {
        return TAPER_OK;
    }
    // The documented sizes are 3n - 2 for heev, 1 + 5n + 2n² for heevd, and 3 + 5n for its integers.
    const int64_t wanted = divide && vectors == 'V' ? 1 + 5 * n + 2 * n * n : 3 * n;
    return make_room(job, answer, job->complex ? wanted : 0, divide ? 3 + 5 * n : 0);
}

// ---- general eigenvalues

typedef void (*geev_real)(const char *, const char *, const num *, void *, const num *, void *, void *, void *,
                          const num *, void *, const num *, void *, const num *, num *, size_t, size_t);
typedef void (*geev_complex)(const char *, const char *, const num *, void *, const num *, void *, void *, const num *,
                             void *, const num *, void *, const num *, void *, num *, size_t, size_t);

taper_status taper_lapack_eig(taper_lapack_job *job, char vectors, int64_t n, void *a, void *values, void *imaginary,
                              void *right, int32_t *info)
{
    const char none = 'N';
    const num order = (num)n, lda = leading(n), ask = -1;
    double answer[2] = {0.0, 0.0}, left[2];
    const bool asking = job->work == NULL;
    void *const work = asking ? (void *)answer : job->work;
    const num *const count = asking ? &ask : &job->work_count;
    if (job->complex) {
        ((geev_complex)job->routine)(&none, &vectors, &order, a, &lda, values, left, &lda, right, &lda, work, count,
                                     asking ? (void *)left : job->real_work, info, 1, 1);
    } else {
        ((geev_real)job->routine)(&none, &vectors, &order, a, &lda, values, imaginary, left, &lda, right, &lda, work,
                                  count, info, 1, 1);
    }
    return asking ? make_room(job, answer, job->complex ? 2 * n : 0, 0) : TAPER_OK;
}

// ---- least squares

typedef void (*gels_any)(const char *, const num *, const num *, const num *, void *, const num *, void *, const num *,
                         void *, const num *, num *, size_t);
typedef void (*gelsy_real)(const num *, const num *, const num *, void *, const num *, void *, const num *, num *,
                           const void *, num *, void *, const num *, num *);
typedef void (*gelsy_complex)(const num *, const num *, const num *, void *, const num *, void *, const num *, num *,
                              const void *, num *, void *, const num *, void *, num *);
typedef void (*gelsd_real)(const num *, const num *, const num *, void *, const num *, void *, const num *, void *,
                           const void *, num *, void *, const num *, num *, num *);
typedef void (*gelsd_complex)(const num *, const num *, const num *, void *, const num *, void *, const num *, void *,
                              const void *, num *, void *, const num *, void *, num *, num *);
typedef void (*gelss_real)(const num *, const num *, const num *, void *, const num *, void *, const num *, void *,
                           const void *, num *, void *, const num *, num *);
typedef void (*gelss_complex)(const num *, const num *, const num *, void *, const num *, void *, const num *, void *,
                              const void *, num *, void *, const num *, void *, num *);

taper_status taper_lapack_lstsq(taper_lapack_job *job, taper_lstsq_driver driver, int64_t rows, int64_t columns,
                                int64_t right, double rcond, void *a, void *b, void *s, int32_t *rank, int32_t *info)
{
    const num m = (num)rows, n = (num)columns, nrhs = (num)right, lda = leading(rows),
              ldb = leading(taper_max_i64(rows, columns)), ask = -1;
    const bool single = job->dtype == TAPER_F32 || job->dtype == TAPER_C64, asking = job->work == NULL;
    const float rcond_single = (float)rcond;
    const void *const limit = single ? (const void *)&rcond_single : (const void *)&rcond;
    double answer[2] = {0.0, 0.0}, reals[2] = {0.0, 0.0};
    num ints[1] = {0};
    void *const work = asking ? (void *)answer : job->work, *const real_work = asking ? (void *)reals : job->real_work;
    const num *const count = asking ? &ask : &job->work_count;
    num *const int_work = asking ? ints : job->int_work;
    const taper_lapack_routine routine = job->routine;
    const char plain = 'N';
    switch (driver) {
    case TAPER_GELS:
        ((gels_any)routine)(&plain, &m, &n, &nrhs, a, &lda, b, &ldb, work, count, info, 1);
        break;
    case TAPER_GELSY:
        if (!asking) { // jpvt is zero, which allows every column to be exchanged
            memset(int_work, 0, (size_t)job->int_count * sizeof *int_work);
        }
        if (job->complex) {
            ((gelsy_complex)routine)(&m, &n, &nrhs, a, &lda, b, &ldb, int_work, limit, rank, work, count, real_work,
                                     info);
        } else {
            ((gelsy_real)routine)(&m, &n, &nrhs, a, &lda, b, &ldb, int_work, limit, rank, work, count, info);
        }
        break;
    case TAPER_GELSD:
        if (job->complex) {
            ((gelsd_complex)routine)(&m, &n, &nrhs, a, &lda, b, &ldb, s, limit, rank, work, count, real_work, int_work,
                                     info);
        } else {
            ((gelsd_real)routine)(&m, &n, &nrhs, a, &lda, b, &ldb, s, limit, rank, work, count, int_work, info);
        }
        break;
    case TAPER_GELSS:
        if (job->complex) {
            ((gelss_complex)routine)(&m, &n, &nrhs, a, &lda, b, &ldb, s, limit, rank, work, count, real_work, info);
        } else {
            ((gelss_real)routine)(&m, &n, &nrhs, a, &lda, b, &ldb, s, limit, rank, work, count, info);
        }
        break;
    }
    if (!asking) {
        return TAPER_OK;
    }
    int64_t real_count = taper_max_i64(2 * columns, 5 * taper_min_i64(rows, columns)), int_count = columns;
    if (driver == TAPER_GELSD) { // gelsd also returns the sizes of the arrays of reals and ints
        real_count = taper_max_i64(real_count, (int64_t)(single ? (double)*(const float *)reals : reals[0]) + 1);
        int_count = taper_max_i64(int_count, ints[0]);
    }
    return make_room(job, answer, job->complex ? real_count : 0, int_count);
}
