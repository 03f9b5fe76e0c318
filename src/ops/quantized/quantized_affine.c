// SPDX-License-Identifier: BSD-2-Clause
// torchao::…_affine: integers in plain tensors, with a scale and a zero point for each block of elements, as torchao
// writes them in exported programs. block_size is the size of a block along each dimension. A dimension that is divided
// into blocks is viewed as two dimensions, and the scales and zero points are broadcast over the blocks. The steps,
// with their roundings and dtypes, are torchao's.
#include <float.h>

#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/engine/matmul.h"
#include "ops/engine/volume.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

typedef struct blocks {
    size_t rank; // rank of the view in which blocks are dimensions
    // sizes: sizes of the view. counts: the same sizes, with 1 for dimensions within a block.
    int64_t sizes[TAPER_MAX_RANK], counts[TAPER_MAX_RANK];
    bool inside[TAPER_MAX_RANK]; // true for a dimension that is within a block and larger than 1
} blocks;

static taper_status add_dim(const taper_call *call, blocks *b, int64_t size, bool inside)
{
    if (b->rank == TAPER_MAX_RANK) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "a tensor of blocks has at most %d dimensions",
                   TAPER_MAX_RANK);
    }
    b->sizes[b->rank] = size;
    b->counts[b->rank] = inside ? 1 : size;
    b->inside[b->rank++] = inside;
    return TAPER_OK;
}

// Reads argument `at`, the block_size for x.
static taper_status arg_blocks(const taper_call *call, size_t at, const taper_tensor *x, blocks *b, int64_t *block)
{
    size_t count;
    *b = (blocks){0};
    TAPER_TRY(taper_arg_ints(call, at, 0, TAPER_MAX_RANK, block, &count));
    if (count != x->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Got input dim:%u, block_size of %zu", (unsigned)x->rank,
                   count);
    }
    for (size_t d = 0; d < count; d++) {
        if (block[d] == x->sizes[d] || block[d] == 1) {
            TAPER_TRY(add_dim(call, b, x->sizes[d], block[d] != 1));
            continue;
        }
        if (block[d] < 1 || x->sizes[d] % block[d] != 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "Expecting input size at %zu dimension: %lld to be divisible by block_size at %zu dimension: "
                       "%lld",
                       d, (long long)x->sizes[d], d, (long long)block[d]);
        }
        TAPER_TRY(add_dim(call, b, x->sizes[d] / block[d], false));
        TAPER_TRY(add_dim(call, b, block[d], true));
    }
    return TAPER_OK;
}

// Reads arguments `at` and `at` + 1, quant_min and quant_max. The default is the range of the dtype.
static taper_status arg_bounds(const taper_call *call, size_t at, taper_dtype dtype, double *low, double *high)
{
    double *const to[] = {low, high};
    if (dtype != TAPER_I8 && dtype != TAPER_U8 && dtype != TAPER_I16 && dtype != TAPER_I32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "integers here are uint8, int8, int16 or int32, not %s",
                   taper_dtype_torch_name(dtype));
    }
    const int bits = dtype == TAPER_I32 ? 31 : dtype == TAPER_I16 ? 15 : dtype == TAPER_I8 ? 7 : 8;
    const double most = (double)((INT64_C(1) << bits) - 1), least = dtype == TAPER_U8 ? 0 : -most - 1;
    *low = least;
    *high = most;
    for (size_t i = 0; i < 2; i++) {
        taper_scalar given;
        if (!taper_arg_is_none(call, at + i)) {
            TAPER_TRY(taper_arg_scalar(call, at + i, &given));
            *to[i] = given.f;
        }
    }
    if (!(*low >= least && *high <= most && *low < *high)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "quant_min and quant_max: %g to %g is out of bounds for %s",
                   *low, *high, taper_dtype_torch_name(dtype));
    }
    return TAPER_OK;
}

