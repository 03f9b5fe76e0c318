// SPDX-License-Identifier: BSD-2-Clause
// Compositions and gradients of operators that join, split and move tensors.
#include "ops/gradient/steps_math.h"

// Adds a reference to a value to a list that a kernel returns.
static taper_status append(taper_steps *s, taper_list *list, taper_val value)
{
    if (s->status == TAPER_OK) {
        list->items[list->count++] = taper_val_retain(value);
    }
    return taper_steps_end(s);
}

static taper_status new_list(taper_call *call, size_t count, taper_list **list)
{
    *list = taper_list_new(call->run->heap, &taper_type_tensor, count);
    if (*list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(*list));
    return TAPER_OK;
}

// Gives each gradient the sizes of its tensor.
TAPER_STEPS_KERNEL(taper_op_reshaped_each)
{
    const taper_list *const grads = call->args[0].as.list, *const tensors = call->args[1].as.list;
    taper_list *made;
    TAPER_TRY(new_list(call, tensors->count, &made));
    for (size_t i = 0; i < tensors->count && i < grads->count; i++) {
        taper_steps s;
        taper_steps_begin(&s, call->run);
        TAPER_TRY(append(&s, made, taper_step_like(&s, grads->items[i], tensors->items[i].as.tensor)));
    }
    return TAPER_OK;
}

// Joins vectors to one vector, and joins other tensors along dimension 1.
TAPER_STEPS_KERNEL(taper_op_side_by_side)
{
    taper_steps s;
    const taper_list *const tensors = call->args[0].as.list;
    const bool vectors = tensors->count != 0 && tensors->items[0].as.tensor->rank == 1;
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_cat, call->args[0], taper_val_int(vectors ? 0 : 1)));
    return taper_steps_end(&s);
}

// Makes columns of numbers and of vectors.
TAPER_STEPS_KERNEL(taper_op_as_columns)
{
    const taper_list *const tensors = call->args[0].as.list;
    taper_list *made;
    TAPER_TRY(new_list(call, tensors->count, &made));
    for (size_t i = 0; i < tensors->count; i++) {
        taper_steps s;
        const taper_tensor *const t = tensors->items[i].as.tensor;
        taper_steps_begin(&s, call->run);
        TAPER_TRY(append(&s, made,
                         t->rank > 1
                             ? tensors->items[i]
                             : taper_step_reshape(&s, tensors->items[i], (int64_t[]){taper_tensor_numel(t), 1}, 2)));
    }
    return TAPER_OK;
}

// Pads each matrix to the total width of all matrices, and joins the rows.
TAPER_STEPS_KERNEL(taper_op_block_diag_steps)
{
    const taper_list *const tensors = call->args[0].as.list;
    taper_list *const rows = taper_list_new(call->run->heap, &taper_type_tensor, tensors->count);
    if (rows == NULL) {
        return taper_fail_memory(call->run->error);
    }
    int64_t width = 0, before = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const taper_tensor *const t = tensors->items[i].as.tensor;
        if (t->rank > 2) {
            taper_val_release(TAPER_VAL(rows));
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "block_diag expects tensors of at most 2 dimensions");
        }
        width = taper_wrap_add(width, t->rank == 0 ? 1 : t->sizes[t->rank - 1]);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < tensors->count && status == TAPER_OK; i++) {
        taper_steps s;
        const taper_tensor *const t = tensors->items[i].as.tensor;
        const int64_t columns = t->rank == 0 ? 1 : t->sizes[t->rank - 1], height = t->rank == 2 ? t->sizes[0] : 1;
        const int64_t pad[2] = {before, taper_wrap_sub(taper_wrap_sub(width, before), columns)};
        taper_steps_begin(&s, call->run);
        const taper_val matrix = taper_step_reshape(&s, tensors->items[i], (int64_t[]){height, columns}, 2);
        status = append(&s, rows, TAPER_STEP(&s, aten_constant_pad_nd, matrix, taper_steps_ints(&s, pad, 2)));
        before = taper_wrap_add(before, columns);
    }
    taper_steps s;
    taper_steps_begin(&s, call->run);
    taper_steps_fail(&s, status);
    taper_steps_keep(&s, TAPER_VAL(rows));
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_cat, TAPER_VAL(rows), taper_val_int(0)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_cartesian_steps)
{
    taper_steps s;
    const taper_list *const tensors = call->args[0].as.list;
    taper_steps_begin(&s, call->run);
    if (tensors->count == 1) {
        taper_steps_ret(&s, call, 0, tensors->items[0]);
        return taper_steps_end(&s);
    }
    const taper_val grids = TAPER_STEP(&s, aten_meshgrid, call->args[0]);
    const taper_val all = TAPER_STEP(&s, aten_stack, grids, taper_val_int(-1));
    taper_steps_ret(&s, call, 0, taper_step_reshape(&s, all, (int64_t[]){-1, (int64_t)tensors->count}, 2));
    return taper_steps_end(&s);
}

