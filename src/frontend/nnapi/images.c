// SPDX-License-Identifier: BSD-2-Clause
// Lowers pools, resizing, and operations that move elements between channels and pixels.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"

// Gets the input of an operation whose result has the same range of values as its input, such as a pool. If an 8-bit
// result has the quantizer of the input, *x is the integers and *integers is true, otherwise *x is floats.
static taper_status input_as_result(taper_nnapi_lowering *l, const taper_nnapi_operation *op, bool *integers,
                                    taper_ir_value **x)
{
    *integers = taper_nnapi_is_quantized(l, op->in[0]) && taper_nnapi_same_quantizer(l, op->in[0], op->out[0]);
    return *integers ? TAPER_OK : taper_nnapi_floats(l, op->in[0], *x, x);
}

static taper_status give_result(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_ir_value *y,
                                bool integers, bool image)
{
    if (!integers) {
        return taper_nnapi_give(l, op->out[0], y, true, image);
    }
    taper_nnapi_give_kept(l, op->out[0], op->in[0], y, image);
    return TAPER_OK;
}

// ---- pooling

// Returns true if one of PyTorch's pools can compute this window, and sets *padding. PyTorch has equal padding on both
// sides, of at most half the kernel. More padding at the end can be expressed by rounding up the size of the result, if
// that gives the same number of results. With stride 1, the padding can be one larger on both sides, and the first
// result is dropped.
static bool fits_pool(const taper_nnapi_window *w, const int64_t *sizes, int64_t *padding)
{
    bool fits = true;
    for (size_t i = 0; i < 2; i++) {
        const int64_t more = w->after[i] - w->before[i], stride = w->stride[i];
        padding[i] = more == 1 && stride == 1 ? w->after[i] : w->before[i];
        fits = fits && padding[i] <= w->kernel[i] / 2;
        if (stride == 1) {
            fits = fits && (more == 0 || more == 1);
        } else { // PyTorch drops a last window that starts beyond the image
            const int64_t span = sizes[i] + 2 * padding[i] - w->kernel[i];
            const int64_t wanted = (span + more) / stride, up = (span + stride - 1) / stride;
            fits = fits && sizes[i] != 0 && span >= 0 && span + more >= 0 &&
                   wanted == up - (up * stride >= sizes[i] + padding[i]);
        }
    }
    return fits;
}

// Adds a pool. x and its result are floats, or 8-bit integers that remain quantized.
static taper_status pool(taper_nnapi_lowering *l, const taper_nnapi_window *w, bool max, bool up,
                         const int64_t *padding, taper_ir_value *x, taper_ir_value **y)
{
    static const int64_t one[2] = {1, 1};
    taper_ir_value *kernel, *stride, *pads, *dilation, *ceil_mode, *count_padding;
    TAPER_TRY(taper_nnapi_int_list(l, w->kernel, 2, &kernel));
    TAPER_TRY(taper_nnapi_int_list(l, w->stride, 2, &stride));
    TAPER_TRY(taper_nnapi_int_list(l, padding, 2, &pads));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(up), &ceil_mode));
    if (max) {
        TAPER_TRY(taper_nnapi_int_list(l, one, 2, &dilation));
        return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_max_pool2d), y, x, kernel, stride, pads, dilation, ceil_mode);
    }
    TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(!w->scheme), &count_padding));
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_avg_pool2d), y, x, kernel, stride, pads, ceil_mode, count_padding);
}

// Adds a pool whose paddings are unequal or computed by a scheme.
static taper_status uneven_pool(taper_nnapi_lowering *l, const taper_nnapi_operation *op, taper_nnapi_window *w,
                                bool max, taper_ir_value *x, taper_ir_value **y)
{
    static const int64_t none[2] = {0, 0};
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    int64_t padding[2];
    if (!fits_pool(w, &in->sizes[w->nchw ? 2 : 1], padding)) {
        // Padded elements get the smallest possible value, so that a padded element is never the maximum of a window.
        const double least =
            taper_nnapi_is_quantized(l, op->in[0]) ? (double)in->scale * -(double)in->zero_point : -(double)INFINITY;
        if (!max || w->before[0] >= w->kernel[0] || w->before[1] >= w->kernel[1] || w->after[0] >= w->kernel[0] ||
            w->after[1] >= w->kernel[1]) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED,
                       "more padding than half a kernel, or not the same on both sides");
        }
        TAPER_TRY(taper_nnapi_pad_image(l, w, least, x, &x));
        return pool(l, w, max, false, none, x, y);
    }
    // The size is also rounded up for equal paddings, because then PyTorch's 8-bit averages omit the padding. If the
    // size is rounded down, PyTorch always counts the padding.
    TAPER_TRY(pool(l, w, max, w->after[0] != 0 || w->after[1] != 0, padding, x, y));
    for (size_t i = 0; i < 2; i++) {
        if (padding[i] != w->before[i]) {
            TAPER_TRY(taper_nnapi_cut(l, *y, 2 + i, 1, INT64_MAX, 1, y));
        }
    }
    return TAPER_OK;
}

