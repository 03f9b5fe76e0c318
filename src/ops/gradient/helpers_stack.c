// SPDX-License-Identifier: BSD-2-Clause
// Compositions and gradients of operators that join, split and move tensors.
#include "ops/gradient/steps_math.h"

// Gives each gradient the sizes of its tensor.
TAPER_STEPS_KERNEL(taper_op_reshaped_each)
{
    const taper_list *const grads = s->args[0].as.list, *const tensors = s->args[1].as.list;
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    for (size_t i = 0; i < tensors->count && i < grads->count; i++) {
        taper_steps_collect(s, made, taper_step_like(s, &grads->items[i], tensors->items[i].as.tensor));
    }
    return taper_steps_ret(s, 0, made);
}

// Joins vectors to one vector, and joins other tensors along dimension 1.
TAPER_STEPS_KERNEL(taper_op_side_by_side)
{
    const taper_list *const tensors = s->args[0].as.list;
    const bool vectors = tensors->count != 0 && tensors->items[0].as.tensor->rank == 1;
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_cat, &s->args[0], taper_step_int(s, vectors ? 0 : 1)));
}

// Makes a matrix of one column from each number and each vector.
TAPER_STEPS_KERNEL(taper_op_as_columns)
{
    const taper_list *const tensors = s->args[0].as.list;
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    for (size_t i = 0; i < tensors->count; i++) {
        const taper_tensor *const t = tensors->items[i].as.tensor;
        taper_steps_collect(s, made,
                            t->rank > 1
                                ? &tensors->items[i]
                                : taper_step_reshape(s, &tensors->items[i], (int64_t[]){taper_tensor_numel(t), 1}, 2));
    }
    return taper_steps_ret(s, 0, made);
}

// Pads each matrix to the total width of all matrices, and joins the rows.
TAPER_STEPS_KERNEL(taper_op_block_diag_steps)
{
    const taper_list *const tensors = s->args[0].as.list;
    const taper_step_value rows = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    int64_t width = 0, before = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const taper_tensor *const t = tensors->items[i].as.tensor;
        if (t->rank > 2) {
            TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "block_diag expects tensors of at most 2 dimensions");
        }
        width = taper_wrap_add(width, t->rank == 0 ? 1 : t->sizes[t->rank - 1]);
    }
    for (size_t i = 0; i < tensors->count; i++) {
        const taper_tensor *const t = tensors->items[i].as.tensor;
        const int64_t columns = t->rank == 0 ? 1 : t->sizes[t->rank - 1], height = t->rank == 2 ? t->sizes[0] : 1;
        const int64_t pad[2] = {before, taper_wrap_sub(taper_wrap_sub(width, before), columns)};
        const taper_step_value matrix = taper_step_reshape(s, &tensors->items[i], (int64_t[]){height, columns}, 2);
        taper_steps_collect(s, rows, TAPER_STEP(s, aten_constant_pad_nd, matrix, taper_steps_ints(s, pad, 2)));
        before = taper_wrap_add(before, columns);
    }
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_cat, rows, TAPER_STEP_INT(0)));
}

TAPER_STEPS_KERNEL(taper_op_cartesian_steps)
{
    const taper_list *const tensors = s->args[0].as.list;
    if (tensors->count == 1) {
        return taper_steps_ret(s, 0, &tensors->items[0]);
    }
    const taper_step_value grids = TAPER_STEP(s, aten_meshgrid, &s->args[0]);
    const taper_step_value all = TAPER_STEP(s, aten_stack, grids, TAPER_STEP_INT(-1));
    return taper_steps_ret(s, 0, taper_step_reshape(s, all, (int64_t[]){-1, (int64_t)tensors->count}, 2));
}