// Sums the gradient of each grid over the dimensions of the other tensors.
TAPER_STEPS_KERNEL(taper_op_meshgrid_gradient)
{
    const taper_list *const grads = call->args[0].as.list, *const tensors = call->args[1].as.list;
    const taper_string *const order = call->args[2].tag == TAPER_STRING ? call->args[2].as.string : NULL;
    const bool swapped = order != NULL && order->length == 2 && order->data[0] == 'x' && tensors->count >= 2;
    taper_list *made;
    TAPER_TRY(new_list(call, tensors->count, &made));
    for (size_t i = 0; i < tensors->count && i < grads->count; i++) {
        taper_steps s;
        int64_t dims[TAPER_MAX_RANK];
        size_t count = 0;
        const size_t own = swapped && i < 2 ? 1 - i : i;
        for (size_t d = 0; d < tensors->count && d < TAPER_MAX_RANK; d++) {
            if (d != own) {
                dims[count++] = (int64_t)d;
            }
        }
        taper_steps_begin(&s, call->run);
        const taper_val sum =
            count == 0 ? grads->items[i]
                       : TAPER_STEP(&s, aten_sum_dim_IntList, grads->items[i], taper_steps_ints(&s, dims, count));
        TAPER_TRY(append(&s, made, taper_step_like(&s, sum, tensors->items[i].as.tensor)));
    }
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_kron_steps)
{
    taper_steps s;
    const taper_tensor *const tensors[2] = {call->args[0].as.tensor, call->args[1].as.tensor};
    const size_t rank = taper_max_size(tensors[0]->rank, tensors[1]->rank);
    int64_t sizes[2][2 * TAPER_MAX_RANK], result[TAPER_MAX_RANK];
    if (2 * rank > TAPER_MAX_RANK) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "the gradient of kron supports at most %d dimensions",
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
    taper_steps_begin(&s, call->run);
    const taper_val product = taper_step_mul(&s, taper_step_reshape(&s, call->args[0], sizes[0], 2 * rank),
                                             taper_step_reshape(&s, call->args[1], sizes[1], 2 * rank));
    taper_steps_ret(&s, call, 0, taper_step_reshape(&s, product, result, rank));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_take_along_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor, *const indices = call->args[1].as.tensor;
    int64_t dim, sizes[2][TAPER_MAX_RANK];
    taper_steps_begin(&s, call->run);
    if (taper_arg_is_none(call, 2)) {
        const int64_t flat = -1;
        taper_steps_ret(&s, call, 0,
                        TAPER_STEP(&s, aten_gather, taper_step_reshape(&s, call->args[0], &flat, 1), taper_val_int(0),
                                   taper_step_reshape(&s, call->args[1], &flat, 1)));
        return taper_steps_end(&s);
    }
    taper_steps_fail(&s, taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_step_dim(call, &dim, self->rank));
    for (int64_t d = 0; d < self->rank; d++) {
        const int64_t a = self->sizes[d], b = indices->sizes[d];
        sizes[0][d] = d == dim || a != 1 ? a : b;
        sizes[1][d] = d == dim || b != 1 ? b : a;
    }
    const taper_val from = TAPER_STEP(&s, aten_expand, call->args[0], taper_steps_ints(&s, sizes[0], self->rank));
    const taper_val at = TAPER_STEP(&s, aten_expand, call->args[1], taper_steps_ints(&s, sizes[1], self->rank));
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_gather, from, taper_val_int(dim), at));
    return taper_steps_end(&s);
}

