// SPDX-License-Identifier: BSD-2-Clause
// Dense matrices of doubles, real or complex, for direct factorizations. One algorithm is used for both kinds: scalars
// are complex, with imaginary part 0 for real matrices, and inner loops are vector operations that get the kind as an
// argument. No function here allocates, fails or reads a tensor. A function returns early if the run must end; its
// caller checks this again (taper_linalg_stopped).
#ifndef TAPER_OPS_LINALG_DENSE_H
#define TAPER_OPS_LINALG_DENSE_H

#include "ops/engine/elementwise_complex.h"

typedef struct taper_dense {
    double *data; // elements; pairs of doubles if complex
    int64_t rows, columns;
    int64_t down, right; // strides from row to row and from column to column, in elements
    bool complex;
    bool single;           // true if the tensor has single precision; LU then rounds as LAPACK does
    struct taper_run *run; // run to charge, or NULL
} taper_dense;

inline double *taper_dense_at(const taper_dense *m, int64_t i, int64_t j)
{
    return m->data + (i * m->down + j * m->right) * (m->complex ? 2 : 1);
}
inline taper_c128 taper_dense_get(const taper_dense *m, int64_t i, int64_t j)
{
    const double *p = taper_dense_at(m, i, j);
    return taper_c(p[0], m->complex ? p[1] : 0.0);
}
inline void taper_dense_set(const taper_dense *m, int64_t i, int64_t j, taper_c128 value)
{
    double *p = taper_dense_at(m, i, j);
    p[0] = value.re;
    if (m->complex) {
        p[1] = value.im;
    }
}
static inline taper_dense taper_dense_turned(const taper_dense *m) // returns the transpose
{
    return (taper_dense){m->data, m->columns, m->rows, m->right, m->down, m->complex, m->single, m->run};
}
// Returns the submatrix that begins at row i and column j.
static inline taper_dense taper_dense_from(const taper_dense *m, int64_t i, int64_t j)
{
    return (taper_dense){
        taper_dense_at(m, i, j), m->rows - i, m->columns - j, m->down, m->right, m->complex, m->single, m->run};
}
// Charges the run before work on this number of elements. Returns false if the run must end.
inline bool taper_dense_goes_on(const taper_dense *m, int64_t elements)
{
    return m->run == NULL || taper_run_goes_on(m->run, (uint64_t)elements * (m->complex ? 8 : 2) + 20);
}
// Returns |re| + |im|, which LAPACK uses instead of the modulus to choose pivots.
static inline double taper_dense_modulus(taper_c128 x)
{
    return fabs(x.re) + fabs(x.im);
}
static inline taper_c128 taper_c_conj(taper_c128 a)
{
    return taper_c(a.re, -a.im);
}

// ---- vectors of n elements; strides are in elements

void taper_vector_add(bool complex, int64_t n, taper_c128 factor, const double *x, int64_t x_step, double *y,
                      int64_t y_step); // adds factor * x to y
void taper_vector_scale(bool complex, int64_t n, taper_c128 factor, double *x, int64_t step);
void taper_vector_swap(bool complex, int64_t n, double *x, int64_t x_step, double *y, int64_t y_step);
// Returns the sum of x y, or of conj(x) y.
taper_c128 taper_vector_dot(bool complex, bool conjugate, int64_t n, const double *x, int64_t x_step, const double *y,
                            int64_t y_step);
// Returns the 2-norm, without overflow.
double taper_vector_length(bool complex, int64_t n, const double *x, int64_t step);
void taper_vector_conjugate(bool complex, int64_t n, double *x, int64_t step);

// ---- matrices

void taper_dense_conjugate(const taper_dense *m);
// Sets the elements above the diagonal to 0 if `above` is set, otherwise the elements below it.
void taper_dense_clear(const taper_dense *m, bool above);
void taper_dense_identity(const taper_dense *m);
// Solves a x = b for one triangle of the square matrix a, or a' x = b if `transposed` is set. x replaces b. A zero on
// the diagonal gives infinities.
void taper_dense_triangular(const taper_dense *a, bool upper, bool transposed, bool unit, const taper_dense *b);

// Factors P a = L U in place, by rows, with min(rows, columns) pivots that count from 1, as in LAPACK's getrf. Returns
// 0, or the position (from 1) of the first zero pivot. Each step is rounded as in LAPACK, because rounding decides
// which pivots are zero.
int64_t taper_dense_lu(const taper_dense *a, int32_t *pivots);
typedef enum taper_transpose { TAPER_PLAIN, TAPER_TRANSPOSED, TAPER_ADJOINT } taper_transpose;
// Solves op(a) x = b with lu and pivots from taper_dense_lu. x replaces b. The pivots must be in range.
void taper_dense_lu_solve(const taper_dense *lu, const int32_t *pivots, taper_transpose transpose,
                          const taper_dense *b);
// Factors a = L L^H. L replaces the lower triangle, and only this triangle is read. Returns 0, or the order of the
// first minor that is not positive definite. For U^H U in the upper triangle pass the transposed matrix.
int64_t taper_dense_cholesky(const taper_dense *a);

#endif