static taper_status check_float(const taper_call *call, const taper_tensor *x)
{
    if (x->dtype != TAPER_F32 && x->dtype != TAPER_F16 && x->dtype != TAPER_BF16) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Unsupported input dtype: %s",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

// ---- steps that the operators share

static taper_tensor *converted(taper_compose *c, taper_tensor *x, taper_dtype dtype)
{
    taper_tensor *result = NULL;
    if (c->status == TAPER_OK) {
        taper_compose_fail(c, taper_tensor_cast(c->run, x, dtype, &result));
    }
    return taper_compose_keep(c, c->status == TAPER_OK ? result : NULL);
}

static taper_tensor *clamped(taper_compose *c, taper_tensor *x, taper_val low, taper_val high)
{
    return TAPER_COMPOSE(c, taper_op_clamp, NULL, taper_compose_arg(x), low, high);
}

static taper_tensor *rounded(taper_compose *c, taper_tensor *x)
{
    return TAPER_COMPOSE(c, taper_op_unary, &taper_ew_round, taper_compose_arg(x));
}

// Views one number per block so that the numbers broadcast over the tensor. Returns NULL for NULL.
static taper_tensor *of_blocks(taper_compose *c, const blocks *b, taper_tensor *numbers)
{
    return numbers != NULL && taper_tensor_numel(numbers) != 0 ? taper_compose_reshape(c, numbers, b->rank, b->counts)
                                                               : NULL;
}

// ---- the operators torchao::…_affine

// Reads (input, block_size, scale, zero_point, output_dtype, quant_min, quant_max) and quantizes.
TAPER_KERNEL(taper_op_affine_quantize)
{
    taper_tensor *x, *scale, *point;
    int64_t block[TAPER_MAX_RANK];
    taper_dtype dtype;
    double low, high;
    blocks b;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 2, &scale));
    TAPER_TRY(taper_arg_tensor(call, 3, &point));
    TAPER_TRY(taper_arg_dtype_or(call, 4, TAPER_I8, &dtype));
    TAPER_TRY(check_float(call, x));
    TAPER_TRY(arg_bounds(call, 5, dtype, &low, &high));
    TAPER_TRY(arg_blocks(call, 1, x, &b, block));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *y = of_blocks(&c, &b, scale), *points = of_blocks(&c, &b, point);
    if (c.status == TAPER_OK && taper_tensor_numel(x) != 0 && (y == NULL || points == NULL)) {
        taper_compose_fail(&c, taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                                          "a scale and a zero point for each block are needed"));
    }
    if (c.status == TAPER_OK && y == NULL) { // y is NULL for an empty tensor
        return taper_compose_ret(&c, call, 0, converted(&c, x, dtype));
    }
    y = TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_reciprocal, taper_compose_arg(y));
    y = rounded(&c, taper_compose_mul(&c, taper_compose_reshape(&c, x, b.rank, b.sizes), y));
    y = clamped(&c, taper_compose_add(&c, y, points), taper_val_double(low), taper_val_double(high));
    return taper_compose_ret(&c, call, 0, converted(&c, taper_compose_reshape(&c, y, x->rank, x->sizes), dtype));
}

// Reads (input, block_size, scale, zero_point, input_dtype, quant_min, quant_max, output_dtype) and dequantizes.
TAPER_KERNEL(taper_op_affine_dequantize)
{
    taper_tensor *x, *scale, *point;
    int64_t block[TAPER_MAX_RANK];
    taper_dtype dtype, result;
    double low, high;
    blocks b;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 2, &scale));
    TAPER_TRY(taper_arg_tensor_or_none(call, 3, &point));
    TAPER_TRY(taper_arg_dtype_or(call, 4, TAPER_I8, &dtype));
    TAPER_TRY(taper_arg_dtype_or(call, 7, TAPER_F32, &result));
    TAPER_TRY(arg_bounds(call, 5, dtype, &low, &high));
    TAPER_TRY(arg_blocks(call, 1, x, &b, block));
    if (x->dtype != dtype || !taper_dtype_is_float(result)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Expected: %s, got: %s", taper_dtype_torch_name(dtype),
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *y = converted(&c, taper_compose_reshape(&c, x, b.rank, b.sizes), result);
    if (taper_tensor_numel(x) != 0) {
        taper_tensor *points = point != NULL ? taper_compose_reshape(&c, point, b.rank, b.counts) : NULL;
        y = points != NULL ? taper_compose_sub(&c, y, converted(&c, points, result)) : y;
        y = taper_compose_mul(&c, y, taper_compose_reshape(&c, scale, b.rank, b.counts));
    }
    return taper_compose_ret(&c, call, 0, converted(&c, taper_compose_reshape(&c, y, x->rank, x->sizes), result));
}

