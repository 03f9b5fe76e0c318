// SPDX-License-Identifier: BSD-2-Clause
// Copies with the elements in another order: flip, roll, rot90, repeat, tile, pixel_shuffle, channel_shuffle, tril,
// triu and kron. All of these except kron are one or a few calls of taper_move.
#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/math/elementwise_ops.h"

// ---- flip, rot90

// Makes a copy of x in which the flagged dimensions are reversed and the layout is preserved.
static taper_status flipped(taper_call *call, const taper_tensor *x, const bool *reverse, taper_tensor **result)
{
    taper_error *error = call->run->error;
    int64_t strides[TAPER_MAX_RANK], from[TAPER_MAX_RANK];
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(taper_like_strides(x, TAPER_FORMAT_PRESERVE, strides, error));
    TAPER_TRY(taper_tensor_like(call->run->heap, x, x->rank, x->sizes, strides, result, error));
    if (taper_tensor_numel(x) == 0) {
        return TAPER_OK;
    }
    const char *start = taper_tensor_data(x);
    for (size_t d = 0; d < x->rank; d++) {
        from[d] = x->strides[d];
        if (reverse[d] && x->sizes[d] > 1) {
            start += (x->sizes[d] - 1) * x->strides[d] * (int64_t)item;
            from[d] = -x->strides[d];
        }
    }
    taper_move(call->run, item, x->rank, x->sizes, taper_tensor_mutable(*result), strides, start, from);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_flip)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    bool reverse[TAPER_MAX_RANK] = {false};
    for (size_t i = 0; i < count; i++) {
        size_t d;
        TAPER_TRY(taper_wrap_dim_or_fail(dims[i], x->rank, &d, error));
        if (reverse[d]) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "dim %zu appears multiple times in the list of dims", d);
        }
        reverse[d] = true;
    }
    TAPER_TRY(flipped(call, x, reverse, &result));
    return taper_ret_tensor(call, 0, result);
}

static taper_status flip_one(taper_call *call, size_t dim, size_t least, const char *name)
{
    taper_tensor *x, *result;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    if (x->rank < least) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "%s: Input must be >= %zu-d.", name, least);
    }
    bool reverse[TAPER_MAX_RANK] = {false};
    reverse[dim] = true;
    TAPER_TRY(flipped(call, x, reverse, &result));
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_fliplr)
{
    return flip_one(call, 1, 2, "fliplr");
}
TAPER_KERNEL(taper_op_flipud)
{
    return flip_one(call, 0, 1, "flipud");
}

TAPER_KERNEL(taper_op_rot90)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    int64_t times, dims[2];
    size_t count, a, b;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &times));
    TAPER_TRY(taper_arg_ints(call, 2, 0, 2, dims, &count));
    if (count != 2 || x->rank < 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "rot90: expected two dims and a tensor of at least two dimensions");
    }
    TAPER_TRY(taper_wrap_dim_or_fail(dims[0], x->rank, &a, error));
    TAPER_TRY(taper_wrap_dim_or_fail(dims[1], x->rank, &b, error));
    if (a == b) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "expected rotation dims to be different, but got dim0 = %lld and dim1 = %lld",
                          (long long)dims[0], (long long)dims[1]);
    }
    times = ((times % 4) + 4) % 4;
    if (times == 0) {
        TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_CONTIGUOUS, &result));
        return taper_ret_tensor(call, 0, result);
    }
    bool reverse[TAPER_MAX_RANK] = {false};
    reverse[a] = times != 1;
    reverse[b] = times != 3;
    TAPER_TRY(flipped(call, x, reverse, &result));
    if (times != 2) {
        const int64_t size = result->sizes[a], stride = result->strides[a];
        result->sizes[a] = result->sizes[b];
        result->strides[a] = result->strides[b];
        result->sizes[b] = size;
        result->strides[b] = stride;
    }
    return taper_ret_tensor(call, 0, result);
}

// ---- roll

