// SPDX-License-Identifier: BSD-2-Clause
// The product of some rows with a panel of eight columns, of native.h. Rows are computed four at a time, so that the
// sums stay in registers. Vectors are written out, because compilers keep the sums in memory if they vectorize loops.

#if defined(__AVX512F__)
#include <immintrin.h>
typedef __m512d lanes_f64;
typedef __m256 lanes_f32;
#define FUSED_f64(x, b, sum) _mm512_fmadd_pd(_mm512_set1_pd(x), b, sum)
#define FUSED_f32(x, b, sum) _mm256_fmadd_ps(_mm256_set1_ps(x), b, sum)
#elif defined(__FMA__)
#include <immintrin.h>
typedef __m256d lanes_f64;
typedef __m256 lanes_f32;
#define FUSED_f64(x, b, sum) _mm256_fmadd_pd(_mm256_set1_pd(x), b, sum)
#define FUSED_f32(x, b, sum) _mm256_fmadd_ps(_mm256_set1_ps(x), b, sum)
#elif defined(__aarch64__)
#include <arm_neon.h>
typedef float64x2_t lanes_f64;
typedef float32x4_t lanes_f32;
#define FUSED_f64(x, b, sum) vfmaq_n_f64(sum, b, x)
#define FUSED_f32(x, b, sum) vfmaq_n_f32(sum, b, x)
#else
typedef double lanes_f64 __attribute__((vector_size(16)));
typedef float lanes_f32 __attribute__((vector_size(16)));
#define FUSED_f64(x, b, sum) ((x) * (b) + (sum))
#define FUSED_f32(x, b, sum) ((x) * (b) + (sum))
#endif

// Writes `columns` sums of a row, or adds them. The copies have constant sizes, so that they are moves of vectors.
#define PUT_BLOCK(name, T)                                                                                             \
    TAPER_INSTANCE void put_##name(const T *sums, size_t columns, T *c, bool add)                                      \
    {                                                                                                                  \
        if (add) {                                                                                                     \
            for (size_t j = 0; j < columns; j++) {                                                                     \
                c[j] += sums[j];                                                                                       \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        if ((columns & 4) != 0) {                                                                                      \
            memcpy(c, sums, 4 * sizeof *c);                                                                            \
            c += 4;                                                                                                    \
            sums += 4;                                                                                                 \
        }                                                                                                              \
        if ((columns & 2) != 0) {                                                                                      \
            memcpy(c, sums, 2 * sizeof *c);                                                                            \
            c += 2;                                                                                                    \
            sums += 2;                                                                                                 \
        }                                                                                                              \
        if ((columns & 1) != 0) {                                                                                      \
            *c = *sums;                                                                                                \
        }                                                                                                              \
    }

// Defines block_rows_<name>, which computes `rows` rows. `rows` is a constant in each call.
#define BLOCK_ROWS(name, T)                                                                                            \
    TAPER_TEMPLATE void block_rows_##name(const int rows, size_t columns, size_t k, const T *a, int64_t a_row,         \
                                          int64_t a_column, const T *panel, T *c, int64_t c_row, bool add)             \
    {                                                                                                                  \
        enum { PARTS = TAPER_BLOCK_COLUMNS * sizeof(T) / sizeof(lanes_##name) };                                       \
        lanes_##name sums[4][PARTS], b[PARTS];                                                                         \
        TAPER_UNROLL for (int r = 0; r < rows; r++)                                                                    \
        {                                                                                                              \
            TAPER_UNROLL for (size_t v = 0; v < PARTS; v++)                                                            \
            {                                                                                                          \
                sums[r][v] = (lanes_##name){0};                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (size_t p = 0; p < k; p++, a += a_column, panel += TAPER_BLOCK_COLUMNS) {                                  \
            TAPER_UNROLL for (size_t v = 0; v < PARTS; v++)                                                            \
            {                                                                                                          \
                memcpy(&b[v], panel + v * (sizeof b[v] / sizeof(T)), sizeof b[v]);                                     \
            }                                                                                                          \
            TAPER_UNROLL for (int r = 0; r < rows; r++)                                                                \
            {                                                                                                          \
                TAPER_UNROLL for (size_t v = 0; v < PARTS; v++)                                                        \
                {                                                                                                      \
                    sums[r][v] = FUSED_##name(a[r * a_row], b[v], sums[r][v]);                                         \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        TAPER_UNROLL for (int r = 0; r < rows; r++, c += c_row)                                                        \
        {                                                                                                              \
            if (columns == TAPER_BLOCK_COLUMNS && !add) {                                                              \
                TAPER_UNROLL for (size_t v = 0; v < PARTS; v++)                                                        \
                {                                                                                                      \
                    memcpy(c + v * (sizeof b[v] / sizeof(T)), &sums[r][v], sizeof b[v]);                               \
                }                                                                                                      \
            } else {                                                                                                   \
                T row[TAPER_BLOCK_COLUMNS];                                                                            \
                TAPER_UNROLL for (size_t v = 0; v < PARTS; v++)                                                        \
                {                                                                                                      \
                    memcpy(row + v * (sizeof b[v] / sizeof(T)), &sums[r][v], sizeof b[v]);                             \
                }                                                                                                      \
                put_##name(row, columns, c, add);                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define BLOCK(name, T)                                                                                                 \
    PUT_BLOCK(name, T)                                                                                                 \
    BLOCK_ROWS(name, T)                                                                                                \
    static void product_##name(size_t rows, size_t columns, size_t k, const T *a, int64_t a_row, int64_t a_column,     \
                               const T *panel, T *c, int64_t c_row, bool add)                                          \
    {                                                                                                                  \
        for (; rows >= 4; rows -= 4, a += 4 * a_row, c += 4 * c_row) {                                                 \
            block_rows_##name(4, columns, k, a, a_row, a_column, panel, c, c_row, add);                                \
        }                                                                                                              \
        for (; rows > 0; rows--, a += a_row, c += c_row) {                                                             \
            block_rows_##name(1, columns, k, a, a_row, a_column, panel, c, c_row, add);                                \
        }                                                                                                              \
    }
BLOCK(f32, float)
BLOCK(f64, double)
#undef BLOCK
#undef BLOCK_ROWS
#undef PUT_BLOCK
#undef FUSED_f32
#undef FUSED_f64
