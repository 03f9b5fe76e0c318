// SPDX-License-Identifier: BSD-2-Clause
// The products of einsum (einsum_products.h). A product with sums is one matrix product, or a batch of them: dimensions
// that only the left operand has are rows, dimensions that only the right operand has are columns. A group of
// dimensions with one common step is used in place; other groups are copied into their order. A right operand that
// belongs to the model is the weight of a linear layer. If the weight's columns are not one group, the weight is
// several layers: [in, head, out] is one layer for each head.
#include "ops/linalg/einsum_products.h"

#include "ir/tensor.h"
#include "ops/engine/linear_rows.h"
#include "ops/engine/reduce.h"
#include "ops/engine/view_move.h"
#include "ops/math/elementwise_ops.h"

enum { DIMS = TAPER_EINSUM_DIMS };

typedef taper_einsum_operand operand;

// ---- arithmetic on operands

// Views the operand as a tensor. The tensor has the operand's dimensions that are larger than 1, in the given order.
static taper_status as_tensor(taper_error *error, const operand *o, const size_t *order, size_t count,
                              taper_tensor *twin)
{
    int64_t sizes[TAPER_MAX_RANK] = {0}, strides[TAPER_MAX_RANK] = {0};
    size_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (o->sizes[order[i]] == 1) {
            continue;
        }
        if (rank == TAPER_MAX_RANK) {
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "einsum(): an intermediate result has more than %d dimensions",
                       TAPER_MAX_RANK);
        }
        sizes[rank] = o->sizes[order[i]];
        strides[rank++] = o->strides[order[i]];
    }
    *twin = taper_tensor_twin(o->tensor, rank, sizes, strides);
    twin->offset = o->offset;
    return TAPER_OK;
}

// Makes a contiguous copy with the dimensions in the given order, which names all of them.
static taper_status copy_ordered(taper_run *run, size_t dims, const operand *from, const size_t *order, operand *to)
{
    taper_tensor twin, *copy = NULL;
    TAPER_TRY(as_tensor(run->error, from, order, dims, &twin));
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)twin.dtype, twin.rank, twin.sizes, NULL, &copy, run->error));
    const taper_status status = taper_tensor_move(run, copy, &twin);
    if (status != TAPER_OK) {
        taper_tensor_drop(copy);
        return status;
    }
    to->tensor = copy;
    to->offset = 0;
    int64_t step = 1;
    for (size_t i = dims; i-- > 0;) {
        to->sizes[order[i]] = from->sizes[order[i]];
        to->strides[order[i]] = step;
        step *= taper_max_i64(from->sizes[order[i]], 1);
    }
    return TAPER_OK;
}

taper_status taper_einsum_arrange(taper_run *run, size_t dims, operand *o, const size_t *order)
{
    int64_t step = 1, strides[DIMS];
    bool same = true;
    for (size_t i = dims; i-- > 0;) {
        const size_t d = order[i];
        strides[d] = step;
        same = same && (o->sizes[d] == 1 || o->strides[d] == step);
        step *= taper_max_i64(o->sizes[d], 1);
    }
    if (same) {
        memcpy(o->strides, strides, dims * sizeof *strides);
        return TAPER_OK;
    }
    operand copy = {0};
    TAPER_TRY(copy_ordered(run, dims, o, order, &copy));
    taper_tensor_drop(o->tensor);
    *o = copy;
    return TAPER_OK;
}

// Makes an operand with these sizes, contiguous in the given order of dimensions.
static taper_status new_operand(taper_run *run, taper_dtype dtype, size_t dims, const int64_t *sizes,
                                const size_t *order, operand *to)
{
    int64_t count = 1, step = 1;
    for (size_t i = 0; i < dims; i++) {
        if (!taper_mul_i64(count, sizes[i], &count)) {
            TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "einsum(): an intermediate result is too large");
        }
    }
    TAPER_TRY(taper_tensor_new(run->heap, dtype, 1, &count, NULL, &to->tensor, run->error));
    to->offset = 0;
    for (size_t i = dims; i-- > 0;) {
        to->sizes[order[i]] = sizes[order[i]];
        to->strides[order[i]] = step;
        step *= taper_max_i64(sizes[order[i]], 1);
    }
    return TAPER_OK;
}