// Lowers a pool. With explicit paddings, the average counts padded elements, as in the model that was converted
// (PyTorch's converter supports nothing else). With a padding scheme, the average omits them, as in NNAPI.
taper_status taper_nnapi_lower_pool(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    const bool max = op->code == TAPER_NNAPI_MAX_POOL_2D;
    taper_nnapi_window w;
    TAPER_TRY(taper_nnapi_window_of(l, op, NULL, &w));
    const bool even = w.before[0] == w.after[0] && w.before[1] == w.after[1];
    const bool bare = even && w.before[0] == 0 && w.before[1] == 0;
    taper_ir_value *x, *y, *k;
    bool integers;
    TAPER_TRY(taper_nnapi_image(l, op->in[0], w.nchw, &x));
    TAPER_TRY(input_as_result(l, op, &integers, &x));
    if (!max && bare && w.kernel[0] == in->sizes[w.nchw ? 2 : 1] && w.kernel[1] == in->sizes[w.nchw ? 3 : 2]) {
        static const int64_t one[2] = {1, 1}; // one window that covers the whole image
        TAPER_TRY(taper_nnapi_int_list(l, one, 2, &k));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_adaptive_avg_pool2d), &y, x, k));
    } else if (bare || (even && !w.scheme && w.before[0] <= w.kernel[0] / 2 && w.before[1] <= w.kernel[1] / 2)) {
        TAPER_TRY(pool(l, &w, max, false, w.before, x, &y));
    } else if (!max && !w.scheme) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED,
                   "more padding than half a kernel, or not the same on both sides");
    } else {
        TAPER_TRY(uneven_pool(l, op, &w, max, x, &y));
    }
    TAPER_TRY(taper_nnapi_fuse(l, w.fuse, y, &y));
    return give_result(l, op, y, integers, !w.nchw);
}

// ---- resizing

// Returns the shortest decimal number that gives this float32: 1.3 instead of 1.2999999523162842.
static double shortest(double single)
{
    char text[32];
    for (int digits = 1; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, single);
        const double read = strtod(text, NULL);
        if ((float)read == (float)single) {
            return read;
        }
    }
    return single;
}

typedef struct resizing {
    double wanted[2]; // height and width of the result, or their scale factors
    bool scales, nchw, aligned, half;
} resizing;

// Reads the arguments: x; width and height (sizes if they are ints, scale factors if floats); nchw; align corners;
// half-pixel centers.
static taper_status read_resizing(taper_nnapi_lowering *l, const taper_nnapi_operation *op, resizing *r)
{
    int64_t flags[3] = {0};
    TAPER_TRY(taper_nnapi_number_of(l, op->in[2], &r->wanted[0]));
    TAPER_TRY(taper_nnapi_number_of(l, op->in[1], &r->wanted[1]));
    for (uint32_t i = 3; i < op->in_count; i++) {
        TAPER_TRY(taper_nnapi_int_of(l, op->in[i], &flags[i - 3]));
    }
    r->nchw = flags[0] != 0;
    r->aligned = flags[1] != 0;
    r->half = flags[2] != 0;
    r->scales = taper_nnapi_operand_of(l, op->in[1])->type == TAPER_NNAPI_FLOAT32;
    if (r->scales != (taper_nnapi_operand_of(l, op->in[2])->type == TAPER_NNAPI_FLOAT32)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "a size for one side and a scale for the other");
    }
    if (r->aligned && r->half) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "aligned corners and half pixel centers at once");
    }
    if (!(r->wanted[0] > 0.0 && r->wanted[1] > 0.0)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "a result of %g by %g", r->wanted[0], r->wanted[1]);
    }
    return TAPER_OK;
}

