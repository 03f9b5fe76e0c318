// SPDX-License-Identifier: BSD-2-Clause
// Computes many rows of one tap for the AVX-512 VNNI entry, written with the functions of gemm_i8_tmpl.h, which is
// included before. It computes panel by panel, and for each panel all rows, in tiles of 6 by 32 or 12 by 16 sums. From
// the last product to the stored bytes a sum takes 30 cycles, which the CPU cannot overlap with the next tile's
// products by itself. The sums of a tile are therefore converted between the first products of the next tile, for which
// there are enough registers.

enum {
    ROWS_SUMS = 12, // number of registers for a tile's sums
    ROWS_UNITS = 3, // number of conversions per tile; each converts 64 sums to bytes
    MIXED = 3,      // tile type for a panel of 24 columns: 16 of each row, and 8 of two rows in one register
    // Largest number of inputs of a row. Longer rows come from the L2 cache for each tile, and tiles with more rows are
    // then faster.
    ROWS_INPUTS = 512,
    // Largest number of bytes of the rows that are multiplied with all panels. These rows stay in the L1 cache.
    ROWS_BYTES = 24 * 1024,
    ROWS_BYTES_OF_C = 64, // number of bytes of each row of C that are in the L1 cache: one line
};

// A position in the inputs of a tile's first row. rows_group moves it forward by four inputs. For windows, the tile's
// first row is `at` bytes after each tap's pointer.
typedef struct rows_source {
    const uint8_t *x;
    const uint8_t *const *tap;
    // Offset of windows in bytes; number of remaining groups of the current tap; number of groups of each tap.
    size_t at, left, groups;
} rows_source;

// Adds the products of four inputs per row. step is the number of bytes between rows of windows, or 0 if rows are
// a_step apart.
TAPER_TEMPLATE void rows_group(const size_t step, const size_t rows, const size_t nv, size_t a_step, rows_source *a,
                               const int8_t **w, S acc[ROWS_SUMS])
{
    if (step != 0 && a->left == 0) {
        a->x = *a->tap++ + a->at;
        a->left = a->groups;
    }
    const Q b = I8(load)(*w), second = nv == MIXED ? I8(twice)(*w + I8_BYTES) : I8(load)(*w + I8_BYTES * (nv - 1));
    Q x[2];
    if (nv == 2 && step == 0)
        FETCH(*w);
    *w += 4 * NR;
    TAPER_UNROLL
    for (size_t i = 0; i < rows; i++) {
        x[i % 2] = I8(four)(a->x + i * (step != 0 ? step : a_step));
        if (nv != MIXED) {
            acc[i * nv] = I8(dot)(acc[i * nv], x[i % 2], b);
            if (nv == 2)
                acc[2 * i + 1] = I8(dot)(acc[2 * i + 1], x[i % 2], second);
        } else {
            acc[i] = I8(dot)(acc[i], x[i % 2], b);
            if (i % 2 == 1 || i + 1 == rows)
                acc[8 + i / 2] = I8(dot)(acc[8 + i / 2], I8(halves)(x[0], x[i % 2]), second);
        }
    }
    a->x += 4;
    a->left--;
}

// The destination of a tile's bytes.
typedef struct rows_place {
    uint8_t *c;
    size_t c_stride;
    const float *scale;
    I8(range) range;
    __mmask16 mask; // the columns that exist in a panel of at most 16 columns
} rows_place;

// Scales 16 sums of register k: the columns of one row, or 8 columns of each of two rows.
TAPER_TEMPLATE Q rows_scaled(const size_t rows, const size_t nv, const rows_place *p, size_t k, S acc[ROWS_SUMS])
{
    if (nv == MIXED && k >= 8)
        return I8(scaled)(acc[k - 8 < (rows + 1) / 2 ? k : 8], I8(twice_scales)(p->scale + LANES));
    const size_t each = nv == MIXED ? 1 : nv, row = k / each < rows ? k / each : rows - 1;
    return I8(scaled)(acc[row * each + k % each], P(loadu_ps)(p->scale + LANES * (k % each)));
}

