// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with AMX: 28 rows by 32 columns in four tiles of sums, 64 k at a time (a step). Panels of
// weights have the order that the kernel of AVX-512 VNNI needs, because that kernel computes the calls that are too
// small for tiles.
//
// A row of A contains all taps of an output pixel, as a panel of weights does. If there are at most DIRECT_PANELS
// panels of weights and the rows are at equal distances, A is read in place. Otherwise up to BLOCK steps of a strip of
// rows are copied into the order of tiles, so that the steps stay in the L1 cache, and are multiplied with the panels.
// If the strip has more steps, the sums of up to WAITING panels are kept while the next steps are copied. If K is not a
// multiple of a step, the last step uses the last 64 weights of each column, and A has zeros for the k that an earlier
// step has multiplied. The sums of a panel are requantized while the tiles compute the panel after the next one,
// because by then the sums have reached the cache.
#include <stdbool.h>
#include <string.h>

#include "ops/kernels/amx_tiles.h"

#define I8_BYTES 64
#define I8_VNNI 1
#define MR_MAX 4
#include "ops/kernels/gemm_i8_avx512.h"

enum {
    MOST_ROWS = 32,   // number of rows of two tiles; the entry has 28 rows, twice the number of VNNI's kernel
    GROUP = 4,        // number of k in 32 bits
    STEP_GROUPS = 16, // number of groups of k in a step
    STEP = 64,        // number of bytes of a row of A in a step
    ROW_BYTES = 128,  // size in bytes of the weights of a group of k, for all columns
    BLOCK = 18,       // largest number of steps of A that are arranged at a time: 36 KB
    WAITING = 6, // largest number of panels whose sums are kept while the next steps of A are arranged; at least three
    DIRECT_PANELS = 2,  // largest number of panels of weights for which the rows of A are read in place
    FETCH_AHEAD = 8192, // distance of prefetches in bytes, see gemm_i8_tmpl.h
    VECTOR_ROWS = 14,   // number of rows of VNNI's kernel
    // Cycles of the configuration and of the last panel's requantization, which other work does not overlap.
    SETTING_UP = 150,
    MOVING_SUMS = 360, // cycles of storing and loading a panel's sums, which VNNI's kernel need not do; measured
    STEP_CYCLES = 64,  // cycles of the four products of a panel in a step
    SHORT_STEP = 52,   // cycles of a step with two products, each of which waits for the previous one
};

typedef struct scratch {
    _Alignas(64) uint8_t a[BLOCK][MOST_ROWS][STEP];
    _Alignas(64) int32_t sums[WAITING][MOST_ROWS][NR];
} scratch;

// Sums whose results are not written yet.
typedef struct pending {
    const int32_t *sums;
    // column: first column. count: number of columns. row: next row to write. rows: number of rows, or 0 if nothing is
    // pending.
    size_t column, count, row, rows;
} pending;

typedef struct product {
    const taper_gemm_i8 *job;
    size_t window, first; // for windows: bytes from row to row; number of the first row
    size_t groups, steps; // number of groups in K; number of steps of K, including one that is not whole
    // Numbers of bytes of A: from row to row, from row 0 to row 16, and from step to step.
    size_t a_stride, a_second, a_step;
    scratch *s;
} product;

// ---- A in the order of tiles