taper_status taper_einsum_sum(taper_run *run, size_t dims, operand *o, const bool *summed)
{
    static const taper_op no_row;
    size_t natural[DIMS];
    taper_tensor twin;
    taper_val sums = taper_val_none();
    for (size_t i = 0; i < dims; i++) {
        natural[i] = i;
    }
    TAPER_TRY(as_tensor(run->error, o, natural, dims, &twin));
    taper_reduce r = taper_reduce_make(&twin, &taper_reduce_sum, (taper_dtype)twin.dtype);
    for (size_t i = 0, at = 0; i < dims; i++) {
        if (o->sizes[i] != 1) {
            r.over[at++] = summed[i];
        }
    }
    taper_call call = {.run = run, .op = &no_row, .rets = &sums, .ret_count = 1};
    const taper_status status = taper_reduce_run(&call, &r);
    if (status != TAPER_OK) {
        taper_val_release(sums);
        return status;
    }
    taper_tensor_drop(o->tensor);
    o->tensor = sums.as.tensor;
    o->offset = 0;
    int64_t step = 1;
    for (size_t i = dims; i-- > 0;) {
        o->sizes[i] = summed[i] ? 1 : o->sizes[i];
        o->strides[i] = step;
        step *= taper_max_i64(o->sizes[i], 1);
    }
    return TAPER_OK;
}

// ---- joining two operands

// Computes the strides of an elementwise product, if it has few enough dimensions for PyTorch's rule.
static void product_strides(size_t dims, const operand *a, const operand *b, operand *to)
{
    size_t last = dims;
    while (last > 0 && a->sizes[last - 1] == 1 && b->sizes[last - 1] == 1) {
        last--;
    }
    if (last > TAPER_MAX_RANK) {
        return;
    }
    taper_tensor x = taper_tensor_twin(a->tensor, last, a->sizes, a->strides),
                 y = taper_tensor_twin(b->tensor, last, b->sizes, b->strides);
    taper_tensor *const both[] = {&x, &y};
    taper_ew_result_strides(last, to->sizes, both, 2, (taper_dtype)a->tensor->dtype, 0, to->strides);
}