// Converts 64 sums to bytes and stores them. If a row does not exist, it stores the last row again.
TAPER_TEMPLATE void rows_unit(const size_t rows, const size_t nv, const rows_place *p, size_t unit, S acc[ROWS_SUMS])
{
    const Q order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    Q r[4], y;
    uint8_t *to[8];
    TAPER_UNROLL
    for (size_t k = 0; k < 4; k++)
        r[k] = rows_scaled(rows, nv, p, 4 * unit + k, acc);
    y = _mm512_permutexvar_epi32(order, I8(narrow)(r[0], r[1], r[2], r[3], p->range));
    const bool whole = nv != MIXED || unit < 2; // true if the unit has at least 16 columns of each row
    TAPER_UNROLL
    for (size_t k = 0; k < 8; k++) {
        const size_t row = (nv == 2 ? 2 : whole ? 4 : 0) * unit + k;
        to[k] = p->c + (row < rows ? row : rows - 1) * p->c_stride;
    }
    const __m128i z[4] = {_mm512_castsi512_si128(y), _mm512_extracti32x4_epi32(y, 1), _mm512_extracti32x4_epi32(y, 2),
                          _mm512_extracti32x4_epi32(y, 3)};
    if (nv == 2) {
        _mm256_storeu_si256((__m256i *)(void *)to[1], _mm512_extracti64x4_epi64(y, 1));
        _mm256_storeu_si256((__m256i *)(void *)to[0], _mm512_castsi512_si256(y));
        return;
    }
    TAPER_UNROLL
    for (size_t k = 4; k-- > 0;) {
        if (nv == 1) {
            _mm_mask_storeu_epi8(to[k], p->mask, z[k]);
        } else if (whole) {
            _mm_storeu_si128((__m128i *)(void *)to[k], z[k]);
        } else {
            if (2 * k + 1 < rows)
                _mm_storel_epi64((__m128i *)(void *)(to[2 * k + 1] + LANES), _mm_unpackhi_epi64(z[k], z[k]));
            if (2 * k < rows)
                _mm_storel_epi64((__m128i *)(void *)(to[2 * k] + LANES), z[k]);
        }
    }
}

// A series of tiles with consecutive rows, for a range of panels.
typedef struct rows_part {
    size_t row, count;      // row of the first tile; number of tiles
    size_t last;            // last row at which a tile may start; the last tile may repeat rows of the previous tile
    size_t column, columns; // first column; number of columns
} rows_part;

TAPER_TEMPLATE void rows_tiles(const size_t step, const size_t rows, const size_t nv, const taper_gemm_i8 *t,
                               const rows_part *part)
{
    // Results are bytes, which may alias anything, so the loop's parameters are copied to local variables first.
    const size_t groups = (t->kc + 3) / 4, taps = t->ks, count = part->count;
    const size_t a_step = step != 0 ? step : t->a_step, a_last = t->a_offset + part->last * a_step;
    const uint8_t *const *const a = t->a;
    const uint8_t *const x = t->a[0];
    const int8_t *panel = t->w + part->column * 4 * groups * taps;
    const int32_t *bias = t->e.bias + part->column;
    uint8_t *c = (uint8_t *)t->c + part->row * t->c_stride + part->column;
    uint8_t *c_last = (uint8_t *)t->c + part->last * t->c_stride + part->column;
    rows_place next = {.c_stride = t->c_stride,
                       .scale = t->e.scale + part->column,
                       .range = I8(range_of)(t->e.zero_point, t->e.min),
                       .mask = (__mmask16)((UINT32_C(1) << part->columns % NR) - 1)};
    rows_place before = next;
    S sums[ROWS_SUMS], done[ROWS_SUMS]; // sums of this tile; sums of the previous tile
    bool first = true;
    TAPER_UNROLL
    for (size_t j = 0; j < ROWS_SUMS; j++)
        done[j] = (S)B(setzero)();
    for (size_t left = part->columns; left > 0; left -= nv == 2 ? NR : left) {
        size_t at = t->a_offset + part->row * a_step;
        next.c = c;
        TAPER_NO_UNROLL
        for (size_t i = count; i > 0; i--) {
            rows_source from = {.x = x + at, .tap = a, .at = at, .groups = groups};
            const int8_t *w = panel;
            size_t k = groups * taps;
            TAPER_UNROLL
            for (size_t j = 0; j < ROWS_SUMS; j++)
                sums[j] = nv != MIXED ? I8(load_sums)(bias + LANES * (j % nv))
                          : j < 8     ? I8(load_sums)(bias)
                                      : I8(twice_sums)(bias + LANES);
            if (!first) {
                TAPER_UNROLL
                for (size_t u = 0; u < ROWS_UNITS; u++) {
                    rows_group(step, rows, nv, a_step, &from, &w, sums);
                    rows_unit(rows, nv, &before, u, done);
                }
                k -= ROWS_UNITS;
            }
            first = false;
            TAPER_NO_UNROLL
            for (; k > 0; k--)
                rows_group(step, rows, nv, a_step, &from, &w, sums);
            TAPER_UNROLL
            for (size_t j = 0; j < ROWS_SUMS; j++)
                done[j] = sums[j];
            before.c = next.c;
            before.scale = next.scale;
            at += rows * a_step;
            next.c += rows * next.c_stride;
            if (nv != 2 ||
                step != 0) { // the last tile begins at row `last`, and may compute rows of the previous tile again
                at = at < a_last ? at : a_last;
                next.c = next.c < c_last ? next.c : c_last;
            }
        }
        panel += groups * taps * 4 * NR;
        bias += NR;
        next.scale += NR;
        c += NR;
        c_last += NR;
    }
    TAPER_UNROLL
    for (size_t u = 0; u < ROWS_UNITS; u++)
        rows_unit(rows, nv, &before, u, done);
}

