// SPDX-License-Identifier: BSD-2-Clause
// Gradients of padding, pooling and resizing. Averages and interpolations are linear and separable: for each dimension
// a matrix gives the outputs as sums of the inputs, and the gradient is a product with these matrices.
#include "ir/tensor.h"
#include "ops/gradient/steps_math.h"

// ---- gradients of padding

enum { REFLECT, REPLICATE, CIRCULAR, CONSTANT };

static int64_t source_of(int mode, int64_t at, int64_t size)
{
    if (mode == REPLICATE) {
        return taper_min_i64(taper_max_i64(at, 0), size - 1);
    }
    if (mode == CIRCULAR) {
        return (at % size + size) % size;
    }
    at = at < 0 ? -at : at;
    return at >= size ? size - 2 - (at - size) : at;
}

// Pads with elements of the tensor itself: for each dimension, a selection of its indices.
static taper_status pad_steps(taper_steps *s, int mode, taper_step_value value)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t pad[2 * TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(s->call, 1, 0, 2 * TAPER_MAX_RANK, pad, &count));
    if (mode == CONSTANT) {
        value = value->tag == TAPER_NONE ? TAPER_STEP_INT(0) : value;
        return taper_steps_ret(s, 0, TAPER_STEP(s, aten_constant_pad_nd, &s->args[0], &s->args[1], value));
    }
    taper_step_value result = &s->args[0];
    for (size_t i = 0; i < count / 2 && i < self->rank; i++) {
        const int64_t dim = self->rank - 1 - (int64_t)i, size = self->sizes[dim];
        int64_t length = 0;
        taper_step_value made;
        const bool fits = pad[2 * i] >= -size && taper_add_i64(size, pad[2 * i], &length) &&
                          taper_add_i64(length, pad[2 * i + 1], &length);
        if (!fits || length < 0 || size == 0) {
            taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_ARGUMENT,
                                           "padding by %lld and %lld is too much for dimension %lld of size %lld",
                                           (long long)pad[2 * i], (long long)pad[2 * i + 1], (long long)dim,
                                           (long long)size));
            break;
        }
        int64_t *const sources = taper_step_table(s, TAPER_I64, 1, &length, &made);
        for (int64_t k = 0; sources != NULL && k < length; k++) {
            const int64_t from = source_of(mode, k - pad[2 * i], size);
            sources[k] = taper_min_i64(taper_max_i64(from, 0), size - 1);
        }
        result = TAPER_STEP(s, aten_index_select, result, taper_step_int(s, dim), made);
    }
    return taper_steps_ret(s, 0, result);
}

TAPER_STEPS_KERNEL(taper_op_pad_steps)
{
    const int64_t mode = taper_steps_int(s, 2);
    return pad_steps(s, (int)mode, &s->args[3]);
}

TAPER_STEPS_KERNEL(taper_op_pad_named_steps)
{
    static const char *const names[] = {"reflect", "replicate", "circular"};
    const taper_string *const name = s->args[2].as.string;
    for (int i = 0; i < 3; i++) {
        if (name->length == strlen(names[i]) && memcmp(name->data, names[i], name->length) == 0) {
            return pad_steps(s, i, &s->args[3]);
        }
    }
    return pad_steps(s, CONSTANT, &s->args[3]);
}

// ---- gradients of maximum pools

// Adds each gradient to the element at its index, which is a position within the last `dims` dimensions.
TAPER_STEPS_KERNEL(taper_op_unpool)
{
    const taper_tensor *const self = s->args[1].as.tensor, *const grad = s->args[0].as.tensor;
    int64_t flat[TAPER_MAX_RANK], small[TAPER_MAX_RANK];
    const int64_t dims = taper_steps_int(s, 3);
    if (dims < 0 || dims > self->rank || grad->rank != self->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "the gradient of a pool has another rank than its input");
    }
    const size_t outer = self->rank - (size_t)dims;
    flat[outer] = small[outer] = 1;
    for (size_t i = 0; i < self->rank; i++) {
        if (i < outer) {
            flat[i] = small[i] = self->sizes[i];
        } else {
            flat[outer] = taper_wrap_mul(flat[outer], self->sizes[i]);
            small[outer] = taper_wrap_mul(small[outer], grad->sizes[i]);
        }
    }
    taper_step_value sum = TAPER_STEP(s, aten_new_zeros, &s->args[0], taper_steps_ints(s, flat, outer + 1));
    sum = TAPER_STEP(s, aten_scatter_add, sum, TAPER_STEP_INT(-1), taper_step_reshape(s, &s->args[2], small, outer + 1),
                     taper_step_reshape(s, &s->args[0], small, outer + 1));
    return taper_steps_ret(s, 0, taper_step_like(s, sum, self));
}

