// SPDX-License-Identifier: BSD-2-Clause
// The blocked product for one element type. matmul_gemm.c includes this file with ELEMENT, the type, and NAME(x), a
// unique name. Sums run over blocks of KC elements of k, and the blocks' sums are added. This bounds the rounding error
// of long sums.

// Packs row panels: MR rows by k, with the MR elements of each column next to each other. Rows that do not exist are
// zeros.
static void NAME(pack_a)(ELEMENT *out, const ELEMENT *a, int64_t row, int64_t column, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < m; i += MR) {
        const int64_t rows = taper_min_i64(MR, m - i);
        for (int64_t p = 0; p < k; p++) {
            const ELEMENT *from = a + i * row + p * column;
            for (int64_t r = 0; r < rows; r++) {
                out[r] = from[r * row];
            }
            for (int64_t r = rows; r < MR; r++) {
                out[r] = 0;
            }
            out += MR;
        }
    }
}

// Packs column panels: NR columns by k, with the NR elements of each row next to each other. Columns that do not exist
// are zeros.
static void NAME(pack_b)(ELEMENT *out, const ELEMENT *b, int64_t row, int64_t column, int64_t k, int64_t n)
{
    for (int64_t j = 0; j < n; j += NR) {
        const int64_t columns = taper_min_i64(NR, n - j);
        for (int64_t p = 0; p < k; p++) {
            const ELEMENT *from = b + p * row + j * column;
            if (columns == NR && column == 1) {
                memcpy(out, from, sizeof *out * NR);
            } else {
                for (int64_t c = 0; c < columns; c++) {
                    out[c] = from[c * column];
                }
                for (int64_t c = columns; c < NR; c++) {
                    out[c] = 0;
                }
            }
            out += NR;
        }
    }
}

