// SPDX-License-Identifier: BSD-2-Clause
// Operators that consist of several products: tensordot, multi_dot, chain_matmul and bilinear.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

// ---- tensordot

typedef struct side {
    taper_tensor *tensor, *copy;
    int64_t dims[TAPER_MAX_RANK]; // contracted dimensions, as indices from 0
    bool taken[TAPER_MAX_RANK];
    int64_t free; // product of the sizes of the dimensions that are not contracted
} side;

static taper_status read_side(const taper_call *call, size_t at, size_t *count, side *s)
{
    TAPER_TRY(taper_arg_tensor(call, at, &s->tensor));
    TAPER_TRY(taper_arg_ints(call, at + 2, 0, TAPER_MAX_RANK, s->dims, count));
    s->free = 1;
    for (size_t i = 0; i < *count; i++) {
        const int64_t dim = s->dims[i] < 0 ? s->dims[i] + s->tensor->rank : s->dims[i];
        if (dim < 0 || dim >= s->tensor->rank || s->taken[dim]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "%s: dimension %lld is out of range or given twice for sizes %s",
                       call->schema->args[at + 2].name, (long long)s->dims[i], TAPER_SHAPE(s->tensor));
        }
        s->dims[i] = dim;
        s->taken[dim] = true;
    }
    for (size_t i = 0; i < s->tensor->rank; i++) {
        s->free *= s->taken[i] ? 1 : s->tensor->sizes[i];
    }
    return TAPER_OK;
}

// Makes a contiguous copy with the free dimensions outermost if `free_first` is set, otherwise innermost, and the
// contracted dimensions in the given order. A contracted dimension of size 1 is broadcast with stride 0, so that the
// other operand is summed along it.
static taper_status copy_side(taper_run *run, side *s, const side *other, size_t count, bool free_first)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    size_t rank = 0;
    for (int part = 0; part < 2; part++) {
        if ((part == 0) == free_first) {
            for (size_t i = 0; i < s->tensor->rank; i++) {
                if (!s->taken[i]) {
                    sizes[rank] = s->tensor->sizes[i];
                    strides[rank++] = s->tensor->strides[i];
                }
            }
        } else {
            for (size_t i = 0; i < count; i++) {
                const size_t d = (size_t)s->dims[i];
                const int64_t size = s->tensor->sizes[d], wanted = other->tensor->sizes[other->dims[i]];
                sizes[rank] = size == 1 ? wanted : size;
                strides[rank++] = size == 1 ? 0 : s->tensor->strides[d];
            }
        }
    }
    const taper_tensor turned = taper_tensor_twin(s->tensor, rank, sizes, strides);
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)s->tensor->dtype, rank, sizes, NULL, &s->copy, run->error));
    return taper_run_copy(run, s->copy, &turned);
}

static taper_status run_tensordot(taper_call *call, side *a, side *b, size_t count, taper_tensor **product)
{
    taper_run *run = call->run;
    TAPER_TRY(copy_side(run, a, b, count, true));
    TAPER_TRY(copy_side(run, b, a, count, false));
    int64_t k = 1;
    for (size_t i = 0; i < count; i++) {
        k *= a->copy->sizes[a->copy->rank - count + i];
    }
    const taper_tensor left = taper_tensor_twin(a->copy, 2, (const int64_t[]){a->free, k}, (const int64_t[]){k, 1});
    const taper_tensor right =
        taper_tensor_twin(b->copy, 2, (const int64_t[]){k, b->free}, (const int64_t[]){b->free, 1});
    return taper_product_new(run, &left, &right, 2, (const int64_t[]){a->free, b->free}, product);
}