// Computes the gradient of max_unpool: the elements of the gradient at the indices.
TAPER_STEPS_KERNEL(taper_op_repool)
{
    const taper_tensor *const grad = s->args[0].as.tensor, *const indices = s->args[1].as.tensor;
    int64_t flat[TAPER_MAX_RANK], small[TAPER_MAX_RANK];
    const int64_t dims = taper_steps_int(s, 2);
    if (dims < 0 || dims > grad->rank || indices->rank != grad->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                   "the indices of a pool have another rank than its gradient");
    }
    const size_t outer = grad->rank - (size_t)dims;
    flat[outer] = small[outer] = 1;
    for (size_t i = 0; i < grad->rank; i++) {
        if (i < outer) {
            flat[i] = small[i] = grad->sizes[i];
        } else {
            flat[outer] = taper_wrap_mul(flat[outer], grad->sizes[i]);
            small[outer] = taper_wrap_mul(small[outer], indices->sizes[i]);
        }
    }
    const taper_step_value found = TAPER_STEP(s, aten_gather, taper_step_reshape(s, &s->args[0], flat, outer + 1),
                                              TAPER_STEP_INT(-1), taper_step_reshape(s, &s->args[1], small, outer + 1));
    return taper_steps_ret(s, 0, taper_step_like(s, found, indices));
}

// ---- gradients of average pools

// Returns a new matrix of zeros, [inputs, outputs]. The sequence owns it.
static double *new_matrix(taper_steps *s, int64_t inputs, int64_t outputs, taper_step_value *matrix)
{
    double *const numbers = taper_step_table(s, TAPER_F64, 2, (int64_t[]){inputs, outputs}, matrix);
    for (int64_t i = 0; numbers != NULL && i < inputs * outputs; i++) {
        numbers[i] = 0;
    }
    return numbers;
}

// Multiplies the gradient by the matrix along dimension dim, whose size is the number of outputs.
static taper_step_value spread_back(taper_steps *s, taper_step_value grad, int64_t dim, taper_step_value matrix)
{
    const taper_tensor *const g = taper_steps_tensor(s, grad);
    if (g == NULL) {
        return grad;
    }
    matrix = TAPER_STEP(s, aten_to_dtype, matrix, taper_step_int(s, g->dtype));
    grad = taper_step_matmul(s, taper_step_transpose(s, grad, dim, -1), taper_step_transpose(s, matrix, 0, 1));
    return taper_step_transpose(s, grad, dim, -1);
}

typedef struct window {
    int64_t size, stride, padding;
    bool counts_padding, sums;
} window;

static taper_step_value average_matrix(taper_steps *s, int64_t inputs, int64_t outputs, const window *w)
{
    taper_step_value matrix;
    double *const numbers = new_matrix(s, inputs, outputs, &matrix);
    for (int64_t o = 0; o < outputs && numbers != NULL; o++) {
        const int64_t start = taper_wrap_sub(taper_wrap_mul(o, w->stride), w->padding);
        const int64_t end = taper_min_i64(taper_wrap_add(start, w->size), taper_wrap_add(inputs, w->padding));
        const int64_t first = taper_max_i64(start, 0), last = taper_min_i64(end, inputs);
        for (int64_t i = first; i < last; i++) {
            numbers[i * outputs + o] =
                w->sums ? 1 : 1.0 / (double)(w->counts_padding ? taper_wrap_sub(end, start) : last - first);
        }
    }
    return matrix;
}