// Computes a roll as a concatenation of the two parts, so the result has the layout of cat.
taper_status taper_roll(taper_run *run, const taper_tensor *x, size_t dim, int64_t shift, taper_tensor **result)
{
    const int64_t size = x->sizes[dim];
    if (taper_tensor_numel(x) == 0) {
        return taper_view_clone(run, x, TAPER_FORMAT_PRESERVE, result);
    }
    int64_t strides[TAPER_MAX_RANK];
    taper_strides_contiguous(x->rank, x->sizes, strides);
    shift %= size;
    shift += shift < 0 ? size : 0;
    // For a shift of 0 one part is empty, which makes the concatenation contiguous.
    if (shift > 0 && (x->rank == 4 || x->rank == 5) && taper_tensor_suggests_channels_last(x)) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
    }
    TAPER_TRY(taper_tensor_like(run->heap, x, x->rank, x->sizes, strides, result, run->error));
    const size_t item = taper_tensor_item(x);
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    char *to = taper_tensor_mutable(*result);
    const char *from = taper_tensor_data(x);
    sizes[dim] = size - shift;
    taper_move(run, item, x->rank, sizes, to + shift * strides[dim] * (int64_t)item, strides, from, x->strides);
    if (shift > 0) {
        sizes[dim] = shift;
        taper_move(run, item, x->rank, sizes, to, strides, from + (size - shift) * x->strides[dim] * (int64_t)item,
                   x->strides);
    }
    return TAPER_OK;
}

static taper_status roll_flat(taper_call *call, taper_tensor *x, int64_t shift)
{
    taper_run *run = call->run;
    taper_tensor *plain, *result;
    TAPER_TRY(taper_run_contiguous(run, x, &plain));
    taper_tensor flat = taper_tensor_local(plain); // only the shape of this tensor is used
    flat.rank = 1;
    flat.sizes[0] = taper_tensor_numel(plain);
    flat.strides[0] = 1;
    taper_status status = taper_roll(run, &flat, 0, shift, &result);
    taper_tensor_drop(plain);
    TAPER_TRY(status);
    result->rank = x->rank;
    memcpy(result->sizes, x->sizes, sizeof result->sizes);
    taper_strides_contiguous(x->rank, x->sizes, result->strides);
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_roll)
{
    taper_run *run = call->run;
    taper_tensor *x, *current, *next;
    int64_t shifts[TAPER_MAX_RANK], dims[TAPER_MAX_RANK];
    size_t shift_count, dim_count, item;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_move_item(x, &item, run->error));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, shifts, &shift_count));
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &dim_count));
    if (shift_count == 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "`shifts` required");
    }
    if (dim_count == 0 && shift_count == 1) {
        return roll_flat(call, x, shifts[0]);
    }
    if (shift_count != dim_count) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "shifts and dimensions must align. shifts: %zu, dims:%zu",
                          shift_count, dim_count);
    }
    if (taper_tensor_numel(x) == 0) { // for an empty tensor PyTorch does not check the dimensions
        TAPER_TRY(taper_view_clone(run, x, TAPER_FORMAT_PRESERVE, &current));
        return taper_ret_tensor(call, 0, current);
    }
    current = x;
    taper_obj_retain(&x->head);
    for (size_t i = 0; i < shift_count; i++) {
        size_t d;
        taper_status status = taper_wrap_dim_or_fail(dims[i], x->rank, &d, run->error);
        if (status == TAPER_OK && x->rank == 0) {
            status = taper_fail(run->error, TAPER_ERROR_ARGUMENT, "roll: self has no dimensions");
        }
        if (status == TAPER_OK) {
            status = taper_roll(run, current, d, shifts[i], &next);
        }
        taper_tensor_drop(current);
        TAPER_TRY(status);
        current = next;
    }
    return taper_ret_tensor(call, 0, current);
}

// ---- repeat, tile