enum { WIDE_ROWS = ROWS_SUMS / 2, NARROW_ROWS = ROWS_SUMS, MIXED_ROWS = 8 };
typedef void rows_function(const taper_gemm_i8 *t, const rows_part *part);

#define ROWS_TILES(name, step, rows, nv)                                                                               \
    TAPER_INSTANCE void name##_##rows##x##nv(const taper_gemm_i8 *t, const rows_part *part)                            \
    {                                                                                                                  \
        rows_tiles(step, rows, nv, t, part);                                                                           \
    }
// Defines functions for panels of 32 columns, and for a last panel of at most 16. Each width has two functions: for the
// largest number of rows, and for one row less.
#define ROWS_FUNCTIONS(name, step)                                                                                     \
    ROWS_TILES(name, step, 6, 2)                                                                                       \
    ROWS_TILES(name, step, 5, 2)                                                                                       \
    ROWS_TILES(name, step, 12, 1)                                                                                      \
    ROWS_TILES(name, step, 11, 1)                                                                                      \
    static rows_function *const name##_tiles[] = {name##_6x2, name##_5x2, name##_12x1, name##_11x1};
ROWS_FUNCTIONS(plain, 0)
ROWS_FUNCTIONS(windows_4, 4)
ROWS_FUNCTIONS(windows_8, 8)
// Defines functions for a last panel of 24 columns.
ROWS_TILES(plain, 0, 8, MIXED)
ROWS_TILES(plain, 0, 7, MIXED)

// Computes tiles of `most` rows and of one row less, or only of `most` rows if the number of rows allows no such
// division.
static void rows_columns(const taper_gemm_i8 *t, rows_part part, size_t rows, size_t most,
                         rows_function *const tiles[2])
{
    const size_t count = (rows + most - 1) / most, over = count * most - rows;
    const size_t shorter = over <= count ? over : 0;
    part.last = part.row + rows - most;
    part.count = count - shorter;
    if (part.count > 0)
        tiles[0](t, &part);
    part.row += part.count * most;
    part.count = shorter;
    part.last++;
    if (shorter > 0)
        tiles[1](t, &part);
}

static void rows_all(const taper_gemm_i8 *t, size_t row, size_t rows, rows_function *const tiles[4])
{
    static rows_function *const mixed[] = {plain_8xMIXED, plain_7xMIXED};
    const size_t narrow = t->nc % NR, wide = t->nc - narrow;
    const rows_part rest = {.row = row, .column = wide, .columns = narrow};
    if (wide > 0)
        rows_columns(t, (rows_part){.row = row, .columns = wide}, rows, WIDE_ROWS, tiles);
    if (narrow > LANES) {
        rows_columns(t, rest, rows, MIXED_ROWS, mixed);
    } else if (narrow > 0) {
        rows_columns(t, rest, rows, NARROW_ROWS, tiles + 2);
    }
}

static int rows_are_for(const taper_gemm_i8 *t)
{
    const size_t groups = (t->kc + 3) / 4 * t->ks;
    return t->e.shift == NULL && groups >= ROWS_UNITS && t->mr >= NARROW_ROWS;
}

TAPER_TEMPLATE int windows_in_rows(const taper_gemm_i8 *job, size_t step)
{
    if (!rows_are_for(job) || job->nc % NR > LANES)
        return 0;
    rows_all(job, 0, job->mr, step == 4 ? windows_4_tiles : windows_8_tiles);
    return 1;
}

int taper_gemm_i8_rows_avx512vnni(const taper_gemm_i8 *job)
{
    const size_t tiles = (job->mr + WIDE_ROWS - 1) / WIDE_ROWS;
    // Tiles of 32 columns have six or five rows. Every number of rows from 20 on is a sum of sixes and fives; the last
    // condition declines smaller numbers that are no such sum.
    if (!rows_are_for(job) || (job->nc % NR > LANES && job->nc % NR != LANES + LANES / 2) || job->kc > ROWS_INPUTS ||
        tiles * (WIDE_ROWS - 1) > job->mr)
        return 0;
    const size_t most = ROWS_BYTES / (job->kc + ROWS_BYTES_OF_C) / WIDE_ROWS * WIDE_ROWS;
    for (size_t row = 0, rows; row < job->mr; row += rows) {
        rows = job->mr - row < most + 20 ? job->mr - row : most;
        rows_all(job, row, rows, plain_tiles);
    }
    return 1;
}