TAPER_TEMPLATE __mmask64 first_bytes(size_t n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

// Copies the bytes [k, k + n) of a tap to rows of tiles. `real` of these bytes exist; the others become zeros.
static void copy_piece(const product *p, size_t tap, size_t k, size_t n, size_t real, uint8_t *to)
{
    const taper_gemm_i8 *t = p->job;
    const size_t rows = t->mr, window = p->window;
    const __mmask64 store = first_bytes(n), load = first_bytes(real);
    if (window != 0) {
        const uint8_t *from = t->a[tap] + t->a_offset + p->first * window + k;
        for (size_t i = 0; i < rows; i++)
            _mm512_mask_storeu_epi8(to + STEP * i, store, _mm512_maskz_loadu_epi8(load, from + i * window));
        return;
    }
    const uint8_t *const *a = t->a + tap * t->a_tap_stride;
    const size_t offset = t->a_offset + k;
    if (n == STEP && real == STEP) {
        for (size_t i = 0; i < rows; i++)
            _mm512_store_si512(to + STEP * i, _mm512_loadu_si512(a[i] + offset));
        return;
    }
    for (size_t i = 0; i < rows; i++)
        _mm512_mask_storeu_epi8(to + STEP * i, store, _mm512_maskz_loadu_epi8(load, a[i] + offset));
}

// Copies the steps [from, to) of all rows to the start of the scratch memory.
static void bring(const product *p, size_t from, size_t to)
{
    const size_t tap_bytes = (p->job->kc + GROUP - 1) / GROUP * GROUP, all = p->groups * GROUP;
    const size_t whole = p->groups < STEP_GROUPS ? all : all / STEP * STEP, end = to == p->steps ? all : to * STEP;
    size_t at = from * STEP, tap = at / tap_bytes, k = at % tap_bytes;
    uint8_t *first = p->s->a[0][0];
    if (end > whole) // the last step has zeros for the k that an earlier step has multiplied
        memset(first + (whole / STEP - from) * sizeof p->s->a[0], 0, p->job->mr * STEP);
    for (size_t n; at < end; at += n) {
        n = STEP - at % STEP;
        n = n < tap_bytes - k ? n : tap_bytes - k;
        const size_t real = p->job->kc - k < n ? p->job->kc - k : n;
        const size_t shift = at < whole ? 0 : STEP - (all - whole);
        copy_piece(p, tap, k, n, real, first + (at / STEP - from) * sizeof p->s->a[0] + at % STEP + shift);
        k += n;
        if (k == tap_bytes) {
            k = 0;
            tap++;
        }
    }
    tiles_written();
}

// ---- results of a tile

TAPER_TEMPLATE void finish_rows(const size_t rows, const size_t nv, const taper_gemm_i8 *t, pending *w)
{
    S acc[MR_MAX][2];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const Q bias = (Q)I8(load_sums)(t->e.bias + w->column + LANES * j);
        TAPER_UNROLL
        for (size_t i = 0; i < rows; i++)
            acc[i][j] = (S)P(add_epi32)(bias, (Q)I8(load_sums)(w->sums + (w->row + i) * NR + LANES * j));
    }
    if (t->e.shift != NULL) {
        taper_gemm_i8 from = *t;
        from.c = (float *)t->c + w->row * t->c_stride;
        finish_floats(rows, nv, &from, w->column, w->count, acc);
    } else {
        finish_bytes(rows, nv, t, w->row, w->column, w->count, acc);
    }
    w->row += rows;
}

// Finishes the results of the next four rows, or of one row if fewer than four are left.
TAPER_INSTANCE void finish_some(const taper_gemm_i8 *t, pending *w)
{
    const size_t left = w->rows - w->row;
    if (left >= 4 && w->count > LANES) {
        finish_rows(4, 2, t, w);
    } else if (left >= 4) {
        finish_rows(4, 1, t, w);
    } else if (w->count > LANES) {
        finish_rows(1, 2, t, w);
    } else {
        finish_rows(1, 1, t, w);
    }
}

static void finish_all(const taper_gemm_i8 *t, pending *w)
{
    while (w->row < w->rows)
        finish_some(t, w);
}

// ---- products of panels