static taper_status repeat(taper_call *call, const taper_tensor *x, size_t rank, const int64_t *repeats)
{
    taper_error *error = call->run->error;
    const size_t lead = rank - x->rank;
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, error));
    int64_t sizes[TAPER_MAX_RANK];
    for (size_t d = 0; d < rank; d++) {
        if (!taper_mul_i64(d < lead ? 1 : x->sizes[d - lead], repeats[d], &sizes[d]) || sizes[d] < 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "repeats: %lld is not possible for dimension %zu",
                              (long long)repeats[d], d);
        }
    }
    taper_tensor *result;
    TAPER_TRY(taper_tensor_like(call->run->heap, x, rank, sizes, NULL, &result, error));
    int64_t move[TAPER_MOVE_RANK], to[TAPER_MOVE_RANK], from[TAPER_MOVE_RANK];
    for (size_t d = 0; d < rank; d++) {
        const int64_t size = d < lead ? 1 : x->sizes[d - lead];
        move[2 * d] = repeats[d];
        to[2 * d] = taper_wrap_mul(size, result->strides[d]);
        from[2 * d] = 0;
        move[2 * d + 1] = size;
        to[2 * d + 1] = result->strides[d];
        from[2 * d + 1] = d < lead ? 0 : x->strides[d - lead];
    }
    if (taper_tensor_numel(result) > 0) {
        taper_move(call->run, item, 2 * rank, move, taper_tensor_mutable(result), to, taper_tensor_data(x), from);
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_repeat)
{
    taper_tensor *x;
    int64_t repeats[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, repeats, &count));
    if (count < x->rank) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    }
    return repeat(call, x, count, repeats);
}

TAPER_KERNEL(taper_op_tile)
{
    taper_tensor *x;
    int64_t given[TAPER_MAX_RANK], repeats[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, given, &count));
    const size_t rank = taper_max_size(count, x->rank);
    for (size_t d = 0; d < rank; d++) {
        repeats[d] = d + count < rank ? 1 : given[d + count - rank];
    }
    return repeat(call, x, rank, repeats);
}

// ---- pixel_shuffle, pixel_unshuffle, channel_shuffle

// Sets result 0 to a new tensor for rearranged channels and pixels, in the layout of x if x is 4-D, otherwise
// contiguous.
static taper_status ret_planes(taper_call *call, const taper_tensor *x, const int64_t *sizes, taper_tensor **result)
{
    if (x->rank == 4 && (x->hidden_nhwc || taper_tensor_suggests_channels_last(x))) {
        TAPER_TRY(taper_ret_new_nhwc(call, 0, (taper_dtype)x->dtype, 4, sizes, x->hidden_nhwc, result));
    } else {
        TAPER_TRY(taper_ret_new(call, 0, (taper_dtype)x->dtype, x->rank, sizes, NULL, result));
    }
    return x->quantizer == NULL ? TAPER_OK : taper_tensor_set_quantizer(*result, x->quantizer, call->run->error);
}