// Sums the gradient of each grid over the dimensions of the other tensors.
TAPER_STEPS_KERNEL(taper_op_meshgrid_gradient)
{
    const taper_list *const grads = s->args[0].as.list, *const tensors = s->args[1].as.list;
    const taper_string *const order = s->args[2].tag == TAPER_STRING ? s->args[2].as.string : NULL;
    const bool swapped = order != NULL && order->length == 2 && order->data[0] == 'x' && tensors->count >= 2;
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, tensors->count);
    for (size_t i = 0; i < tensors->count && i < grads->count; i++) {
        int64_t dims[TAPER_MAX_RANK];
        size_t count = 0;
        const size_t own = swapped && i < 2 ? 1 - i : i;
        for (size_t d = 0; d < tensors->count && d < TAPER_MAX_RANK; d++) {
            if (d != own) {
                dims[count++] = (int64_t)d;
            }
        }
        const taper_step_value sum =
            count == 0 ? &grads->items[i]
                       : TAPER_STEP(s, aten_sum_dim_IntList, &grads->items[i], taper_steps_ints(s, dims, count));
        taper_steps_collect(s, made, taper_step_like(s, sum, tensors->items[i].as.tensor));
    }
    return taper_steps_ret(s, 0, made);
}

TAPER_STEPS_KERNEL(taper_op_kron_steps)
{
    const taper_tensor *const tensors[2] = {s->args[0].as.tensor, s->args[1].as.tensor};
    const size_t rank = taper_max_size(tensors[0]->rank, tensors[1]->rank);
    int64_t sizes[2][2 * TAPER_MAX_RANK], result[TAPER_MAX_RANK];
    if (2 * rank > TAPER_MAX_RANK) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_UNSUPPORTED, "the gradient of kron supports at most %d dimensions",
                   TAPER_MAX_RANK / 2);
    }
    for (size_t i = 0; i < rank; i++) {
        result[i] = 1;
        for (size_t t = 0; t < 2; t++) {
            const bool missing = i + tensors[t]->rank < rank;
            const int64_t size = missing ? 1 : tensors[t]->sizes[i + tensors[t]->rank - rank];
            sizes[t][2 * i + t] = size;
            sizes[t][2 * i + 1 - t] = 1;
            result[i] = taper_wrap_mul(result[i], size);
        }
    }
    const taper_step_value product = taper_step_mul(s, taper_step_reshape(s, &s->args[0], sizes[0], 2 * rank),
                                                    taper_step_reshape(s, &s->args[1], sizes[1], 2 * rank));
    return taper_steps_ret(s, 0, taper_step_reshape(s, product, result, rank));
}

TAPER_STEPS_KERNEL(taper_op_take_along_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor, *const indices = s->args[1].as.tensor;
    int64_t sizes[2][TAPER_MAX_RANK];
    if (taper_steps_is_none(s, 2)) {
        const int64_t flat = -1;
        return taper_steps_ret(s, 0,
                               TAPER_STEP(s, aten_gather, taper_step_reshape(s, &s->args[0], &flat, 1),
                                          TAPER_STEP_INT(0), taper_step_reshape(s, &s->args[1], &flat, 1)));
    }
    int64_t dim = taper_steps_int(s, 2);
    TAPER_TRY(taper_step_dim(s, &dim, self->rank));
    for (int64_t d = 0; d < self->rank; d++) {
        const int64_t a = self->sizes[d], b = indices->sizes[d];
        sizes[0][d] = d == dim || a != 1 ? a : b;
        sizes[1][d] = d == dim || b != 1 ? b : a;
    }
    const taper_step_value from = TAPER_STEP(s, aten_expand, &s->args[0], taper_steps_ints(s, sizes[0], self->rank));
    const taper_step_value at = TAPER_STEP(s, aten_expand, &s->args[1], taper_steps_ints(s, sizes[1], self->rank));
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_gather, from, taper_step_int(s, dim), at));
}

// Rolls each dimension by half of its size.
TAPER_STEPS_KERNEL(taper_op_shift_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK], shifts[TAPER_MAX_RANK];
    size_t count = self->rank;
    const bool back = taper_steps_bool(s, 2);
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)i;
    }
    if (!taper_steps_is_none(s, 1)) {
        TAPER_TRY(taper_arg_ints(s->call, 1, 0, TAPER_MAX_RANK, dims, &count));
    }
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_step_dim(s, &dims[i], self->rank));
        const int64_t size = self->sizes[dims[i]];
        shifts[i] = back ? size - size / 2 : size / 2;
    }
    return taper_steps_ret(
        s, 0,
        TAPER_STEP(s, aten_roll, &s->args[0], taper_steps_ints(s, shifts, count), taper_steps_ints(s, dims, count)));
}