TAPER_KERNEL(taper_op_tensordot)
{
    side a = {0}, b = {0};
    size_t count = 0, count_b = 0, rank = 0;
    int64_t sizes[2 * TAPER_MAX_RANK];
    taper_error *error = call->run->error;
    TAPER_TRY(read_side(call, 0, &count, &a));
    TAPER_TRY(read_side(call, 1, &count_b, &b));
    if (count != count_b) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "both dimension lists should have same length");
    }
    if (a.tensor->dtype != b.tensor->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "tensordot: both inputs should have same dtype");
    }
    TAPER_TRY(taper_check_product_dtype(call, a.tensor, "self"));
    for (size_t i = 0; i < count; i++) {
        const int64_t x = a.tensor->sizes[a.dims[i]], y = b.tensor->sizes[b.dims[i]];
        if (x != y && x != 1 && y != 1) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "contracted dimensions need to match, but first has size %lld in dim %lld and second has size "
                       "%lld in dim %lld",
                       (long long)x, (long long)a.dims[i], (long long)y, (long long)b.dims[i]);
        }
    }
    for (int part = 0; part < 2; part++) {
        const side *s = part == 0 ? &a : &b;
        for (size_t i = 0; i < s->tensor->rank; i++) {
            if (!s->taken[i]) {
                sizes[rank++] = s->tensor->sizes[i];
            }
        }
    }
    if (rank > TAPER_MAX_RANK) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "the result would have %zu dimensions, at most %d are supported",
                   rank, TAPER_MAX_RANK);
    }
    TAPER_TRY(taper_tensor_check_sizes((taper_dtype)a.tensor->dtype, rank, sizes, error));
    taper_tensor *product = NULL;
    const taper_status status = run_tensordot(call, &a, &b, count, &product);
    taper_tensor_drop(a.copy);
    taper_tensor_drop(b.copy);
    TAPER_TRY(status);
    product->rank = (uint8_t)rank;
    memcpy(product->sizes, sizes, rank * sizeof *sizes);
    taper_strides_contiguous(rank, sizes, product->strides);
    return taper_ret_cast(call, 0, product, (taper_dtype)a.tensor->dtype);
}

// ---- multi_dot and chain_matmul

// Multiplies the tensors in the list of argument 0 from left to right. If `vectors` is set, the first and the last
// factor may be vectors.
static taper_status multiply_chain(taper_call *call, bool vectors)
{
    taper_list *list = NULL;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    if (list->count < (vectors ? 2 : 1)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s(): expected at least %d matrices",
                   vectors ? "multi_dot" : "chain_matmul", vectors ? 2 : 1);
    }
    taper_tensor *first = NULL, *product = NULL;
    for (size_t i = 0; i < list->count; i++) {
        taper_tensor *next = NULL, *joined = NULL;
        taper_status status = taper_arg_tensor_item(call, 0, i, false, &next);
        const bool end = i == 0 || i + 1 == list->count;
        if (status == TAPER_OK && next->rank != 2 && !(vectors && end && next->rank == 1)) {
            status = taper_fail(error, TAPER_ERROR_ARGUMENT, "tensor %zu must be 2D%s but got sizes %s", i,
                                vectors && end ? " or 1D" : "", TAPER_SHAPE(next));
        }
        if (status == TAPER_OK) {
            status = taper_check_product_dtype(call, next, "matrices");
        }
        if (status == TAPER_OK && i == 0) {
            first = next;
            status = taper_tensor_cast(call->run, next, taper_work_dtype((taper_dtype)next->dtype), &product);
        } else if (status == TAPER_OK && next->dtype != first->dtype) {
            status = taper_fail(
                error, TAPER_ERROR_ARGUMENT,
                "multi_dot(): all tensors must have the same dtype but tensor 0 is %s and tensor %zu %s",
                taper_dtype_torch_name((taper_dtype)first->dtype), i, taper_dtype_torch_name((taper_dtype)next->dtype));
        } else if (status == TAPER_OK) {
            taper_tensor *wide = NULL;
            status = taper_tensor_cast(call->run, next, (taper_dtype)product->dtype, &wide);
            if (status == TAPER_OK) {
                status = taper_matmul_new(call->run, product, wide, &joined);
            }
            taper_tensor_drop(wide);
            if (status == TAPER_OK) {
                taper_tensor_drop(product);
                product = joined;
            }
        }
        if (status != TAPER_OK) {
            taper_tensor_drop(product);
            return status;
        }
    }
    return taper_ret_cast(call, 0, product, (taper_dtype)first->dtype);
}

TAPER_KERNEL(taper_op_chain_matmul)
{
    return multiply_chain(call, false);
}

TAPER_KERNEL(taper_op_multi_dot)
{
    return multiply_chain(call, true);
}

// ---- bilinear: out[n, o] = sum over i, j of x[n, i] W[o, i, j] y[n, j]

