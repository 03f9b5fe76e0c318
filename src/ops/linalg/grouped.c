// SPDX-License-Identifier: BSD-2-Clause
// Products of groups of matrices. A 3-D factor contains one matrix per group, all of one size. A 2-D factor contains
// the groups' matrices one after the other; offsets say where each group ends.
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

typedef struct grouping {
    taper_tensor *a, *b; // factors in the working dtype
    const taper_tensor *ends;
    int64_t groups, m, n, k;
    // True if the factor is a matrix. Groups divide k if both factors are matrices, m if only `a` is a matrix, n if
    // only `b` is a matrix.
    bool flat_a, flat_b;
} grouping;

static taper_status measure(const taper_call *call, grouping *g)
{
    const taper_tensor *a = g->a, *b = g->b;
    const bool fits = a->rank >= 2 && a->rank <= 3 && b->rank >= 2 && b->rank <= 3;
    if (!fits || a->dtype != b->dtype || !taper_dtype_is_float((taper_dtype)a->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "matrices, or 3D tensors, of one floating-point dtype are needed, not %s of sizes %s and %s of "
                   "sizes %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), TAPER_SHAPE(a),
                   taper_dtype_torch_name((taper_dtype)b->dtype), TAPER_SHAPE(b));
    }
    g->flat_a = a->rank == 2;
    g->flat_b = b->rank == 2;
    g->m = a->sizes[a->rank - 2];
    g->k = a->sizes[a->rank - 1];
    g->n = b->sizes[b->rank - 1];
    if ((g->flat_a || g->flat_b) != (g->ends != NULL)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "offsets are needed where one factor is a matrix, and only there");
    }
    const bool ends =
        g->ends == NULL || (g->ends->rank == 1 && (g->ends->dtype == TAPER_I32 || g->ends->dtype == TAPER_I64));
    if (!ends) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the offsets must be a vector of integers");
    }
    g->groups = g->ends != NULL ? g->ends->sizes[0] : a->sizes[0];
    if (g->k != b->sizes[b->rank - 2] || (!g->flat_a && a->sizes[0] != g->groups) ||
        (!g->flat_b && b->sizes[0] != g->groups)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%lld groups of sizes %s and %s cannot be multiplied",
                   (long long)g->groups, TAPER_SHAPE(a), TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

// Views one matrix of a tensor, or `count` rows (dim 0) or columns (dim 1) of a matrix, beginning with number `from`.
static taper_tensor piece(const taper_tensor *t, int64_t group, size_t dim, int64_t from, int64_t count)
{
    const size_t skip = t->rank - 2u;
    taper_tensor twin = taper_tensor_twin(t, 2, t->sizes + skip, t->strides + skip);
    if (skip != 0) {
        twin.offset += group * t->strides[0];
    } else {
        twin.offset += from * twin.strides[dim];
        twin.sizes[dim] = count;
    }
    return twin;
}

static taper_status multiply(taper_run *run, const grouping *g, taper_tensor *c)
{
    const int64_t most = g->flat_a && g->flat_b ? g->k : g->flat_a ? g->m : g->n;
    int64_t from = 0;
    for (int64_t i = 0; i < g->groups; i++) {
        int64_t end = 0;
        TAPER_TRY(taper_run_spend(run, 50));
        if (g->ends != NULL) {
            end = taper_load_int((taper_dtype)g->ends->dtype, taper_tensor_data(g->ends), i * g->ends->strides[0]);
            if (end < from || end > most) {
                TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                           "group %lld ends at %lld, which is not within %lld and %lld", (long long)i, (long long)end,
                           (long long)from, (long long)most);
            }
        }
        const taper_tensor a = piece(g->a, i, g->flat_b ? 1 : 0, from, end - from);
        const taper_tensor b = piece(g->b, i, g->flat_a ? 0 : 1, from, end - from);
        taper_tensor into = piece(c, i, g->flat_a ? 0 : 1, from, end - from);
        if (a.sizes[1] != 0 && taper_tensor_numel(&into) != 0) {
            TAPER_TRY(taper_product_into(run, &a, &b, &into));
        }
        from = end;
    }
    return TAPER_OK;
}

// Sets the result. If `padded` is set, its rows start at multiples of 16 bytes, as in PyTorch.
static taper_status give(taper_call *call, taper_tensor *c, taper_dtype dtype, bool padded)
{
    enum { BYTES = 16 };
    const int64_t each = padded ? BYTES / (int64_t)taper_dtype_size(dtype) : 1, n = c->sizes[c->rank - 1u];
    if (n % each == 0) {
        return taper_ret_cast(call, 0, taper_tensor_keep(c), dtype);
    }
    int64_t strides[3] = {0};
    taper_tensor *result;
    strides[c->rank - 1u] = 1;
    strides[c->rank - 2u] = n + each - n % each;
    if (c->rank == 3) {
        strides[0] = strides[1] * c->sizes[1]; // cannot overflow, because PyTorch's result has the same size
    }
    TAPER_TRY(taper_ret_new(call, 0, dtype, c->rank, c->sizes, strides, &result));
    return taper_run_copy(call->run, result, c);
}

TAPER_KERNEL(taper_op_grouped_mm)
{
    const bool fallback = call->arg_count == 3; // true for the operator of the transformers package
    taper_run *run = call->run;
    taper_tensor *a, *b, *ends, *c = NULL, *bias = NULL;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    TAPER_TRY(taper_arg_tensor_or_none(call, 2, &ends));
    TAPER_TRY(fallback ? TAPER_OK : taper_arg_tensor_or_none(call, 3, &bias));
    TAPER_TRY(taper_arg_dtype_or(call, 4, (taper_dtype)a->dtype, &dtype));
    grouping g = {.a = a, .b = b, .ends = ends};
    TAPER_TRY(measure(call, &g));
    if (bias != NULL || dtype != (taper_dtype)a->dtype) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "a bias or another dtype of the result is not supported");
    }
    const bool many = g.flat_a == g.flat_b;
    const int64_t sizes[] = {g.groups, g.m, g.n};
    const taper_dtype work = taper_work_dtype(dtype);
    taper_status status = taper_tensor_cast(run, a, work, &g.a);
    g.b = NULL;
    if (status == TAPER_OK) {
        status = taper_tensor_cast(run, b, work, &g.b);
    } else {
        g.a = NULL;
    }
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, work, many ? 3 : 2, many ? sizes : sizes + 1, &c);
    }
    if (status == TAPER_OK) {
        status = multiply(run, &g, c);
    }
    if (status == TAPER_OK) {
        status = give(call, c, dtype, !fallback);
    }
    taper_tensor_drop(c);
    taper_tensor_drop(g.a);
    taper_tensor_drop(g.b);
    return status;
}