// Computes the gradient of Tensor.unfold: the gradient of an element is the sum of its gradients in all windows that
// contain it.
TAPER_STEPS_KERNEL(taper_op_unfold_gradient)
{
    const taper_tensor *const self = s->args[1].as.tensor;
    const int64_t flat = -1;
    int64_t dim = taper_steps_int(s, 2);
    if (self->rank == 0) {
        return taper_steps_ret(s, 0, TAPER_STEP(s, aten_sum, &s->args[0]));
    }
    TAPER_TRY(taper_step_dim(s, &dim, self->rank));
    taper_step_value places = TAPER_STEP(s, aten_arange, taper_step_int(s, self->sizes[dim]));
    places = TAPER_STEP(s, aten_unfold, places, TAPER_STEP_INT(0), &s->args[3], &s->args[4]);
    places = taper_step_reshape(s, places, &flat, 1);
    taper_step_value grad =
        TAPER_STEP(s, aten_movedim_int, &s->args[0], TAPER_STEP_INT(-1), taper_step_int(s, dim + 1));
    grad = TAPER_STEP(s, aten_flatten_using_ints, grad, taper_step_int(s, dim), taper_step_int(s, dim + 1));
    taper_step_value sum = TAPER_STEP(s, aten_new_zeros, &s->args[0], taper_steps_ints(s, self->sizes, self->rank));
    sum = TAPER_STEP(s, aten_index_add, sum, taper_step_int(s, dim), places, grad);
    return taper_steps_ret(s, 0, sum);
}

// Returns the sizes of the last two dimensions.
TAPER_STEPS_KERNEL(taper_op_image_size)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    return taper_steps_ret(s, 0, taper_steps_ints(s, self->sizes + (self->rank > 2 ? self->rank - 2 : 0), 2));
}

TAPER_STEPS_KERNEL(taper_op_without_taken)
{
    const bool accumulate = taper_steps_bool(s, 3);
    return taper_steps_ret(
        s, 0,
        accumulate ? TAPER_STEP(s, aten_clone, &s->args[0])
                   : TAPER_STEP(s, aten_put, &s->args[0], &s->args[1], TAPER_STEP(s, aten_zeros_like, &s->args[2])));
}

TAPER_STEPS_KERNEL(taper_op_channel_shuffle_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t sizes[TAPER_MAX_RANK + 1];
    const int64_t groups = taper_steps_int(s, 1);
    if (groups <= 0 || self->rank < 3 || self->rank >= TAPER_MAX_RANK) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                   "channel_shuffle expects an image and a number of groups");
    }
    sizes[0] = self->sizes[0];
    sizes[1] = groups;
    sizes[2] = self->sizes[1] / groups;
    for (size_t i = 2; i < self->rank; i++) {
        sizes[i + 1] = self->sizes[i];
    }
    const taper_step_value parts = taper_step_reshape(s, &s->args[0], sizes, self->rank + 1u);
    return taper_steps_ret(s, 0, taper_step_like(s, taper_step_transpose(s, parts, 1, 2), self));
}

TAPER_STEPS_KERNEL(taper_op_inner_steps)
{
    const int64_t last = -1;
    if (s->args[0].as.tensor->rank == 0 || s->args[1].as.tensor->rank == 0) {
        taper_steps_ret(s, 0, taper_step_mul(s, &s->args[0], &s->args[1]));
    } else {
        taper_steps_ret(s, 0,
                        TAPER_STEP(s, aten_tensordot, &s->args[0], &s->args[1], taper_steps_ints(s, &last, 1),
                                   taper_steps_ints(s, &last, 1)));
    }
    return s->status;
}