// Multiplies the steps [from, to) of a panel with A at a. Between the products it finishes results of an earlier panel.
TAPER_TEMPLATE void multiply(const size_t ni, const size_t nj, const product *p, size_t from, size_t to,
                             const uint8_t *a, const uint8_t *a_last, const int8_t *w, int32_t *sums, pending *before)
{
    const bool odd = to == p->steps && p->groups > STEP_GROUPS && p->groups % STEP_GROUPS != 0;
    const size_t whole = to - from - odd, each = (before->rows - before->row + 4 * (to - from) - 1) / (4 * (to - from));
    const size_t a_stride = p->a_stride, a_second = p->a_second, a_step = p->a_step;
    const int8_t *at = w + from * STEP_GROUPS * ROW_BYTES;
    TAPER_TILES_BEGIN(ni, nj, from == 0, sums);
    TAPER_NO_UNROLL
    for (size_t k = 0; k < whole; k++, a += a_step, at += STEP_GROUPS * ROW_BYTES) {
        TAPER_TILE_STEP(tile_dot_u8s8, ni, nj, a, a_second, a_stride, at);
        TAPER_UNROLL
        for (size_t i = 0; i < STEP_GROUPS * ROW_BYTES; i += 64)
            _mm_prefetch((const char *)at + FETCH_AHEAD + i, _MM_HINT_T0);
        for (size_t i = 0; i < each && before->row < before->rows; i++)
            finish_some(p->job, before);
    }
    if (odd) {
        at = w + (p->groups - STEP_GROUPS) * ROW_BYTES;
        TAPER_TILE_STEP(tile_dot_u8s8, ni, nj, a_last, sizeof p->s->a[0] / 2, STEP, at);
    }
    TAPER_TILES_STORE(ni, nj, sums);
    finish_all(p->job, before);
}

#define MULTIPLY(ni, nj)                                                                                               \
    TAPER_INSTANCE void multiply_##ni##x##nj(const product *p, size_t from, size_t to, const uint8_t *a,               \
                                             const uint8_t *a_last, const int8_t *w, int32_t *sums, pending *before)   \
    {                                                                                                                  \
        multiply(ni, nj, p, from, to, a, a_last, w, sums, before);                                                     \
    }
MULTIPLY(1, 1)
MULTIPLY(1, 2)
MULTIPLY(2, 1)
MULTIPLY(2, 2)

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Computes all panels. If `direct` is set, A is read in place, except for a step that is not whole.
static void run_panels(product *p, bool direct)
{
    const taper_gemm_i8 *t = p->job;
    const size_t panel = p->groups * ROW_BYTES, panels = (t->nc - 1) / NR + 1;
    const size_t block = direct ? p->steps : BLOCK, blocks = (p->steps - 1) / block + 1;
    const size_t together = blocks == 1 ? panels : WAITING;
    // The pending results of the last two panels.
    pending before[2] = {{NULL, 0, 0, 0, 0}, {NULL, 0, 0, 0, 0}};
    for (size_t group = 0; group < panels; group += together) {
        const size_t group_end = min(group + together, panels);
        for (size_t from = 0; from < p->steps; from += block) {
            const size_t to = min(from + block, p->steps);
            const uint8_t *a = p->s->a[0][0], *a_last = p->s->a[0][0];
            if (!direct) {
                bring(p, from, to);
                a_last = p->s->a[to - from - 1][0];
            } else {
                a = t->a[0] + t->a_offset;
                if (p->groups > STEP_GROUPS && p->groups % STEP_GROUPS != 0)
                    bring(p, to - 1, to);
            }
            for (size_t i = group; i < group_end; i++) {
                int32_t *sums = p->s->sums[i % WAITING][0];
                const size_t column = i * NR, count = min(t->nc - column, NR);
                const int8_t *w = t->w + i * panel;
                if (t->mr > 16) {
                    (count > LANES ? multiply_2x2 : multiply_2x1)(p, from, to, a, a_last, w, sums, before);
                } else {
                    (count > LANES ? multiply_1x2 : multiply_1x1)(p, from, to, a, a_last, w, sums, before);
                }
                if (to == p->steps) {
                    before[0] = before[1];
                    before[1] = (pending){sums, column, count, 0, t->mr};
                }
            }
        }
        if (blocks > 1 || group_end == panels) {
            finish_all(t, &before[0]);
            finish_all(t, &before[1]);
        }
    }
}

