// SPDX-License-Identifier: BSD-2-Clause
// The cosine of the angle between rows, along any dimension. Floats are added as such, some thousands of them; others
// in double.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

// Both operands broadcast, as contiguous doubles with the reduced dimension last.
typedef struct row_pair {
    taper_tensor *a, *b;
    taper_dtype dtype;
    size_t rank; // of the broadcast operands
    int64_t sizes[TAPER_MAX_RANK];
} row_pair;

static taper_status make_pair(taper_call *call, row_pair *pair)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    taper_promotion promotion = taper_promotion_start();
    taper_promotion_tensor(&promotion, a);
    taper_promotion_tensor(&promotion, b);
    pair->dtype = taper_promotion_result(&promotion);
    if (taper_dtype_is_complex(pair->dtype) || taper_dtype_is_quantized(pair->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name(pair->dtype));
    }
    if (!taper_broadcast_shapes(a->rank, a->sizes, b->rank, b->sizes, &pair->rank, pair->sizes)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "sizes %s and %s do not fit together", TAPER_SHAPE(a),
                   TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

static taper_status copy_pair(taper_call *call, row_pair *pair, size_t dim)
{
    for (size_t i = 0; i < 2; i++) {
        taper_tensor *from, **to = i == 0 ? &pair->a : &pair->b;
        int64_t strides[TAPER_MAX_RANK] = {0}, sizes[TAPER_MAX_RANK] = {0}, turned[TAPER_MAX_RANK] = {0};
        TAPER_TRY(taper_arg_tensor(call, i, &from));
        (void)taper_broadcast_strides(from, pair->rank, pair->sizes, strides);
        size_t at = 0;
        for (size_t d = 0; d < pair->rank; d++) {
            if (d != dim) {
                sizes[at] = pair->sizes[d];
                turned[at++] = strides[d];
            }
        }
        if (pair->rank != 0) {
            sizes[at] = pair->sizes[dim];
            turned[at] = strides[dim];
        }
        const taper_tensor twin = taper_tensor_twin(from, pair->rank, sizes, turned);
        TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_F64, twin.rank, twin.sizes, NULL, to, call->run->error));
        TAPER_TRY(taper_run_copy(call->run, *to, &twin));
    }
    return TAPER_OK;
}

// The result without the reduced dimension.
static taper_status new_rows(taper_call *call, const row_pair *pair, size_t dim, taper_dtype dtype, taper_tensor **out)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < pair->rank; d++) {
        if (d != dim) {
            sizes[rank++] = pair->sizes[d];
        }
    }
    return taper_tensor_new(call->run->heap, dtype, rank, sizes, NULL, out, call->run->error);
}

// Of n elements, `step_a` and `step_b` apart.
#define COSINE(name, type)                                                                                             \
    static double name(const type *a, int64_t step_a, const type *b, int64_t step_b, int64_t n, double eps)            \
    {                                                                                                                  \
        double aa = 0.0, bb = 0.0, ab = 0.0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            aa += (double)a[i * step_a] * (double)a[i * step_a];                                                       \
            bb += (double)b[i * step_b] * (double)b[i * step_b];                                                       \
        }                                                                                                              \
        const double na = sqrt(aa) < eps ? eps : sqrt(aa), nb = sqrt(bb) < eps ? eps : sqrt(bb);                       \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            ab += (double)a[i * step_a] / na * ((double)b[i * step_b] / nb);                                           \
        }                                                                                                              \
        return ab;                                                                                                     \
    }
COSINE(cosine_doubles, double)
COSINE(cosine_floats, float)

static taper_status ret_rows(taper_call *call, row_pair *pair, size_t dim, double eps)
{
    taper_tensor *out = NULL;
    taper_status status = copy_pair(call, pair, dim);
    if (status == TAPER_OK) {
        status = new_rows(call, pair, dim, TAPER_F64, &out);
    }
    if (status == TAPER_OK) {
        const int64_t n = pair->rank == 0 ? 1 : pair->sizes[dim], count = taper_tensor_numel(out);
        const double *a = taper_tensor_data(pair->a), *b = taper_tensor_data(pair->b);
        double *to = taper_tensor_mutable(out);
        for (int64_t i = 0; i < count && taper_run_goes_on(call->run, (uint64_t)n * 8 + 40); i++) {
            to[i] = cosine_doubles(a + i * n, 1, b + i * n, 1, n, eps);
        }
    }
    taper_tensor_drop(pair->a);
    taper_tensor_drop(pair->b);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_cast(call, 0, out, taper_dtype_to_float(pair->dtype));
}

// ---- floats where they lie: rows of them, or rows of neighbours

enum { TILE = 256, ADDED = 64, ROWS = 64 }; // an accumulator of a kernel adds up 64 floats

typedef struct float_pair {
    const taper_vector_entry *vector;
    const float *a, *b;
    int64_t n, step_a, step_b; // of the reduced dimension
    double eps;
    size_t rank; // of the other dimensions
    int64_t sizes[TAPER_MAX_RANK], steps_a[TAPER_MAX_RANK], steps_b[TAPER_MAX_RANK];
    int64_t inner; // neighbours, if that is how they lie
    float *to;
} float_pair;

// From the sums, unless floats do not hold them.
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

// m neighbours at a and b.
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
    if (TAPER_SMALL || call->run->portable || pair->rank == 0 || a->dtype != TAPER_F32 || b->dtype != TAPER_F32) {
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
            count *= (size_t)pair->sizes[d]; // at most the number of elements
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

TAPER_KERNEL(taper_op_cosine_similarity)
{
    row_pair pair = {0};
    size_t dim = 0;
    double eps;
    TAPER_TRY(make_pair(call, &pair));
    TAPER_TRY(taper_arg_dim(call, 2, pair.rank, &dim));
    TAPER_TRY(taper_arg_double(call, 3, &eps));
    if (!taper_dtype_is_float(pair.dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "expected common dtype to be floating point, yet common dtype is %s",
                   taper_dtype_torch_name(pair.dtype));
    }
    bool done;
    TAPER_TRY(ret_floats(call, &pair, dim, eps, &done));
    return done ? TAPER_OK : ret_rows(call, &pair, dim, eps);
}