// Multiplies matrices from left to right.
TAPER_STEPS_KERNEL(taper_op_chain_steps)
{
    const taper_list *const tensors = s->args[0].as.list;
    taper_step_value product = taper_step_none;
    if (tensors->count == 0) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "a product of matrices expects at least one matrix");
    }
    for (size_t i = 0; i < tensors->count; i++) {
        product = i == 0 ? &tensors->items[0] : taper_step_matmul(s, product, &tensors->items[i]);
        taper_steps_carry(s, 0, &product, 1);
    }
    return taper_steps_ret(s, 0, product);
}

TAPER_STEPS_KERNEL(taper_op_diff_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const int64_t times = taper_steps_int(s, 1);
    int64_t dim = taper_steps_int(s, 2);
    TAPER_TRY(taper_step_dim(s, &dim, self->rank));
    taper_step_value parts[3], value = &s->args[0];
    size_t count = 0;
    if (times != 0 && (!taper_steps_is_none(s, 3) || !taper_steps_is_none(s, 4))) {
        if (!taper_steps_is_none(s, 3)) {
            parts[count++] = &s->args[3];
        }
        parts[count++] = &s->args[0];
        if (!taper_steps_is_none(s, 4)) {
            parts[count++] = &s->args[4];
        }
        value = TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, count), taper_step_int(s, dim));
    }
    const size_t kept = s->count;
    for (int64_t i = 0; i < times; i++) {
        const taper_tensor *const t = taper_steps_tensor(s, value);
        const int64_t length = t != NULL ? taper_max_i64(t->sizes[dim] - 1, 0) : 0;
        const int64_t start = t != NULL ? taper_min_i64(1, t->sizes[dim]) : 0;
        value = taper_step_sub(s, taper_step_narrow(s, value, dim, start, length),
                               taper_step_narrow(s, value, dim, 0, length));
        taper_steps_carry(s, kept, &value, 1);
        if (length == 0 || s->status != TAPER_OK) { // without elements, further differences change nothing
            break;
        }
    }
    return taper_steps_ret(s, 0, times == 0 && count == 0 ? TAPER_STEP(s, aten_clone, value) : value);
}

// Returns the differences of neighbours along one dimension, divided by their distance. Order 2 uses three elements at
// the ends.
static taper_step_value slope_along(taper_steps *s, taper_step_value x, int64_t dim, double width, int64_t order)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    const int64_t n = t != NULL ? t->sizes[dim] : 3;
    taper_step_value middle =
        taper_step_sub(s, taper_step_narrow(s, x, dim, 2, n - 2), taper_step_narrow(s, x, dim, 0, n - 2));
    middle = taper_step_scale(s, middle, 0.5 / width);
    taper_step_value ends[2];
    for (int e = 0; e < 2; e++) { // the element at this end, its neighbour, and the neighbour's neighbour
        const double sign = e == 0 ? 1 : -1;
        const taper_step_value a = taper_step_narrow(s, x, dim, e == 0 ? 0 : n - 1, 1);
        const taper_step_value b = taper_step_narrow(s, x, dim, e == 0 ? 1 : n - 2, 1);
        if (order == 2) {
            const taper_step_value c = taper_step_narrow(s, x, dim, e == 0 ? 2 : n - 3, 1);
            const taper_step_value sum =
                taper_step_sub(s, taper_step_scale(s, b, 4), taper_step_add(s, taper_step_scale(s, a, 3), c));
            ends[e] = taper_step_scale(s, sum, sign * 0.5 / width);
        } else {
            ends[e] = taper_step_scale(s, taper_step_sub(s, b, a), sign / width);
        }
    }
    const taper_step_value parts[3] = {ends[0], middle, ends[1]};
    return TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, 3), taper_step_int(s, dim));
}

