// SPDX-License-Identifier: BSD-2-Clause
// Windows of a gemm of bytes: rows of A overlap, at a fixed distance in bytes. The last tile repeats some rows of the
// tile before it.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_WINDOWS_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_I8_WINDOWS_TMPL_H

// True if the functions of gemm_i8_rows.h computed the whole job.
#ifndef WINDOWS_IN_ROWS
#define WINDOWS_IN_ROWS(job, step) 0
#endif

// Computes a tile with the largest number of rows, MR_MAX, and stores it from t->c on. `at` is the offset of its first
// row, in bytes. If the step is constant, one pointer gives all addresses.
TAPER_TEMPLATE void window_tile(const size_t kind, const size_t step, const size_t nv, const taper_gemm_i8 *t,
                                const adding *way, size_t at, const int8_t *w, size_t column, size_t n)
{
    S acc[MR_MAX][2];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const S bias = I8(load_sums)(t->e.bias + column + LANES * j);
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++)
            acc[i][j] = bias;
    }
    const size_t groups = (t->kc + 3) / 4;
#ifdef OWN_PRODUCTS
    if (kind == BYTES) {
        add_window_bytes(step, nv, t->a, t->ks, at, groups, w, way->shift, acc);
        finish(MR_MAX, nv, t, column, n, acc);
        return;
    }
#endif
    (void)kind;
    (void)way;
    for (size_t tap = 0; tap < t->ks; tap++) {
        const uint8_t *a = t->a[tap] + at;
        TAPER_NO_UNROLL
        for (size_t k = 0; k < groups; k++, a += 4, w += 4 * NR) {
            Q b[2];
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                b[j] = I8(load)(w + I8_BYTES * j);
            TAPER_UNROLL
            for (size_t i = 0; i < MR_MAX; i++) {
                const Q x = I8(four)(a + i * step);
                TAPER_UNROLL
                for (size_t j = 0; j < nv; j++)
                    acc[i][j] = I8(dot)(acc[i][j], x, b[j]);
            }
        }
    }
    finish(MR_MAX, nv, t, column, n, acc);
}

TAPER_TEMPLATE void window_strip(const size_t kind, const size_t step, const taper_gemm_i8 *t, const adding *way,
                                 size_t at)
{
    const size_t groups = t->ks * ((t->kc + 3) / 4), panel = groups * (4 * NR) + MARK_BYTES(groups);
    const int8_t *w = t->w;
    size_t column = 0;
    for (; t->nc - column > LANES; w += panel) {
        const size_t n = t->nc - column < NR ? t->nc - column : NR;
        window_tile(kind, step, 2, t, way, at, w, column, n);
        if ((column += n) == t->nc)
            return;
    }
    window_tile(kind, step, 1, t, way, at, w, column, t->nc - column);
}

#define WINDOW_STRIP(kind, step)                                                                                       \
    TAPER_INSTANCE void window_strip_##kind##_##step(const taper_gemm_i8 *t, const adding *way, size_t at)             \
    {                                                                                                                  \
        window_strip(kind, step, t, way, at);                                                                          \
    }
#define PLAIN_WINDOWS WINDOW_STRIP(PLAIN, 4) WINDOW_STRIP(PLAIN, 8)
#ifdef OWN_PRODUCTS
#define WINDOW_STRIPS PLAIN_WINDOWS WINDOW_STRIP(BYTES, 4) WINDOW_STRIP(BYTES, 8)
#define WINDOW_NAMES window_strip_PLAIN_4, window_strip_PLAIN_8, window_strip_BYTES_4, window_strip_BYTES_8
#else
#define WINDOW_STRIPS PLAIN_WINDOWS
#define WINDOW_NAMES window_strip_PLAIN_4, window_strip_PLAIN_8
#define way_of_windows(job, step, way) PLAIN
#endif
#define GEMM_I8_WINDOWS(name)                                                                                          \
    WINDOW_STRIPS                                                                                                      \
    static void (*const window_strips[])(const taper_gemm_i8 *t, const adding *way, size_t at) = {WINDOW_NAMES};       \
    void taper_gemm_i8_windows_##name(const taper_gemm_i8 *job, size_t step)                                           \
    {                                                                                                                  \
        if (WINDOWS_IN_ROWS(job, step))                                                                                \
            return;                                                                                                    \
        adding way = {0};                                                                                              \
        const size_t kind = way_of_windows(job, step, &way);                                                           \
        for (size_t i = 0; i < job->mr && job->nc > 0; i += MR_MAX) {                                                  \
            i = i + MR_MAX > job->mr ? job->mr - MR_MAX : i;                                                           \
            taper_gemm_i8 t = *job;                                                                                    \
            const size_t from = i * job->c_stride;                                                                     \
            t.mr = MR_MAX;                                                                                             \
            t.c = job->e.shift != NULL ? (void *)((float *)job->c + from) : (void *)((uint8_t *)job->c + from);        \
            window_strips[2 * kind + step / 8](&t, &way, job->a_offset + i * step);                                    \
        }                                                                                                              \
    }

#endif
