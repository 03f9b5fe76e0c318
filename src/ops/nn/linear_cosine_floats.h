// SPDX-License-Identifier: BSD-2-Clause
// Part of linear_cosine.c: cosines of float tensors that are read in place. Either the reduced dimension has stride 1,
// or the last of the other dimensions has.
#ifndef TAPER_OPS_NN_LINEAR_COSINE_FLOATS_H
#define TAPER_OPS_NN_LINEAR_COSINE_FLOATS_H

COSINE(cosine_floats, float)

// TILE: number of neighbouring lines that are computed together. ADDED: number of floats that one accumulator of a
// kernel adds. ROWS: number of elements of each line that one kernel call adds.
enum { TILE = 256, ADDED = 64, ROWS = 64 };

typedef struct float_pair {
    const taper_vector_entry *vector;
    const float *a, *b;
    int64_t n, step_a, step_b; // size and steps of the reduced dimension, in elements
    double eps;
    size_t rank; // rank and steps of the other dimensions
    int64_t sizes[TAPER_MAX_RANK], steps_a[TAPER_MAX_RANK], steps_b[TAPER_MAX_RANK];
    int64_t inner; // size of the dimension whose elements are neighbours, or 1
    float *to;
} float_pair;

// Returns the cosine from the sums, or computes it in doubles if floats cannot represent the sums.
static float from_sums(const float_pair *p, const float *a, const float *b, double aa, double bb, double ab)
{
    const double least = 1e-30, most = 1e30;
    if (!(aa > least && aa < most && bb > least && bb < most)) {
        return (float)cosine_floats(a, p->step_a, b, p->step_b, p->n, p->eps);
    }
    const double na = fmax(sqrt(aa), p->eps), nb = fmax(sqrt(bb), p->eps);
    return (float)(ab / (na * nb));
}

static void place(const float_pair *p, size_t at, size_t from, const float **a, const float **b)
{
    *a = p->a;
    *b = p->b;
    for (size_t d = from; d-- > 0;) {
        const int64_t i = (int64_t)(at % (size_t)p->sizes[d]);
        at /= (size_t)p->sizes[d];
        *a += i * p->steps_a[d];
        *b += i * p->steps_b[d];
    }
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    const float_pair *p = argument;
    const taper_vector_entry *v = p->vector;
    const int64_t block = (int64_t)v->lanes * ADDED;
    for (size_t i = begin; i < end; i++) {
        const float *a, *b;
        double aa = 0, bb = 0, ab = 0;
        place(p, i, p->rank, &a, &b);
        for (int64_t at = 0; at < p->n; at += block) {
            const size_t n = (size_t)taper_min_i64(block, p->n - at);
            float dot;
            v->gemv(1, n, a + at, b + at, n, NULL, &dot, -INFINITY, INFINITY);
            ab += (double)dot;
            aa += (double)v->fold[TAPER_REDUCTION_SQUARES](n, a + at);
            bb += (double)v->fold[TAPER_REDUCTION_SQUARES](n, b + at);
        }
        p->to[i] = from_sums(p, a, b, aa, bb, ab);
    }
}

// Computes the cosines of m neighbouring lines, whose first elements are at `a` and `b`.
static void run_tile(const float_pair *p, const float *a, const float *b, size_t m, float *to)
{
    taper_binary_f32_function *const mul = p->vector->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VV],
                                     *const add = p->vector->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV];
    double sums[3][TILE] = {{0}};
    for (int64_t r = 0; r < p->n; r += ROWS) {
        float part[3][TILE] = {{0}}, product[TILE];
        const size_t rows = (size_t)taper_min_i64(ROWS, p->n - r);
        const float *x = a + r * p->step_a, *y = b + r * p->step_b;
        p->vector->fold_rows[TAPER_REDUCTION_SQUARES](rows, m, x, (size_t)p->step_a, part[0]);
        p->vector->fold_rows[TAPER_REDUCTION_SQUARES](rows, m, y, (size_t)p->step_b, part[1]);
        for (size_t i = 0; i < rows; i++) {
            mul(m, x, y, product, -INFINITY, INFINITY);
            add(m, part[2], product, part[2], -INFINITY, INFINITY);
            x += p->step_a;
            y += p->step_b;
        }
        for (size_t k = 0; k < 3; k++) {
            for (size_t c = 0; c < m; c++) {
                sums[k][c] += (double)part[k][c];
            }
        }
    }
    for (size_t c = 0; c < m; c++) {
        to[c] = from_sums(p, a + c, b + c, sums[0][c], sums[1][c], sums[2][c]);
    }
}

static void tiles_range(void *argument, size_t begin, size_t end)
{
    const float_pair *p = argument;
    const size_t tiles = (size_t)(p->inner - 1) / TILE + 1;
    for (size_t i = begin; i < end; i++) {
        const float *a, *b;
        const size_t line = i / tiles, first = i % tiles * TILE;
        place(p, line, p->rank - 1, &a, &b);
        run_tile(p, a + first, b + first, taper_min_size(TILE, (size_t)p->inner - first),
                 p->to + line * (size_t)p->inner + first);
    }
}

static taper_status ret_floats(taper_call *call, const row_pair *pair, size_t dim, double eps, bool *done)
{
    taper_tensor *a, *b;
    int64_t steps_a[TAPER_MAX_RANK], steps_b[TAPER_MAX_RANK];
    *done = false;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    if (call->run->portable || pair->rank == 0 || a->dtype != TAPER_F32 || b->dtype != TAPER_F32) {
        return TAPER_OK;
    }
    (void)taper_broadcast_strides(a, pair->rank, pair->sizes, steps_a);
    (void)taper_broadcast_strides(b, pair->rank, pair->sizes, steps_b);
    float_pair p = {.vector = taper_vector_f32_select(call->run->cpu),
                    .a = taper_tensor_data(a),
                    .b = taper_tensor_data(b),
                    .n = pair->sizes[dim],
                    .step_a = steps_a[dim],
                    .step_b = steps_b[dim],
                    .eps = eps};
    size_t count = 1;
    for (size_t d = 0; d < pair->rank; d++) {
        if (d != dim) {
            p.sizes[p.rank] = pair->sizes[d];
            p.steps_a[p.rank] = steps_a[d];
            p.steps_b[p.rank++] = steps_b[d];
            count *= (size_t)pair->sizes[d]; // the product is at most the number of elements, so it cannot overflow
        }
    }
    const bool rows = p.step_a == 1 && p.step_b == 1;
    const bool tiles = p.rank > 0 && p.steps_a[p.rank - 1] == 1 && p.steps_b[p.rank - 1] == 1;
    if (!rows && !tiles) {
        return TAPER_OK;
    }
    taper_tensor *out;
    *done = true;
    TAPER_TRY(new_rows(call, pair, dim, TAPER_F32, &out));
    p.to = taper_tensor_mutable(out);
    p.inner = tiles ? p.sizes[p.rank - 1] : 1;
    taper_status status = TAPER_OK;
    if (count != 0) {
        const double work = 3 * (double)p.n + 16;
        status = rows ? taper_run_floats(call->run, rows_range, &p, count, work)
                      : taper_run_floats(call->run, tiles_range, &p,
                                         count / (size_t)p.inner * ((size_t)(p.inner - 1) / TILE + 1),
                                         2 * work * (double)taper_min_i64(p.inner, TILE));
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_cast(call, 0, out, TAPER_F32);
}

#endif