static taper_status shuffle_pixels(taper_call *call, bool forward)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    int64_t factor;
    size_t item;
    const char *name = forward ? "pixel_shuffle" : "pixel_unshuffle";
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(taper_arg_int(call, 1, &factor));
    if (x->rank < 3) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "%s expects input to have at least 3 dimensions, but got input with %u dimension(s)", name,
                          (unsigned)x->rank);
    }
    if (factor <= 0 || factor > 46340) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s expects a positive %s, but got %lld", name,
                          forward ? "upscale_factor" : "downscale_factor", (long long)factor);
    }
    if (x->hidden_nhwc && x->rank != 4) {
        TAPER_TRY(taper_run_settle(call->run, x));
    }
    const size_t c = x->rank - 3u, h = c + 1, w = c + 2;
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    if (forward) {
        if (x->sizes[c] % (factor * factor) != 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                              "upscale_factor, but "
                              "input.size(-3)=%lld is not divisible by %lld",
                              (long long)x->sizes[c], (long long)(factor * factor));
        }
        sizes[c] /= factor * factor;
    } else if (x->sizes[h] % factor != 0 || x->sizes[w] % factor != 0) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "pixel_unshuffle expects height and width to be divisible by downscale_factor, but input.size(-2)=%lld and "
            "input.size(-1)=%lld are not both divisible by %lld",
            (long long)x->sizes[h], (long long)x->sizes[w], (long long)factor);
    } else {
        sizes[h] /= factor;
        sizes[w] /= factor;
    }
    // The tensors with many and with few channels are both viewed as [lead, C, f, f, H, W].
    const int64_t planes = forward ? sizes[c] : x->sizes[c];
    const int64_t rows = forward ? x->sizes[h] : sizes[h], columns = forward ? x->sizes[w] : sizes[w];
    bool fits = true;
    if (forward) {
        fits = taper_mul_i64(sizes[h], factor, &sizes[h]) && taper_mul_i64(sizes[w], factor, &sizes[w]);
    } else {
        fits = taper_mul_i64(sizes[c], factor * factor, &sizes[c]);
    }
    if (!fits) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
    }
    TAPER_TRY(ret_planes(call, x, sizes, &result));
    int64_t move[TAPER_MOVE_RANK], small_strides[TAPER_MOVE_RANK], large_strides[TAPER_MOVE_RANK];
    const taper_tensor *deep = forward ? x : result, *wide = forward ? result : x;
    size_t n = 0;
    for (; n < c; n++) {
        move[n] = x->sizes[n];
        small_strides[n] = deep->strides[n];
        large_strides[n] = wide->strides[n];
    }
    const int64_t loops[5] = {planes, factor, factor, rows, columns};
    const int64_t deep_steps[5] = {taper_wrap_mul(deep->strides[c], factor * factor),
                                   taper_wrap_mul(deep->strides[c], factor), deep->strides[c], deep->strides[h],
                                   deep->strides[w]};
    const int64_t wide_steps[5] = {wide->strides[c], wide->strides[h], wide->strides[w],
                                   taper_wrap_mul(wide->strides[h], factor), taper_wrap_mul(wide->strides[w], factor)};
    for (size_t i = 0; i < 5; i++, n++) {
        move[n] = loops[i];
        small_strides[n] = deep_steps[i];
        large_strides[n] = wide_steps[i];
    }
    taper_move(call->run, item, n, move, taper_tensor_mutable(result), forward ? large_strides : small_strides,
               taper_tensor_data(x), forward ? small_strides : large_strides);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_pixel_shuffle)
{
    return shuffle_pixels(call, true);
}
TAPER_KERNEL(taper_op_pixel_unshuffle)
{
    return shuffle_pixels(call, false);
}

TAPER_KERNEL(taper_op_channel_shuffle)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *result;
    int64_t groups;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(taper_arg_int(call, 1, &groups));
    if (x->rank <= 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "channel_shuffle expects input with > 2 dims, but got input with sizes %s",
                          taper_sizes_print(x->rank, x->sizes).text);
    }
    if (groups <= 0 || x->sizes[1] % groups != 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "Number of channels must be divisible by groups. Got %lld channels and %lld groups.",
                          (long long)x->sizes[1], (long long)groups);
    }
    if (x->hidden_nhwc && x->rank != 4) {
        TAPER_TRY(taper_run_settle(call->run, x));
    }
    TAPER_TRY(ret_planes(call, x, x->sizes, &result));
    // Moves channel g * (C / groups) + i to i * groups + g.
    const int64_t each = x->sizes[1] / groups;
    int64_t move[TAPER_MOVE_RANK] = {x->sizes[0], groups, each};
    int64_t from[TAPER_MOVE_RANK] = {x->strides[0], taper_wrap_mul(each, x->strides[1]), x->strides[1]};
    int64_t to[TAPER_MOVE_RANK] = {result->strides[0], result->strides[1], taper_wrap_mul(groups, result->strides[1])};
    for (size_t d = 2; d < x->rank; d++) {
        move[d + 1] = x->sizes[d];
        from[d + 1] = x->strides[d];
        to[d + 1] = result->strides[d];
    }
    taper_move(call->run, item, x->rank + 1u, move, taper_tensor_mutable(result), to, taper_tensor_data(x), from);
    return TAPER_OK;
}