// Rolls each dimension by half of its size.
TAPER_STEPS_KERNEL(taper_op_shift_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK], shifts[TAPER_MAX_RANK];
    size_t count = self->rank;
    bool back;
    TAPER_TRY(taper_arg_bool(call, 2, &back));
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)i;
    }
    if (!taper_arg_is_none(call, 1)) {
        TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    }
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_step_dim(call, &dims[i], self->rank));
        const int64_t size = self->sizes[dims[i]];
        shifts[i] = back ? size - size / 2 : size / 2;
    }
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_roll, call->args[0], taper_steps_ints(&s, shifts, count),
                               taper_steps_ints(&s, dims, count)));
    return taper_steps_end(&s);
}

// The gradient of Tensor.unfold: the gradient of an element is the sum of its gradients in all windows that contain it.
TAPER_STEPS_KERNEL(taper_op_unfold_gradient)
{
    taper_steps s;
    const taper_tensor *const self = call->args[1].as.tensor;
    int64_t dim, size, step, flat = -1;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_arg_int(call, 3, &size));
    TAPER_TRY(taper_arg_int(call, 4, &step));
    taper_steps_begin(&s, call->run);
    if (self->rank == 0) {
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_sum, call->args[0]));
        return taper_steps_end(&s);
    }
    TAPER_TRY(taper_step_dim(call, &dim, self->rank));
    taper_val places = TAPER_STEP(&s, aten_arange, taper_val_int(self->sizes[dim]));
    places = TAPER_STEP(&s, aten_unfold, places, taper_val_int(0), call->args[3], call->args[4]);
    places = taper_step_reshape(&s, places, &flat, 1);
    taper_val grad = TAPER_STEP(&s, aten_movedim_int, call->args[0], taper_val_int(-1), taper_val_int(dim + 1));
    grad = TAPER_STEP(&s, aten_flatten_using_ints, grad, taper_val_int(dim), taper_val_int(dim + 1));
    taper_val sum = TAPER_STEP(&s, aten_new_zeros, call->args[0], taper_steps_ints(&s, self->sizes, self->rank));
    sum = TAPER_STEP(&s, aten_index_add, sum, taper_val_int(dim), places, grad);
    taper_steps_ret(&s, call, 0, sum);
    return taper_steps_end(&s);
}

// Returns the sizes of the last two dimensions.
TAPER_STEPS_KERNEL(taper_op_image_size)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, taper_steps_ints(&s, self->sizes + (self->rank > 2 ? self->rank - 2 : 0), 2));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_without_taken)
{
    taper_steps s;
    bool accumulate;
    TAPER_TRY(taper_arg_bool(call, 3, &accumulate));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    accumulate ? TAPER_STEP(&s, aten_clone, call->args[0])
                               : TAPER_STEP(&s, aten_put, call->args[0], call->args[1],
                                            TAPER_STEP(&s, aten_zeros_like, call->args[2])));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_channel_shuffle_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t groups, sizes[TAPER_MAX_RANK + 1];
    TAPER_TRY(taper_arg_int(call, 1, &groups));
    if (groups <= 0 || self->rank < 3 || self->rank >= TAPER_MAX_RANK) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "channel_shuffle expects an image and a number of groups");
    }
    sizes[0] = self->sizes[0];
    sizes[1] = groups;
    sizes[2] = self->sizes[1] / groups;
    for (size_t i = 2; i < self->rank; i++) {
        sizes[i + 1] = self->sizes[i];
    }
    taper_steps_begin(&s, call->run);
    const taper_val parts = taper_step_reshape(&s, call->args[0], sizes, self->rank + 1u);
    taper_steps_ret(&s, call, 0, taper_step_like(&s, taper_step_transpose(&s, parts, 1, 2), self));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_inner_steps)
{
    taper_steps s;
    const int64_t last = -1;
    taper_steps_begin(&s, call->run);
    if (call->args[0].as.tensor->rank == 0 || call->args[1].as.tensor->rank == 0) {
        taper_steps_ret(&s, call, 0, taper_step_mul(&s, call->args[0], call->args[1]));
    } else {
        taper_steps_ret(&s, call, 0,
                        TAPER_STEP(&s, aten_tensordot, call->args[0], call->args[1], taper_steps_ints(&s, &last, 1),
                                   taper_steps_ints(&s, &last, 1)));
    }
    return taper_steps_end(&s);
}