// Computes the product block by block, and each block tile by tile. `pack` has space for a block of `a`, followed by a
// block of `b`.
static inline void NAME(tiled)(taper_run *run, const taper_gemm *gemm, ELEMENT *pack, NAME(tile_function) * tile)
{
    const ELEMENT *a = gemm->a, *b = gemm->b;
    ELEMENT *const pack_a = pack, *const pack_b = pack + MC * KC;
    for (int64_t p = 0; p < gemm->k; p += KC) {
        const int64_t depth = taper_min_i64(KC, gemm->k - p);
        const bool add = gemm->add || p > 0;
        for (int64_t j = 0; j < gemm->n; j += NC) {
            const int64_t columns = taper_min_i64(NC, gemm->n - j);
            NAME(pack_b)(pack_b, b + p * gemm->b_row + j * gemm->b_column, gemm->b_row, gemm->b_column, depth, columns);
            for (int64_t i = 0; i < gemm->m; i += MC) {
                const int64_t rows = taper_min_i64(MC, gemm->m - i);
                if (!taper_run_goes_on(run, (uint64_t)(taper_max_i64(rows, 2 * MR) * columns * depth))) {
                    return;
                }
                NAME(pack_a)
                (pack_a, a + i * gemm->a_row + p * gemm->a_column, gemm->a_row, gemm->a_column, rows, depth);
                for (int64_t jj = 0; jj < columns; jj += NR) {
                    for (int64_t ii = 0; ii < rows; ii += MR) {
                        ELEMENT sums[MR * NR];
                        tile(pack_a + ii * depth, pack_b + jj * depth, depth, sums);
                        const int64_t tile_rows = taper_min_i64(MR, rows - ii),
                                      tile_columns = taper_min_i64(NR, columns - jj);
                        ELEMENT *c = (ELEMENT *)gemm->c + (i + ii) * gemm->c_row + (j + jj) * gemm->c_column;
                        for (int64_t r = 0; r < tile_rows; r++) {
                            ELEMENT *to = c + r * gemm->c_row;
                            const ELEMENT *from = sums + r * NR;
                            if (add) {
                                for (int64_t s = 0; s < tile_columns; s++) {
                                    to[s * gemm->c_column] += from[s];
                                }
                            } else {
                                for (int64_t s = 0; s < tile_columns; s++) {
                                    to[s * gemm->c_column] = from[s];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

static ELEMENT NAME(dot)(taper_run *run, const ELEMENT *a, int64_t a_step, const ELEMENT *b, int64_t b_step, int64_t k)
{
    ELEMENT total = 0;
    for (int64_t p = 0; p < k && (p == 0 || taper_run_goes_on(run, 2 * KC)); p += KC) {
        const int64_t depth = taper_min_i64(KC, k - p);
        const ELEMENT *x = a + p * a_step, *y = b + p * b_step;
        ELEMENT part[NR] = {0};
        int64_t i = 0;
        if (a_step == 1 && b_step == 1) {
            for (; i + NR <= depth; i += NR) {
                for (int c = 0; c < NR; c++) {
                    part[c] += x[i + c] * y[i + c];
                }
            }
        }
        ELEMENT sum = 0;
        for (; i < depth; i++) {
            sum += x[i * a_step] * y[i * b_step];
        }
        for (int c = 0; c < NR; c++) {
            sum += part[c];
        }
        total += sum;
    }
    return total;
}

// Computes one row of c as a sum of rows of b. The elements of a row of b are contiguous.
static void NAME(row)(taper_run *run, const taper_gemm *gemm, const ELEMENT *a, ELEMENT *c)
{
    const ELEMENT *b = gemm->b;
    for (int64_t j = 0; j < gemm->n; j += 4 * NR) {
        if (!taper_run_goes_on(run, (uint64_t)(4 * NR * (taper_min_i64(gemm->k, KC) + 4)))) {
            return;
        }
        const int64_t columns = taper_min_i64(4 * NR, gemm->n - j);
        ELEMENT total[4 * NR] = {0};
        for (int64_t p = 0; p < gemm->k && (p == 0 || taper_run_goes_on(run, 4 * NR * KC)); p += KC) {
            const int64_t end = taper_min_i64(p + KC, gemm->k);
            ELEMENT part[4 * NR] = {0};
            for (int64_t q = p; q < end; q++) {
                const ELEMENT x = a[q * gemm->a_column];
                const ELEMENT *y = b + q * gemm->b_row + j;
                if (columns == 4 * NR) {
                    for (int s = 0; s < 4 * NR; s++) {
                        part[s] += x * y[s];
                    }
                } else {
                    for (int64_t s = 0; s < columns; s++) {
                        part[s] += x * y[s];
                    }
                }
            }
            for (int s = 0; s < 4 * NR; s++) {
                total[s] += part[s];
            }
        }
        for (int64_t s = 0; s < columns; s++) {
            ELEMENT *to = c + (j + s) * gemm->c_column;
            *to = gemm->add ? *to + total[s] : total[s];
        }
    }
}

// Computes the product without packing, for few rows or little work.
static void NAME(simple)(taper_run *run, const taper_gemm *gemm)
{
    const ELEMENT *b = gemm->b;
    for (int64_t i = 0; i < gemm->m; i++) {
        const ELEMENT *a = (const ELEMENT *)gemm->a + i * gemm->a_row;
        ELEMENT *c = (ELEMENT *)gemm->c + i * gemm->c_row;
        if (gemm->b_column == 1 && gemm->n > 1) {
            NAME(row)(run, gemm, a, c);
            continue;
        }
        for (int64_t j = 0; j < gemm->n && taper_run_step(run, j, (uint64_t)(3 * taper_min_i64(gemm->k, KC) + 10));
             j++) {
            const ELEMENT sum = NAME(dot)(run, a, gemm->a_column, b + j * gemm->b_column, gemm->b_row, gemm->k);
            ELEMENT *to = c + j * gemm->c_column;
            *to = gemm->add ? *to + sum : sum;
        }
    }
}