taper_status taper_einsum_multiply(taper_run *run, size_t dims, const operand *a, const operand *b, operand *to)
{
    size_t natural[DIMS];
    int64_t sizes[DIMS];
    taper_tensor target;
    for (size_t i = 0; i < dims; i++) {
        natural[i] = i;
        sizes[i] = a->sizes[i] == 1 ? b->sizes[i] : a->sizes[i];
    }
    TAPER_TRY(new_operand(run, (taper_dtype)a->tensor->dtype, dims, sizes, natural, to));
    product_strides(dims, a, b, to);
    TAPER_TRY(as_tensor(run->error, to, natural, dims, &target));
    const operand *const factors[] = {a, b};
    taper_tensor twins[2];
    taper_ew ew = taper_ew_make(&taper_ew_mul);
    for (size_t k = 0; k < 2; k++) {
        int64_t own[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
        for (size_t d = 0, at = 0; d < dims; d++) {
            if (sizes[d] != 1) {
                own[at] = factors[k]->sizes[d];
                strides[at++] = factors[k]->strides[d];
            }
        }
        twins[k] = taper_tensor_twin(factors[k]->tensor, target.rank, own, strides);
        twins[k].offset = factors[k]->offset;
        taper_ew_input_tensor(&ew, &twins[k]);
    }
    taper_call call = {.run = run};
    return taper_ew_into(&call, &ew, &target);
}

// ---- products with sums

static const void *data_of(const operand *o)
{
    return (const char *)o->tensor->storage->data + o->offset * (int64_t)taper_tensor_item(o->tensor);
}

typedef struct group {
    size_t dims[DIMS], count;
} group;

// Two operands as matrices: [both, left, sums] and [both, sums, right]. The other dimensions of an operand have size 1.
// A dimension of size 1 in both operands belongs to `right`.
typedef struct contraction {
    size_t dims;
    const operand *a, *b;
    operand *to; // result [both, left, right], contiguous
    group both, left, sums, right;
    int64_t m, n, k;
} contraction;

static void join_groups(size_t *order, const group *first, const group *second, const group *third, const group *rest)
{
    const group *const groups[] = {first, second, third, rest};
    for (size_t g = 0; g < 4; g++) {
        memcpy(order, groups[g]->dims, groups[g]->count * sizeof *order);
        order += groups[g]->count;
    }
}

// Merges dimensions, beginning with the last one and going back at most to dimension *from. Sets *from to the first
// dimension that was merged.
static void as_one(const operand *o, const group *dims, size_t *from, int64_t *size, int64_t *step)
{
    const size_t lowest = *from;
    *size = *step = 1;
    for (*from = dims->count; *from > lowest; --*from) {
        const size_t d = dims->dims[*from - 1];
        if (o->sizes[d] == 1) {
            continue;
        }
        if (*size == 1) {
            *step = o->strides[d];
        } else if (o->strides[d] != taper_wrap_mul(*size, *step)) {
            return;
        }
        *size = taper_wrap_mul(*size, o->sizes[d]);
    }
}

static bool is_one(const operand *o, const group *dims, int64_t *step)
{
    size_t from = 0;
    int64_t size;
    as_one(o, dims, &from, &size, step);
    return from == 0;
}

// Returns true if the operand can be read as a matrix without a copy, with contiguous rows or columns. *row and *column
// receive the steps from one row, and from one column, to the next.
static bool is_matrix(const operand *o, const group *rows, const group *columns, int64_t *row, int64_t *column)
{
    return is_one(o, rows, row) && is_one(o, columns, column) && (*row == 1 || *column == 1);
}

// ---- products with weights of the model

enum { MOST_PIECES = 64, SMALLEST_PIECE = 1024 };

// The right operand, divided into pieces each of which is a matrix.
typedef struct pieces {
    // Sizes and steps of one piece: `in` is the dimension that is summed, `out` is the dimension of columns.
    int64_t in, in_step, out, out_step;
    taper_gemm_batch walk; // steps in elements of a, b and the result; dimensions that are summed come first
    int64_t rights;        // number of consecutive pieces that sum over the same elements of the left operand
    size_t first_sum;      // first dimension that is summed within a piece, as an index into the contraction's sums
} pieces;

static bool cut(const contraction *c, pieces *p)
{
    size_t sums = 0, rights = 0;
    as_one(c->b, &c->sums, &sums, &p->in, &p->in_step);
    as_one(c->b, &c->right, &rights, &p->out, &p->out_step);
    p->first_sum = sums;
    p->walk.rank = 0;
    p->rights = 1;
    int64_t count = 1;
    for (size_t i = 0; i < sums + rights; i++) {
        const bool sum = i < sums;
        const size_t d = sum ? c->sums.dims[i] : c->right.dims[i - sums];
        const int64_t size = c->b->sizes[d];
        if (size == 1) {
            continue;
        }
        if (p->walk.rank == TAPER_MAX_RANK || size > MOST_PIECES || (count *= size) > MOST_PIECES) {
            return false;
        }
        p->walk.sizes[p->walk.rank] = size;
        p->walk.a[p->walk.rank] = sum ? c->a->strides[d] : 0;
        p->walk.b[p->walk.rank] = c->b->strides[d];
        p->walk.c[p->walk.rank++] = sum ? 0 : c->to->strides[d];
        p->rights *= sum ? 1 : size;
    }
    return count == 1 || p->in >= SMALLEST_PIECE / p->out;
}

// Returns true if, in the rows of the left operand, the elements that one piece sums are contiguous.
static bool has_rows(const contraction *c, const pieces *p, int64_t *row)
{
    size_t from = p->first_sum;
    int64_t size, step;
    as_one(c->a, &c->sums, &from, &size, &step);
    return from == p->first_sum && step == 1 && is_one(c->a, &c->left, row);
}

static bool is_weight(const taper_call *call, const contraction *c)
{
    const taper_pack_request request = {.tensors = {c->b->tensor}};
    int64_t row, column;
    if (call->run->portable || c->b->tensor->dtype != TAPER_F32 || c->both.count != 0 || c->m == 0 || c->n == 0 ||
        c->k == 0 || !taper_packs_keep(call, &request)) {
        return false;
    }
    // A single row is multiplied with the weight in place, if the weight's rows are contiguous.
    return c->m > 1 || !is_matrix(c->b, &c->sums, &c->right, &row, &column) || row != 1;
}

static taper_status run_pieces(taper_call *call, const contraction *c, const pieces *p, int64_t row)
{
    const int64_t count = taper_gemm_batch_count(&p->walk);
    for (int64_t i = 0; i < count; i++) {
        int64_t at_a, at_b, at_c;
        taper_gemm_batch_at(&p->walk, i, &at_a, &at_b, &at_c);
        taper_tensor weight = taper_tensor_twin(c->b->tensor, 2, (const int64_t[]){p->out, p->in},
                                                (const int64_t[]){p->out_step, p->in_step});
        weight.offset = c->b->offset + at_b;
        float *y = (float *)taper_tensor_mutable(c->to->tensor) + at_c;
        const taper_linear_rows rows = {
            .weights = {.weight = &weight, .vector = taper_vector_f32_select(call->run->cpu)},
            .rows = (size_t)c->m,
            .in = (size_t)p->in,
            .out = (size_t)p->out,
            .x = (const float *)data_of(c->a) + at_a,
            .x_step = (size_t)row,
            .add = i < p->rights ? NULL : y,
            .add_step = (size_t)c->n,
            .y = y,
            .y_step = (size_t)c->n};
        TAPER_TRY(taper_linear_rows_run(call, &rows));
    }
    return TAPER_OK;
}

// Multiplies by a weight of the model. Returns TAPER_DECLINED if the right operand is not a weight, or has many pieces.
static taper_status times_weight(taper_call *call, const contraction *c)
{
    pieces p;
    int64_t row;
    if (!is_weight(call, c) || !cut(c, &p)) {
        return TAPER_DECLINED;
    }
    if (has_rows(c, &p, &row)) {
        return run_pieces(call, c, &p, row);
    }
    contraction copied = *c;
    operand x = {0};
    size_t order[DIMS];
    join_groups(order, &c->both, &c->left, &c->sums, &c->right);
    TAPER_TRY(copy_ordered(call->run, c->dims, c->a, order, &x));
    copied.a = &x;
    const taper_status status =
        cut(&copied, &p) && has_rows(&copied, &p, &row) ? run_pieces(call, &copied, &p, row) : TAPER_DECLINED;
    taper_tensor_drop(x.tensor);
    return status;
}

// ---- products of any two operands

static taper_status times(taper_run *run, const contraction *c)
{
    // If there are too many dimensions, the copies fail with a message that says so.
    const bool few = c->both.count <= TAPER_MAX_RANK;
    size_t order[DIMS];
    operand x = {0}, y = {0};
    taper_gemm gemm = {.dtype = (taper_dtype)c->a->tensor->dtype, .m = c->m, .n = c->n, .k = c->k};
    const operand *a = c->a, *b = c->b;
    taper_status status = TAPER_OK;
    if (!few || !is_matrix(a, &c->left, &c->sums, &gemm.a_row, &gemm.a_column)) {
        join_groups(order, &c->both, &c->left, &c->sums, &c->right);
        status = copy_ordered(run, c->dims, a, order, &x);
        a = &x;
        gemm.a_row = c->k;
        gemm.a_column = 1;
    }
    if (status == TAPER_OK && (!few || !is_matrix(b, &c->sums, &c->right, &gemm.b_row, &gemm.b_column))) {
        join_groups(order, &c->both, &c->sums, &c->right, &c->left);
        status = copy_ordered(run, c->dims, b, order, &y);
        b = &y;
        gemm.b_row = c->n;
        gemm.b_column = 1;
    }
    if (status == TAPER_OK) {
        gemm.a = data_of(a);
        gemm.b = data_of(b);
        gemm.c = taper_tensor_mutable(c->to->tensor);
        gemm.c_row = c->n;
        gemm.c_column = 1;
        taper_gemm_batch batch = {.rank = c->both.count};
        for (size_t i = 0; i < batch.rank; i++) {
            const size_t d = c->both.dims[i];
            batch.sizes[i] = a->sizes[d];
            batch.a[i] = a->strides[d];
            batch.b[i] = b->strides[d];
            batch.c[i] = c->to->strides[d];
        }
        status = taper_gemm_run_batch(run, &gemm, &batch);
    }
    taper_tensor_drop(x.tensor);
    taper_tensor_drop(y.tensor);
    return status;
}

static void put(group *g, size_t dim, int64_t size, int64_t *product)
{
    g->dims[g->count++] = dim;
    *product = taper_wrap_mul(*product, size); // cannot overflow, unless there are no elements
}

taper_status taper_einsum_contract(taper_call *call, size_t dims, const operand *a, const operand *b,
                                   const bool *summed, operand *to)
{
    contraction c = {.dims = dims, .a = a, .b = b, .to = to, .m = 1, .n = 1, .k = 1};
    int64_t sizes[DIMS], batch = 1;
    for (size_t i = 0; i < dims; i++) {
        sizes[i] = summed[i] ? 1 : a->sizes[i] == 1 ? b->sizes[i] : a->sizes[i];
        if (summed[i]) {
            put(&c.sums, i, a->sizes[i], &c.k);
        } else if (a->sizes[i] != 1 && b->sizes[i] != 1) {
            put(&c.both, i, a->sizes[i], &batch);
        } else if (a->sizes[i] != 1) {
            put(&c.left, i, a->sizes[i], &c.m);
        } else {
            put(&c.right, i, b->sizes[i], &c.n);
        }
    }
    size_t order[DIMS];
    join_groups(order, &c.both, &c.left, &c.sums, &c.right);
    TAPER_TRY(new_operand(call->run, (taper_dtype)a->tensor->dtype, dims, sizes, order, to));
    const taper_status status = times_weight(call, &c);
    return status == TAPER_DECLINED ? times(call->run, &c) : status;
}