// Multiplies matrices from left to right.
TAPER_STEPS_KERNEL(taper_op_chain_steps)
{
    const taper_list *const tensors = call->args[0].as.list;
    taper_val product = taper_val_none();
    if (tensors->count == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a product of matrices expects at least one matrix");
    }
    for (size_t i = 0; i < tensors->count; i++) {
        taper_steps s;
        taper_steps_begin(&s, call->run);
        const taper_val next = i == 0 ? tensors->items[0] : taper_step_matmul(&s, product, tensors->items[i]);
        taper_val_replace(&product, s.status == TAPER_OK ? taper_val_retain(next) : taper_val_none());
        TAPER_TRY(taper_steps_end(&s));
    }
    taper_ret(call, 0, product);
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_diff_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t times, dim;
    TAPER_TRY(taper_arg_int(call, 1, &times));
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_step_dim(call, &dim, self->rank));
    taper_steps_begin(&s, call->run);
    taper_val parts[3], value = call->args[0];
    size_t count = 0;
    if (times != 0 && (!taper_arg_is_none(call, 3) || !taper_arg_is_none(call, 4))) {
        if (!taper_arg_is_none(call, 3)) {
            parts[count++] = call->args[3];
        }
        parts[count++] = call->args[0];
        if (!taper_arg_is_none(call, 4)) {
            parts[count++] = call->args[4];
        }
        value = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, parts, count), taper_val_int(dim));
    }
    for (int64_t i = 0; i < times; i++) {
        const taper_tensor *const t = taper_steps_tensor(&s, value);
        const int64_t length = t != NULL ? taper_max_i64(t->sizes[dim] - 1, 0) : 0;
        const int64_t start = t != NULL ? taper_min_i64(1, t->sizes[dim]) : 0;
        value = taper_step_sub(&s, taper_step_narrow(&s, value, dim, start, length),
                               taper_step_narrow(&s, value, dim, 0, length));
        if (length == 0 || s.status != TAPER_OK) { // there are no elements left, so further differences change nothing
            break;
        }
    }
    taper_steps_ret(&s, call, 0, times == 0 && count == 0 ? TAPER_STEP(&s, aten_clone, value) : value);
    return taper_steps_end(&s);
}

// Returns the differences of neighbours along one dimension, divided by their distance. With order 2, three elements
// are used at each end.
static taper_val slope_along(taper_steps *s, taper_val x, int64_t dim, double width, int64_t order)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    const int64_t n = t != NULL ? t->sizes[dim] : 3;
    taper_val middle =
        taper_step_sub(s, taper_step_narrow(s, x, dim, 2, n - 2), taper_step_narrow(s, x, dim, 0, n - 2));
    middle = taper_step_scale(s, middle, 0.5 / width);
    taper_val ends[2];
    for (int e = 0; e < 2; e++) { // at each end: a is the outermost element, b the next, c the one after b
        const double sign = e == 0 ? 1 : -1;
        const taper_val a = taper_step_narrow(s, x, dim, e == 0 ? 0 : n - 1, 1);
        const taper_val b = taper_step_narrow(s, x, dim, e == 0 ? 1 : n - 2, 1);
        if (order == 2) {
            const taper_val c = taper_step_narrow(s, x, dim, e == 0 ? 2 : n - 3, 1);
            const taper_val sum =
                taper_step_sub(s, taper_step_scale(s, b, 4), taper_step_add(s, taper_step_scale(s, a, 3), c));
            ends[e] = taper_step_scale(s, sum, sign * 0.5 / width);
        } else {
            ends[e] = taper_step_scale(s, taper_step_sub(s, b, a), sign / width);
        }
    }
    const taper_val parts[3] = {ends[0], middle, ends[1]};
    return TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, 3), taper_val_int(dim));
}