static taper_status run_bilinear(taper_run *run, taper_tensor *const *wide, const taper_tensor *x,
                                 const taper_tensor *y, taper_tensor *sums, taper_tensor **out)
{
    const taper_dtype work = (taper_dtype)wide[0]->dtype;
    const int64_t rows = x->sizes[0], in_x = x->sizes[1], in_y = y->sizes[1], outs = wide[2]->sizes[0],
                  item = (int64_t)taper_tensor_item(sums);
    const taper_tensor *w = wide[2];
    TAPER_TRY(taper_run_zeros(run, work, 2, (const int64_t[]){rows, outs}, out));
    for (int64_t o = 0; o < outs; o++) {
        taper_gemm gemm = {.dtype = work,
                           .m = rows,
                           .n = in_y,
                           .k = in_x,
                           .a = taper_tensor_data(x),
                           .a_row = x->strides[0],
                           .a_column = x->strides[1],
                           .b = (const char *)taper_tensor_data(w) + o * w->strides[0] * item,
                           .b_row = w->strides[1],
                           .b_column = w->strides[2],
                           .c = taper_tensor_mutable(sums),
                           .c_row = in_y,
                           .c_column = 1};
        TAPER_TRY(taper_gemm_run(run, &gemm));
        for (int64_t n = 0; n < rows; n++) {
            gemm = (taper_gemm){.dtype = work,
                                .m = 1,
                                .n = 1,
                                .k = in_y,
                                .a = (const char *)taper_tensor_data(sums) + n * in_y * item,
                                .a_row = in_y,
                                .a_column = 1,
                                .b = (const char *)taper_tensor_data(y) + n * y->strides[0] * item,
                                .b_row = y->strides[1],
                                .b_column = 1,
                                .c = (char *)taper_tensor_mutable(*out) + (n * outs + o) * item,
                                .c_row = 1,
                                .c_column = 1};
            TAPER_TRY(taper_gemm_run(run, &gemm));
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_bilinear)
{
    taper_tensor *in[3], *bias, *wide[3] = {NULL, NULL, NULL}, *flat[2] = {NULL, NULL}, *sums = NULL, *out = NULL;
    taper_run *run = call->run;
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_tensor(call, i, &in[i]));
        if (in[i]->dtype != in[0]->dtype) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "input1, input2 and weight should have one dtype");
        }
    }
    TAPER_TRY(taper_arg_tensor_or_none(call, 3, &bias));
    TAPER_TRY(taper_check_product_dtype(call, in[0], "input1"));
    const size_t rank = in[0]->rank;
    if (rank == 0 || in[1]->rank != rank || in[2]->rank != 3 ||
        memcmp(in[0]->sizes, in[1]->sizes, (rank - 1) * sizeof *in[0]->sizes) != 0 ||
        in[0]->sizes[rank - 1] != in[2]->sizes[1] || in[1]->sizes[rank - 1] != in[2]->sizes[2] ||
        (bias != NULL && (bias->rank != 1 || bias->sizes[0] != in[2]->sizes[0] || bias->dtype != in[0]->dtype))) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "bilinear(): inputs of sizes %s and %s, weight of sizes %s and bias do not fit", TAPER_SHAPE(in[0]),
                   TAPER_SHAPE(in[1]), TAPER_SHAPE(in[2]));
    }
    const taper_dtype work = taper_work_dtype((taper_dtype)in[0]->dtype);
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < rank; i++) {
        rows *= in[0]->sizes[i];
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, in[0]->sizes, sizeof sizes);
    sizes[rank - 1] = in[2]->sizes[0];
    TAPER_TRY(taper_tensor_check_sizes(work, rank, sizes, run->error));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < 3 && status == TAPER_OK; i++) {
        status = taper_tensor_cast(run, in[i], work, &wide[i]);
        if (status == TAPER_OK && i < 2) {
            status = taper_run_contiguous(run, wide[i], &flat[i]);
        }
    }
    if (status == TAPER_OK) {
        status =
            taper_tensor_new(run->heap, work, 2, (const int64_t[]){rows, in[2]->sizes[2]}, NULL, &sums, run->error);
    }
    if (status == TAPER_OK) {
        const int64_t i1 = in[2]->sizes[1], i2 = in[2]->sizes[2];
        const taper_tensor x = taper_tensor_twin(flat[0], 2, (const int64_t[]){rows, i1}, (const int64_t[]){i1, 1});
        const taper_tensor y = taper_tensor_twin(flat[1], 2, (const int64_t[]){rows, i2}, (const int64_t[]){i2, 1});
        status = run_bilinear(run, wide, &x, &y, sums, &out);
    }
    if (status == TAPER_OK && bias != NULL) {
        status = taper_product_combine(run, out, bias, taper_scalar_one(), taper_scalar_one());
    }
    for (size_t i = 0; i < 3; i++) {
        taper_tensor_drop(wide[i]);
        taper_tensor_drop(i < 2 ? flat[i] : sums);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    out->rank = (uint8_t)rank;
    memcpy(out->sizes, sizes, sizeof sizes);
    taper_strides_contiguous(rank, out->sizes, out->strides);
    return taper_ret_cast(call, 0, out, (taper_dtype)in[0]->dtype);
}