// Returns the slopes at places that need not be equally far from each other.
static taper_step_value slope_at(taper_steps *s, taper_step_value x, int64_t dim, taper_step_value places,
                                 int64_t order)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    int64_t sizes[TAPER_MAX_RANK];
    if (t == NULL) {
        return x;
    }
    const int64_t n = t->sizes[dim];
    for (int64_t d = 0; d < t->rank; d++) {
        sizes[d] = d == dim ? n : 1;
    }
    const taper_step_value at = taper_step_reshape(s, places, sizes, t->rank);
    const taper_step_value gaps =
        taper_step_sub(s, taper_step_narrow(s, at, dim, 1, n - 1), taper_step_narrow(s, at, dim, 0, n - 1));
    const taper_step_value slopes = taper_step_div(
        s, taper_step_sub(s, taper_step_narrow(s, x, dim, 1, n - 1), taper_step_narrow(s, x, dim, 0, n - 1)), gaps);
    // At inner places: the slopes on both sides, each weighted by the gap on the other side.
    const taper_step_value gap1 = taper_step_narrow(s, gaps, dim, 0, n - 2),
                           gap2 = taper_step_narrow(s, gaps, dim, 1, n - 2);
    const taper_step_value slope1 = taper_step_narrow(s, slopes, dim, 0, n - 2),
                           slope2 = taper_step_narrow(s, slopes, dim, 1, n - 2);
    const taper_step_value middle =
        taper_step_div(s, taper_step_add(s, taper_step_mul(s, slope1, gap2), taper_step_mul(s, slope2, gap1)),
                       taper_step_add(s, gap1, gap2));
    taper_step_value ends[2] = {taper_step_narrow(s, slopes, dim, 0, 1), taper_step_narrow(s, slopes, dim, n - 2, 1)};
    for (int e = 0; e < 2 && order == 2; e++) { // extrapolates the slope by half a gap
        const int64_t own = e == 0 ? 0 : n - 2, next = e == 0 ? 1 : n - 3;
        const taper_step_value gap = taper_step_narrow(s, gaps, dim, own, 1);
        const taper_step_value change =
            taper_step_div(s, taper_step_sub(s, ends[e], taper_step_narrow(s, slopes, dim, next, 1)),
                           taper_step_add(s, gap, taper_step_narrow(s, gaps, dim, next, 1)));
        ends[e] = taper_step_add(s, ends[e], taper_step_mul(s, change, gap));
    }
    const taper_step_value parts[3] = {ends[0], middle, ends[1]};
    return TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, 3), taper_step_int(s, dim));
}

// Computes torch.gradient. The spacing is one number, one number for each dimension, or the places in each dimension.
static taper_status gradient(taper_steps *s)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const taper_list *const each = s->args[1].tag == TAPER_LIST ? s->args[1].as.list : NULL;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = self->rank;
    const double width = each != NULL ? 1 : taper_steps_double_or(s, 1, 1);
    const int64_t order = taper_steps_int(s, 3);
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)i;
    }
    if (s->args[2].tag == TAPER_LIST) {
        TAPER_TRY(taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, dims, &count));
    } else if (!taper_steps_is_none(s, 2)) {
        dims[0] = taper_steps_int(s, 2);
        count = 1;
    }
    if (each != NULL && each->count != count) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "torch.gradient expected spacing to have a length of %zu",
                   count);
    }
    const taper_step_value made = taper_steps_new_list(s, &taper_type_tensor, count);
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_step_dim(s, &dims[i], self->rank));
        const int64_t dim = dims[i];
        const taper_step_value own = each != NULL ? &each->items[i] : taper_step_double(s, width);
        const double number = own->tag == TAPER_INT ? (double)own->as.i : own->tag == TAPER_DOUBLE ? own->as.f : 1;
        taper_steps_collect(s, made,
                            taper_step_is_tensor(own) ? slope_at(s, &s->args[0], dim, own, order)
                                                      : slope_along(s, &s->args[0], dim, number, order));
    }
    return taper_steps_ret(s, 0, made);
}

TAPER_STEPS_KERNEL(taper_op_gradient_steps)
{
    return gradient(s);
}

TAPER_STEPS_KERNEL(taper_op_gradient_each_steps)
{
    return gradient(s);
}

TAPER_STEPS_KERNEL(taper_op_gradient_at_steps)
{
    return gradient(s);
}