// Replaces scale factors by the sizes of the result if the image's sizes are known. NNAPI computes the result's sizes
// from the scale factors, and source positions from the sizes, but PyTorch computes source positions from the factors.
// If the image's sizes are unknown, only integer factors are accepted: both then compute the same positions.
static taper_status use_sizes(taper_nnapi_lowering *l, const taper_nnapi_operation *op, resizing *r)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    const uint32_t first = r->nchw ? 2 : 1;
    if (!r->scales || in->rank != 4) {
        return TAPER_OK;
    }
    if (in->sizes[first] == 0 || in->sizes[first + 1] == 0) {
        if (r->wanted[0] != floor(r->wanted[0]) || r->wanted[1] != floor(r->wanted[1])) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "an image of unknown size resized by %g and %g",
                       r->wanted[0], r->wanted[1]);
        }
        return TAPER_OK;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const float size = floorf((float)in->sizes[first + i] * (float)r->wanted[i]);
        if (!(size >= 1.0f && size < 0x1p+31f)) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "a result of size %g", (double)size);
        }
        r->wanted[i] = (double)size;
    }
    r->scales = false;
    return TAPER_OK;
}

taper_status taper_nnapi_lower_resize(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const bool linear = op->code == TAPER_NNAPI_RESIZE_BILINEAR;
    resizing r;
    bool integers;
    taper_ir_value *x, *y, *none, *items[2], *list, *aligned;
    TAPER_TRY(read_resizing(l, op, &r));
    if (linear ? !r.aligned && !r.half : r.aligned) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "%s",
                   linear ? "RESIZE_BILINEAR with neither aligned corners nor half pixel centers"
                          : "RESIZE_NEAREST_NEIGHBOR with aligned corners");
    }
    if (linear || r.half) {
        TAPER_TRY(use_sizes(l, op, &r));
    }
    TAPER_TRY(taper_nnapi_image(l, op->in[0], r.nchw, &x));
    TAPER_TRY(input_as_result(l, op, &integers, &x));
    for (size_t i = 0; i < 2; i++) {
        const taper_val item = r.scales ? taper_val_double(shortest(r.wanted[i])) : taper_val_int((int64_t)r.wanted[i]);
        TAPER_TRY(taper_nnapi_constant(l, item, &items[i]));
    }
    TAPER_TRY(taper_nnapi_list(l, r.scales ? &taper_type_list_float : &taper_type_list_int, items, 2, &list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_none(), &none));
    taper_ir_value *const sizes = r.scales ? none : list, *const scales = r.scales ? list : none;
    if (linear) {
        TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(r.aligned), &aligned));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_upsample_bilinear2d_vec), &y, x, sizes, aligned, scales));
    } else {
        TAPER_TRY(TAPER_NNAPI_EMIT(
            l, r.half ? TAPER_OP(aten__upsample_nearest_exact2d_vec) : TAPER_OP(aten_upsample_nearest2d_vec), &y, x,
            sizes, scales));
    }
    return give_result(l, op, y, integers, !r.nchw);
}

// ---- rearranging channels and pixels

// Reshapes x to the `count` sizes in `apart`, permutes these dimensions, and reshapes the result to its final sizes.
static taper_status rearrange(taper_nnapi_lowering *l, taper_ir_value *x, const int64_t *apart, const int64_t *order,
                              size_t count, const int64_t *sizes, size_t rank, taper_ir_value **y)
{
    taper_ir_value *list;
    TAPER_TRY(taper_nnapi_int_list(l, apart, count, &list));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_reshape), &x, x, list));
    TAPER_TRY(taper_nnapi_int_list(l, order, count, &list));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_permute), &x, x, list));
    TAPER_TRY(taper_nnapi_int_list(l, sizes, rank, &list));
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_reshape), y, x, list);
}