// ---- tril, triu

// Sets the elements above the diagonal of each matrix of self to zero if `lower` is set, otherwise the elements below
// it.
static taper_status triangle(taper_call *call, bool lower)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *self;
    int64_t diagonal;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_move_item(x, &item, error));
    TAPER_TRY(taper_arg_int(call, 1, &diagonal));
    if (x->rank < 2 && taper_tensor_numel(x) > 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s: input tensor must have at least 2 dimensions",
                          lower ? "tril" : "triu");
    }
    TAPER_TRY(taper_inplace_begin(call, TAPER_FORMAT_CONTIGUOUS, &self));
    if (taper_tensor_numel(self) == 0) {
        return taper_inplace_end(call, self);
    }
    const size_t r = self->rank - 2u, c = self->rank - 1u;
    const int64_t rows = self->sizes[r], columns = self->sizes[c];
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(self, item, steps);
    const int64_t step = steps[c];
    taper_walk matrices;
    taper_walk_over(&matrices, r, self->sizes, SIZE_MAX, steps, NULL);
    const int64_t edge = taper_min_i64(taper_max_i64(diagonal, -rows), columns);
    do {
        for (int64_t i = 0; i < rows; i++) {
            char *row = (char *)taper_tensor_mutable(self) + matrices.at[0] + i * steps[r];
            const int64_t split = taper_min_i64(taper_max_i64(i + edge + (lower ? 1 : 0), 0), columns);
            const int64_t begin = lower ? split : 0, end = lower ? columns : split;
            if (!taper_run_goes_on(call->run, 10)) {
                return taper_inplace_end(call, self);
            }
            if (step == (int64_t)item) {
                (void)taper_run_goes_on(call->run, (uint64_t)(end - begin) * item / 4);
                memset(row + begin * step, 0, (size_t)(end - begin) * item);
                continue;
            }
            for (int64_t j = begin; j < end && taper_run_goes_on(call->run, 2); j++) {
                memset(row + j * step, 0, item);
            }
        }
    } while (taper_walk_next(&matrices));
    return taper_inplace_end(call, self);
}

TAPER_KERNEL(taper_op_tril)
{
    return triangle(call, true);
}
TAPER_KERNEL(taper_op_triu)
{
    return triangle(call, false);
}

// ---- kron

static void multiply(const taper_scalar *a, const taper_scalar *b, taper_scalar *product)
{
    const bool complex = a->kind == TAPER_SCALAR_COMPLEX || b->kind == TAPER_SCALAR_COMPLEX;
    const bool real = a->kind == TAPER_SCALAR_DOUBLE || b->kind == TAPER_SCALAR_DOUBLE;
    *product = (taper_scalar){.kind = complex ? TAPER_SCALAR_COMPLEX : real ? TAPER_SCALAR_DOUBLE : TAPER_SCALAR_INT};
    product->i = taper_wrap_mul(a->i, b->i); // wraps around, as in PyTorch
    product->f = complex ? a->f * b->f - a->im * b->im : a->f * b->f;
    product->im = complex ? a->f * b->im + a->im * b->f : 0;
}