// Computes the job with tiles. window is the number of bytes from row to row of windows, which start at row `first`, or
// 0 if the rows are no windows.
static void run_tiles(const taper_gemm_i8 *job, size_t window, size_t first)
{
    scratch s;
    product p = {.job = job, .window = window, .first = first, .s = &s};
    p.groups = (job->kc + GROUP - 1) / GROUP * job->ks;
    p.steps = (p.groups - 1) / STEP_GROUPS + 1;
    const bool direct = window == 0 && job->ks == 1 && job->a_step != 0 && job->nc <= DIRECT_PANELS * NR;
    p.a_stride = direct ? job->a_step : STEP;
    p.a_second = 16 * p.a_stride;
    p.a_step = direct ? STEP : sizeof s.a[0];
    taper_tiles_begin(job->mr, min(p.groups, STEP_GROUPS));
    run_panels(&p, direct);
    tiles_release();
}

// ---- the functions of the entry in gemm_i8_list.inc

#if TAPER_IS_ONE(TAPER_BUILT_avx512vnni)
// Returns true if the kernel for vectors takes fewer cycles than tiles. Vectors take one cycle per 128 products. A tile
// with one column takes as long as a tile with 32.
static bool is_for_vectors(const taper_gemm_i8 *t)
{
    enum { PRODUCTS = 128, LEAST_ROWS = 3 };
    const double rows = (double)t->mr, panels = (double)((t->nc - 1) / NR + 1);
    const double groups = (double)((t->kc + GROUP - 1) / GROUP) * (double)t->ks;
    const double steps = groups > STEP_GROUPS ? groups / STEP_GROUPS : 1;
    const double vectors = panels * (rows < LEAST_ROWS ? LEAST_ROWS : rows) * groups * (GROUP * NR) / PRODUCTS;
    return vectors <
           SETTING_UP + rows * steps + panels * (steps * (rows > 16 ? STEP_CYCLES : SHORT_STEP) + MOVING_SUMS);
}

static void run_vectors(const taper_gemm_i8 *job)
{
    taper_gemm_i8 part = *job;
    const size_t strips = (job->mr - 1) / VECTOR_ROWS + 1, each = job->e.shift != NULL ? sizeof(float) : 1;
    for (size_t i = 0, first = 0; i < strips; i++, first += part.mr) {
        part.mr = job->mr / strips + (i < job->mr % strips);
        part.a = job->a + first;
        part.c = (char *)job->c + first * job->c_stride * each;
        taper_gemm_i8_14x32_avx512vnni(&part);
    }
}
#endif

// Uses the kernel for vectors if K is not larger than a step, because the kernel for vectors is then faster. Otherwise
// returns 0, with nothing done.
int taper_gemm_i8_rows_amx(const taper_gemm_i8 *job)
{
#if TAPER_IS_ONE(TAPER_BUILT_avx512vnni)
    return job->kc <= STEP && taper_gemm_i8_rows_avx512vnni(job);
#else
    (void)job;
    return 0;
#endif
}

void taper_gemm_i8_28x32_amx(const taper_gemm_i8 *job)
{
    if (job->nc == 0 || job->mr == 0)
        return;
#if TAPER_IS_ONE(TAPER_BUILT_avx512vnni)
    if (is_for_vectors(job)) {
        run_vectors(job);
        return;
    }
#endif
    run_tiles(job, 0, 0);
}

// Windows have a short K, and there are few of them. The kernel for vectors therefore computes all windows if the build
// has this kernel.
void taper_gemm_i8_windows_28x32_amx(const taper_gemm_i8 *job, size_t step)
{
#if TAPER_IS_ONE(TAPER_BUILT_avx512vnni)
    taper_gemm_i8_windows_14x32_avx512vnni(job, step);
#else
    taper_gemm_i8 part = *job;
    const size_t each = job->e.shift != NULL ? sizeof(float) : 1;
    for (size_t first = 0; first < job->mr && job->nc > 0; first += part.mr) {
        part.mr = min(job->mr - first, MOST_ROWS);
        part.c = (char *)job->c + first * job->c_stride * each;
        run_tiles(&part, step, first);
    }
#endif
}