typedef enum mapping { SYMMETRIC, ASYMMETRIC, NO_CLIPPING } mapping;

static taper_status arg_mapping(const taper_call *call, size_t at, mapping *kind)
{
    static const char *const names[] = {"SYMMETRIC", "ASYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"};
    const taper_string *name;
    TAPER_TRY(taper_arg_string(call, at, &name));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name->data, names[i]) == 0) {
            *kind = (mapping)i;
            return TAPER_OK;
        }
    }
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Unsupported mapping type: %.80s", name->data);
}

// Returns the smallest or the largest element of each block.
static taper_tensor *extremes(taper_compose *c, const blocks *b, taper_tensor *x, bool least)
{
    for (size_t d = 0; d < b->rank; d++) {
        if (b->inside[d]) {
            x = TAPER_COMPOSE(c, least ? taper_op_amin : taper_op_amax, &taper_reduce_dim_keep, taper_compose_arg(x),
                              taper_val_int((int64_t)d), taper_val_bool(true));
        }
    }
    return least ? clamped(c, x, taper_val_none(), taper_val_int(0))
                 : clamped(c, x, taper_val_int(0), taper_val_none());
}

static taper_tensor *maximum(taper_compose *c, taper_tensor *a, taper_tensor *b)
{
    return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_maximum, taper_compose_arg(a), taper_compose_arg(b));
}

// Returns low minus x. low is an integer.
static taper_tensor *below(taper_compose *c, double low, taper_tensor *x)
{
    return TAPER_COMPOSE(c, taper_op_sum2, &taper_ew_add, taper_compose_arg(taper_compose_mul_number(c, x, -1)),
                         taper_val_double(low), taper_val_int(1));
}

// Returns a tensor with the sizes of `like`, with this number in each element.
static taper_tensor *filled(taper_compose *c, const taper_tensor *like, double number)
{
    taper_tensor *made = NULL;
    if (c->status == TAPER_OK) {
        taper_compose_fail(c, taper_tensor_new(c->run->heap, (taper_dtype)like->dtype, like->rank, like->sizes, NULL,
                                               &made, c->run->error));
    }
    for (int64_t i = 0; made != NULL && i < taper_tensor_numel(made); i++) {
        taper_number_store((taper_dtype)made->dtype, taper_tensor_mutable(made), i, number);
    }
    return taper_compose_keep(c, made);
}