// Computes a broadcast product, with two dimensions for each dimension of the result.
static taper_status kron_broadcast(taper_call *call, const taper_tensor *a, const taper_tensor *b, taper_dtype dtype,
                                   size_t rank, const int64_t *sizes, taper_tensor **result)
{
    const taper_tensor *const factors[] = {a, b};
    taper_tensor twins[2];
    taper_ew ew = taper_ew_make(&taper_ew_mul);
    for (size_t k = 0; k < 2; k++) {
        twins[k] = taper_tensor_local(factors[k]);
        twins[k].rank = (uint8_t)(2 * rank);
        for (size_t d = 0, lead = rank - factors[k]->rank; d < rank; d++) {
            twins[k].sizes[2 * d + 1 - k] = 1;
            twins[k].strides[2 * d + 1 - k] = 0;
            twins[k].sizes[2 * d + k] = d < lead ? 1 : factors[k]->sizes[d - lead];
            twins[k].strides[2 * d + k] = d < lead ? 0 : factors[k]->strides[d - lead];
        }
        taper_ew_input_tensor(&ew, &twins[k]);
    }
    ew.common = (int)dtype;
    ew.layout = TAPER_EW_CONTIGUOUS;
    TAPER_TRY(taper_ew_compute(call, &ew, result));
    (*result)->rank = (uint8_t)rank;
    memcpy((*result)->sizes, sizes, rank * sizeof *sizes);
    taper_strides_contiguous(rank, sizes, (*result)->strides);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_kron)
{
    taper_error *error = call->run->error;
    taper_tensor *a, *b, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    size_t item;
    TAPER_TRY(taper_move_item(a, &item, error));
    TAPER_TRY(taper_move_item(b, &item, error));
    // PyTorch multiplies tensors of one rank here, so a tensor without dimensions has the same priority in the
    // promotion.
    const taper_dtype dtype = taper_promote((taper_dtype)a->dtype, (taper_dtype)b->dtype);
    const size_t rank = taper_max_size(a->rank, b->rank), a_lead = rank - a->rank, b_lead = rank - b->rank;
    int64_t sizes[TAPER_MAX_RANK], a_sizes[TAPER_MAX_RANK], b_sizes[TAPER_MAX_RANK];
    for (size_t d = 0; d < rank; d++) {
        a_sizes[d] = d < a_lead ? 1 : a->sizes[d - a_lead];
        b_sizes[d] = d < b_lead ? 1 : b->sizes[d - b_lead];
        if (!taper_mul_i64(a_sizes[d], b_sizes[d], &sizes[d])) {
            return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
        }
    }
    if (2 * rank <= TAPER_MAX_RANK && a->rank != 0 && b->rank != 0) {
        TAPER_TRY(kron_broadcast(call, a, b, dtype, rank, sizes, &result));
        return taper_ret_tensor(call, 0, result);
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, rank, sizes, NULL, &result, error));
    const int64_t count = taper_tensor_numel(result);
    char *to = taper_tensor_mutable(result);
    const size_t to_item = taper_tensor_item(result);
    taper_walk walk; // each index of the result combines one index of a and one of b
    taper_walk_begin(&walk, 2);
    for (size_t d = rank; d-- > 0;) {
        int64_t *const of_b = taper_walk_add(&walk, b_sizes[d]);
        of_b[0] = 0;
        of_b[1] = d < b_lead ? 0 : taper_tensor_step(b, d - b_lead);
        int64_t *const of_a = taper_walk_add(&walk, a_sizes[d]);
        of_a[0] = d < a_lead ? 0 : taper_tensor_step(a, d - a_lead);
        of_a[1] = 0;
    }
    for (int64_t n = 0; n < count && taper_run_step(call->run, n, 60); n++, to += to_item) {
        taper_scalar x, y, product;
        taper_scalar_load((taper_dtype)a->dtype,
                          (const char *)taper_tensor_data(a) + walk.at[0] * (int64_t)taper_tensor_item(a), &x);
        taper_scalar_load((taper_dtype)b->dtype,
                          (const char *)taper_tensor_data(b) + walk.at[1] * (int64_t)taper_tensor_item(b), &y);
        multiply(&x, &y, &product);
        taper_scalar_store(dtype, to, &product);
        (void)taper_walk_next(&walk);
    }
    return taper_ret_tensor(call, 0, result);
}