// Returns the differences for places at any distances from each other.
static taper_val slope_at(taper_steps *s, taper_val x, int64_t dim, taper_val places, int64_t order)
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
    const taper_val at = taper_step_reshape(s, places, sizes, t->rank);
    const taper_val gaps =
        taper_step_sub(s, taper_step_narrow(s, at, dim, 1, n - 1), taper_step_narrow(s, at, dim, 0, n - 1));
    const taper_val slopes = taper_step_div(
        s, taper_step_sub(s, taper_step_narrow(s, x, dim, 1, n - 1), taper_step_narrow(s, x, dim, 0, n - 1)), gaps);
    // In the middle, the result is the sum of the slopes on both sides, each weighted by the gap on the other side.
    const taper_val gap1 = taper_step_narrow(s, gaps, dim, 0, n - 2), gap2 = taper_step_narrow(s, gaps, dim, 1, n - 2);
    const taper_val slope1 = taper_step_narrow(s, slopes, dim, 0, n - 2),
                    slope2 = taper_step_narrow(s, slopes, dim, 1, n - 2);
    const taper_val middle =
        taper_step_div(s, taper_step_add(s, taper_step_mul(s, slope1, gap2), taper_step_mul(s, slope2, gap1)),
                       taper_step_add(s, gap1, gap2));
    taper_val ends[2] = {taper_step_narrow(s, slopes, dim, 0, 1), taper_step_narrow(s, slopes, dim, n - 2, 1)};
    for (int e = 0; e < 2 && order == 2; e++) { // extrapolates the slope by half a gap at each end
        const int64_t own = e == 0 ? 0 : n - 2, next = e == 0 ? 1 : n - 3;
        const taper_val gap = taper_step_narrow(s, gaps, dim, own, 1);
        const taper_val change =
            taper_step_div(s, taper_step_sub(s, ends[e], taper_step_narrow(s, slopes, dim, next, 1)),
                           taper_step_add(s, gap, taper_step_narrow(s, gaps, dim, next, 1)));
        ends[e] = taper_step_add(s, ends[e], taper_step_mul(s, change, gap));
    }
    const taper_val parts[3] = {ends[0], middle, ends[1]};
    return TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, 3), taper_val_int(dim));
}

// torch.gradient. The spacing is one number, one number for each dimension, or the places in each dimension.
static taper_status gradient(taper_call *call)
{
    const taper_tensor *const self = call->args[0].as.tensor;
    const taper_list *const each = call->args[1].tag == TAPER_LIST ? call->args[1].as.list : NULL;
    int64_t dims[TAPER_MAX_RANK], order;
    size_t count = self->rank;
    double width = 1;
    taper_list *made;
    TAPER_TRY(each != NULL ? TAPER_OK : taper_arg_double_or(call, 1, 1, &width));
    TAPER_TRY(taper_arg_int(call, 3, &order));
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)i;
    }
    if (call->args[2].tag == TAPER_LIST) {
        TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &count));
    } else if (!taper_arg_is_none(call, 2)) {
        TAPER_TRY(taper_arg_int(call, 2, &dims[0]));
        count = 1;
    }
    if (each != NULL && each->count != count) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "torch.gradient expected spacing to have a length of %zu",
                   count);
    }
    TAPER_TRY(new_list(call, count, &made));
    for (size_t i = 0; i < count; i++) {
        taper_steps s;
        TAPER_TRY(taper_step_dim(call, &dims[i], self->rank));
        const int64_t dim = dims[i];
        const taper_val own = each != NULL ? each->items[i] : taper_val_double(width);
        const double number = own.tag == TAPER_INT ? (double)own.as.i : own.tag == TAPER_DOUBLE ? own.as.f : 1;
        taper_steps_begin(&s, call->run);
        TAPER_TRY(append(&s, made,
                         taper_step_is_tensor(own) ? slope_at(&s, call->args[0], dim, own, order)
                                                   : slope_along(&s, call->args[0], dim, number, order)));
    }
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_gradient_steps)
{
    return gradient(call);
}

TAPER_STEPS_KERNEL(taper_op_gradient_each_steps)
{
    return gradient(call);
}

TAPER_STEPS_KERNEL(taper_op_gradient_at_steps)
{
    return gradient(call);
}