TAPER_STEPS_KERNEL(taper_op_avg_pool_gradient)
{
    const taper_tensor *const self = s->args[1].as.tensor, *const grad = s->args[0].as.tensor;
    int64_t numbers[3][TAPER_MAX_RANK];
    size_t counts[3];
    const int64_t dims = taper_steps_int(s, 7);
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(taper_arg_ints(s->call, 2 + i, 0, TAPER_MAX_RANK, numbers[i], &counts[i]));
    }
    const bool counts_padding = taper_steps_bool(s, 5);
    const double divisor = taper_steps_double_or(s, 6, 0);
    if (dims < 0 || dims > self->rank || grad->rank != self->rank || counts[0] == 0) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "the gradient of a pool has another rank than its input");
    }
    taper_step_value value = &s->args[0];
    for (int64_t d = 0; d < dims; d++) {
        int64_t given[3];
        for (size_t i = 0; i < 3; i++) {
            const size_t at = taper_min_size((size_t)d, counts[i] != 0 ? counts[i] - 1 : 0);
            given[i] = counts[i] != 0 ? numbers[i][at] : i == 1 ? given[0] : 0;
        }
        const window w = {given[0], given[1], given[2], counts_padding, divisor != 0};
        const int64_t dim = self->rank - dims + d;
        value = spread_back(s, value, dim, average_matrix(s, self->sizes[dim], grad->sizes[dim], &w));
    }
    return taper_steps_ret(s, 0, divisor != 0 ? taper_step_scale(s, value, 1 / divisor) : value);
}

TAPER_STEPS_KERNEL(taper_op_adaptive_avg_pool_gradient)
{
    const taper_tensor *const self = s->args[1].as.tensor, *const grad = s->args[0].as.tensor;
    const int64_t dims = taper_steps_int(s, 2);
    if (dims < 0 || dims > self->rank || grad->rank != self->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "the gradient of a pool has another rank than its input");
    }
    taper_step_value value = &s->args[0];
    for (int64_t d = self->rank - dims; d < self->rank; d++) {
        const int64_t inputs = self->sizes[d], outputs = grad->sizes[d];
        taper_step_value matrix;
        double *const numbers = new_matrix(s, inputs, outputs, &matrix);
        for (int64_t o = 0; o < outputs && numbers != NULL; o++) {
            const int64_t first = o * inputs / outputs, last = ((o + 1) * inputs + outputs - 1) / outputs;
            for (int64_t i = first; i < last; i++) {
                numbers[i * outputs + o] = 1.0 / (double)(last - first);
            }
        }
        value = spread_back(s, value, d, matrix);
    }
    return taper_steps_ret(s, 0, value);
}

// ---- gradients of resizing

// Returns the matrix of one dimension: each row of the unit matrix is resized as an image of one column.
static taper_step_value resize_matrix(taper_steps *s, int64_t kind, int64_t inputs, int64_t outputs,
                                      taper_step_value align, taper_step_value scale)
{
    taper_step_value unit = TAPER_STEP(s, aten_eye, taper_step_int(s, inputs), taper_step_int(s, TAPER_F64));
    unit = taper_step_reshape(s, unit, (int64_t[]){1, inputs, inputs, 1}, 4);
    const taper_step_value size = taper_steps_ints(s, (int64_t[]){outputs, 1}, 2), none = taper_step_none;
    taper_step_value found = none;
    switch (kind) {
    case 0:
        found = TAPER_STEP(s, aten_upsample_nearest2d, unit, size, scale, none);
        break;
    case 1:
        found = TAPER_STEP(s, aten__upsample_nearest_exact2d, unit, size, scale, none);
        break;
    case 2:
        found = TAPER_STEP(s, aten_upsample_bilinear2d, unit, size, align, scale, none);
        break;
    case 3:
        found = TAPER_STEP(s, aten_upsample_bicubic2d, unit, size, align, scale, none);
        break;
    case 4:
        found = TAPER_STEP(s, aten__upsample_bilinear2d_aa, unit, size, align, scale, none);
        break;
    default:
        found = TAPER_STEP(s, aten__upsample_bicubic2d_aa, unit, size, align, scale, none);
        break;
    }
    return taper_step_reshape(s, found, (int64_t[]){inputs, outputs}, 2);
}

TAPER_STEPS_KERNEL(taper_op_resize_gradient)
{
    const taper_tensor *const self = s->args[1].as.tensor, *const grad = s->args[0].as.tensor;
    const taper_list *const factors = s->args[4].tag == TAPER_LIST ? s->args[4].as.list : NULL;
    const int64_t kind = taper_steps_int(s, 2);
    taper_step_value value = &s->args[0];
    for (size_t d = 2; d < self->rank; d++) {
        const taper_step_value scale = factors != NULL
                                           ? (d - 2 < factors->count ? &factors->items[d - 2] : taper_step_none)
                                           : &s->args[5 + taper_min_size(d - 2, 2)];
        const taper_step_value matrix = resize_matrix(s, kind, self->sizes[d], grad->sizes[d], &s->args[3], scale);
        value = spread_back(s, value, (int64_t)d, matrix);
    }
    return taper_steps_ret(s, 0, value);
}