// Reads the sizes of an operand. If one size is known only at run time, it is -1, which a reshape can infer.
static taper_status sizes_of(taper_nnapi_lowering *l, uint32_t at, size_t needed, int64_t *sizes)
{
    const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
    size_t open = operand->sizes[needed] == 0 ? 2 : 0;
    for (uint32_t d = 0; d < operand->rank; d++) {
        sizes[d] = operand->sizes[d] == 0 ? -1 : operand->sizes[d];
        open += operand->sizes[d] == 0;
    }
    if (open > 1) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "elements of unknown sizes are rearranged");
    }
    return TAPER_OK;
}

// The inputs are x, block size, nchw. The channels are ordered as [block, block, channels of the result].
taper_status taper_nnapi_lower_depth_to_space(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    int64_t block, nchw = 0, s[TAPER_MAX_RANK];
    taper_ir_value *x, *y;
    TAPER_TRY(taper_nnapi_int_of(l, op->in[1], &block));
    if (op->in_count == 3) {
        TAPER_TRY(taper_nnapi_int_of(l, op->in[2], &nchw));
    }
    if (taper_nnapi_operand_of(l, op->in[0])->rank != 4) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u is no image", op->in[0]);
    }
    TAPER_TRY(sizes_of(l, op->in[0], nchw != 0 ? 1 : 3, s));
    const int64_t channels = s[nchw != 0 ? 1 : 3];
    if (block < 1 || block > channels || channels % (block * block) != 0) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "blocks of %lld by %lld of %lld channels", (long long)block,
                   (long long)block, (long long)channels);
    }
    const int64_t made = channels / (block * block), height = s[nchw != 0 ? 2 : 1], width = s[nchw != 0 ? 3 : 2];
    const int64_t high = height < 0 ? -1 : height * block, wide = width < 0 ? -1 : width * block;
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    if (nchw != 0) {
        static const int64_t order[6] = {0, 3, 4, 1, 5, 2};
        const int64_t apart[6] = {s[0], block, block, made, height, width}, sizes[4] = {s[0], made, high, wide};
        TAPER_TRY(rearrange(l, x, apart, order, 6, sizes, 4, &y));
    } else {
        static const int64_t order[6] = {0, 1, 3, 2, 4, 5};
        const int64_t apart[6] = {s[0], height, width, block, block, made}, sizes[4] = {s[0], high, wide, made};
        TAPER_TRY(rearrange(l, x, apart, order, 6, sizes, 4, &y));
    }
    return taper_nnapi_give_moved(l, op, 0, y, false);
}

// The inputs are x, groups, axis. The channels [groups, elements] become [elements, groups].
taper_status taper_nnapi_lower_shuffle(taper_nnapi_lowering *l, const taper_nnapi_operation *op)
{
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    int64_t groups;
    size_t axis = 0;
    taper_ir_value *x, *y, *number;
    TAPER_TRY(taper_nnapi_int_of(l, op->in[1], &groups));
    TAPER_TRY(taper_nnapi_axis_of(l, op->in[2], in->rank, &axis));
    if (groups < 1 || in->sizes[axis] % groups != 0) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%lld elements in %lld groups", (long long)in->sizes[axis],
                   (long long)groups);
    }
    if (in->rank == 4 && (axis == 1 || axis == 3)) { // PyTorch has an operator that shuffles channels
        TAPER_TRY(taper_nnapi_image(l, op->in[0], axis == 1, &x));
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(groups), &number));
        TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_channel_shuffle), &y, x, number));
        return taper_nnapi_give_moved(l, op, 0, y, axis == 3);
    }
    int64_t sizes[TAPER_MAX_RANK], apart[TAPER_MAX_RANK + 1], order[TAPER_MAX_RANK + 1];
    TAPER_TRY(sizes_of(l, op->in[0], axis, sizes));
    if (in->rank == TAPER_MAX_RANK) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a shuffle of %u dimensions", in->rank);
    }
    for (size_t d = 0; d <= in->rank; d++) {
        apart[d] = d < axis ? sizes[d] : d == axis ? groups : d == axis + 1 ? sizes[axis] / groups : sizes[d - 1];
        order[d] = (int64_t)(d == axis ? axis + 1 : d == axis + 1 ? axis : d);
    }
    TAPER_TRY(taper_nnapi_plain(l, op->in[0], &x));
    TAPER_TRY(rearrange(l, x, apart, order, in->rank + 1u, sizes, in->rank, &y));
    return taper_nnapi_give_moved(l, op, 0, y, false);
}