// Reads (input, mapping_type, block_size, target_dtype, quant_min, quant_max, eps, scale_dtype, zero_point_dtype,
// keepdim) and computes scales and zero points.
TAPER_KERNEL(taper_op_affine_qparams)
{
    taper_tensor *x, *scale, *point;
    int64_t block[TAPER_MAX_RANK], sizes[TAPER_MAX_RANK];
    taper_dtype dtype, scales, points;
    mapping kind;
    double low, high, eps;
    bool keeps;
    blocks b;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(check_float(call, x));
    TAPER_TRY(arg_mapping(call, 1, &kind));
    TAPER_TRY(arg_blocks(call, 2, x, &b, block));
    TAPER_TRY(taper_arg_dtype_or(call, 3, TAPER_I8, &dtype));
    TAPER_TRY(arg_bounds(call, 4, dtype, &low, &high));
    eps = x->dtype == TAPER_F16 ? 0x1p-14 : (double)FLT_MIN;
    if (!taper_arg_is_none(call, 6)) {
        TAPER_TRY(taper_arg_double(call, 6, &eps));
    }
    TAPER_TRY(taper_arg_dtype_or(call, 7, (taper_dtype)x->dtype, &scales));
    TAPER_TRY(taper_arg_dtype_or(call, 8, kind == ASYMMETRIC ? TAPER_I32 : (taper_dtype)x->dtype, &points));
    TAPER_TRY(taper_arg_bool(call, 9, &keeps));
    if (taper_tensor_numel(x) == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'input' has no elements");
    }
    size_t rank = 0;
    for (size_t d = 0; keeps && d < x->rank; d++) {
        sizes[rank++] = x->sizes[d] / taper_max_i64(block[d], 1);
    }
    for (size_t d = 0; !keeps && d < b.rank; d++) {
        if (!b.inside[d]) {
            sizes[rank++] = b.sizes[d];
        }
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *seen = taper_compose_reshape(&c, x, b.rank, b.sizes);
    taper_tensor *least = extremes(&c, &b, seen, true), *most = extremes(&c, &b, seen, false);
    if (kind == ASYMMETRIC) {
        scale = taper_compose_div_number(&c, taper_compose_sub(&c, most, least), high - low);
    } else if (kind == SYMMETRIC) {
        scale = maximum(&c, taper_compose_mul_number(&c, least, -1), most);
        scale = taper_compose_div_number(&c, scale, (high - low) / 2);
    } else {
        taper_tensor *down = taper_compose_div_number(&c, least, low), *up = taper_compose_div_number(&c, most, high);
        taper_tensor *more =
            TAPER_COMPOSE(&c, taper_op_binary, &taper_ew_gt, taper_compose_arg(down), taper_compose_arg(up));
        scale = TAPER_COMPOSE(&c, taper_op_where, NULL, taper_compose_arg(more), taper_compose_arg(down),
                              taper_compose_arg(up));
    }
    scale = clamped(&c, scale, taper_val_double(eps), taper_val_none());
    if (kind == ASYMMETRIC) {
        point = below(&c, low, rounded(&c, taper_compose_div(&c, least, scale)));
        point = clamped(&c, point, taper_val_double(low), taper_val_double(high));
    } else {
        point = c.status == TAPER_OK ? filled(&c, scale, (double)(int64_t)((high + low + 1) / 2)) : NULL;
    }
    scale = converted(&c, taper_compose_reshape(&c, scale, rank, sizes), scales);
    point = converted(&c, taper_compose_reshape(&c, point, rank, sizes), points);
    if (c.status == TAPER_OK) {
        taper_compose_fail(&c, taper_ret_tensor(call, 0, taper_tensor_keep(scale)));
    }
    return taper_compose_ret(&c, call, 1, point);
}

// Computes _int_mm: a product of bytes as int32.
TAPER_KERNEL(taper_op_int_mm)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    if (a->rank != 2 || b->rank != 2 || a->sizes[1] != b->sizes[0] || (a->dtype != TAPER_I8 && a->dtype != TAPER_U8) ||
        b->dtype != TAPER_I8) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "two matrices of bytes are needed, the second one of int8, not %s of sizes %s and %s of sizes %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), TAPER_SHAPE(a),
                   taper_dtype_torch_name((taper_dtype)b->dtype), TAPER_SHAPE(b));
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *wide[] = {converted(&c, a, TAPER_I32), converted(&c, b, TAPER_I32)};
    return taper_compose_ret(
        &c, call, 0, TAPER_COMPOSE(&c, taper_op_mm, NULL, taper_compose_arg(wide[0]), taper_compose_arg(wide[1])));
}
