// SPDX-License-Identifier: BSD-2-Clause
// Reads the windows of convolutions and pools, which have explicit paddings or a padding scheme.
#include "frontend/nnapi/codes.h"
#include "frontend/nnapi/lowering.h"

enum { SCHEME_SAME = 1, SCHEME_VALID = 2 };

// The layout of an operation's arguments. First come the paddings (4 ints, or a scheme), then strides, kernel, one more
// number, and an activation. An NCHW flag and dilations may follow.
typedef struct layout {
    uint32_t paddings; // index of the first argument for paddings
    bool scheme, kernel, number, flag, dilations;
} layout;

static bool find_layout(const taper_nnapi_lowering *l, const taper_nnapi_operation *op, layout *at)
{
    const bool pool = op->code == TAPER_NNAPI_MAX_POOL_2D || op->code == TAPER_NNAPI_AVERAGE_POOL_2D;
    const bool transposed = op->code == TAPER_NNAPI_TRANSPOSE_CONV_2D,
               grouped = op->code == TAPER_NNAPI_GROUPED_CONV_2D;
    const bool number = grouped || op->code == TAPER_NNAPI_DEPTHWISE_CONV_2D;
    const uint32_t behind = 3u + (pool ? 2 : 0) + number;
    for (uint32_t scheme = 0; scheme < 2; scheme++) {
        // In a transposed convolution, the padding scheme comes after the sizes of the result.
        const uint32_t paddings = pool ? 1 : transposed ? 3 + scheme : 3;
        const uint32_t least = paddings + (scheme != 0 ? 1 : 4) + behind;
        const uint32_t more = op->in_count < least ? UINT32_MAX : op->in_count - least;
        const bool flag = more == 1 || (more == 3 && !pool && !transposed && !grouped);
        if (!flag && (more != 0 || transposed || grouped)) {
            continue;
        }
        // With a padding scheme and dilations, there are as many arguments as with explicit paddings and no NCHW flag.
        // In this case, the type of the argument at the flag's index tells which of the two layouts the call has.
        if (more == 3 && scheme != 0 && taper_nnapi_operand_of(l, op->in[least])->type != TAPER_NNAPI_BOOL) {
            continue;
        }
        if (more == 0 && scheme == 0 && !pool &&
            taper_nnapi_operand_of(l, op->in[least - 3])->type == TAPER_NNAPI_BOOL) {
            continue;
        }
        *at = (layout){paddings, scheme != 0, pool, number, flag, more == 3};
        return true;
    }
    return false;
}

// Computes the paddings of a scheme for one side of the image. in: size of the side in pixels, or 0 if unknown. side: 0
// for height, 1 for width.
static taper_status pad_by_scheme(taper_nnapi_lowering *l, int64_t scheme, int64_t in, size_t side,
                                  taper_nnapi_window *w)
{
    w->before[side] = w->after[side] = 0;
    if (scheme == SCHEME_SAME && (in == 0 || w->kernel[side] == 0)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "padding by a scheme for an image of unknown size");
    }
    if (scheme == SCHEME_SAME) {
        const int64_t stride = w->stride[side], out = (in + stride - 1) / stride;
        const int64_t total = (out - 1) * stride + (w->kernel[side] - 1) * w->dilation[side] + 1 - in;
        w->before[side] = total > 0 ? total / 2 : 0;
        w->after[side] = total > 0 ? total - total / 2 : 0;
    }
    return TAPER_OK;
}

// Checks the numbers of a window. least: smallest allowed size of a kernel, or 0 for computed weights, whose sizes may
// be unknown.
static taper_status check_window(const taper_nnapi_lowering *l, const taper_nnapi_window *w, int64_t least)
{
    for (size_t i = 0; i < 2; i++) {
        if (w->before[i] < 0 || w->after[i] < 0) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "paddings %lld and %lld", (long long)w->before[i],
                       (long long)w->after[i]);
        }
        if (w->stride[i] < 1 || w->dilation[i] < 1 || w->kernel[i] < least) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "a window of %lld with stride %lld and dilation %lld",
                       (long long)w->kernel[i], (long long)w->stride[i], (long long)w->dilation[i]);
        }
    }
    return TAPER_OK;
}

taper_status taper_nnapi_window_of(taper_nnapi_lowering *l, const taper_nnapi_operation *op, const int64_t *kernel,
                                   taper_nnapi_window *w)
{
    layout at;
    int64_t n[16] = {0}; // values of the arguments, beginning with the paddings
    if (!find_layout(l, op, &at)) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "%u inputs are not possible", op->in_count);
    }
    for (uint32_t i = at.paddings; i < op->in_count; i++) {
        TAPER_TRY(taper_nnapi_int_of(l, op->in[i], &n[i - at.paddings]));
    }
    const int64_t *next = at.scheme ? &n[1] : &n[4];
    *w = (taper_nnapi_window){.stride = {next[1], next[0]}, .dilation = {1, 1}, .scheme = at.scheme};
    next += 2;
    if (at.kernel) {
        w->kernel[0] = next[1];
        w->kernel[1] = next[0];
        next += 2;
    } else {
        memcpy(w->kernel, kernel, sizeof w->kernel);
    }
    w->number = at.number ? *next++ : 1;
    w->fuse = *next++;
    w->nchw = at.flag && *next++ != 0;
    if (at.dilations) {
        w->dilation[0] = next[1];
        w->dilation[1] = next[0];
    }
    if (!at.scheme) {
        const int64_t before[2] = {n[2], n[0]}, after[2] = {n[3], n[1]};
        memcpy(w->before, before, sizeof before);
        memcpy(w->after, after, sizeof after);
    }
    TAPER_TRY(check_window(l, w, at.kernel));
    const taper_nnapi_operand *in = taper_nnapi_operand_of(l, op->in[0]);
    const uint32_t first = w->nchw ? 2 : 1;
    const int64_t sizes[2] = {in->sizes[first], in->sizes[first + 1]};
    const bool transposed = op->code == TAPER_NNAPI_TRANSPOSE_CONV_2D;
    if (!at.scheme) {
        // Checked only for transposed convolutions, because all other operators make this check themselves.
        for (size_t i = 0; i < 2; i++) {
            if (transposed && sizes[i] != 0 && w->kernel[i] != 0 &&
                (sizes[i] - 1) * w->stride[i] + w->kernel[i] <= w->before[i] + w->after[i]) {
                TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "paddings %lld and %lld leave nothing",
                           (long long)w->before[i], (long long)w->after[i]);
            }
        }
        return TAPER_OK;
    }
    if (n[0] != SCHEME_SAME && n[0] != SCHEME_VALID) {
        TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "a padding scheme %lld, known are 1 and 2", (long long)n[0]);
    }
    if (!transposed) {
        TAPER_TRY(pad_by_scheme(l, n[0], sizes[0], 0, w));
        return pad_by_scheme(l, n[0], sizes[1], 1, w);
    }
    // Input 3 contains the sizes of the transposed convolution's result. A padding scheme gives the paddings of the
    // forward convolution whose input has these sizes.
    int64_t wanted[4];
    size_t count;
    TAPER_TRY(taper_nnapi_ints_of(l, op->in[3], 4, wanted, &count));
    for (size_t i = 0; i < 2; i++) {
        const int64_t out = count == 4 ? wanted[first + i] : 0;
        if (out < 1) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u is no image's sizes", op->in[3]);
        }
        if (sizes[i] == 0) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "padding by a scheme for an image of unknown size");
        }
        TAPER_TRY(pad_by_scheme(l, n[0], out, i, w));
        w->after[i] = (sizes[i] - 1) * w->stride[i] + w->kernel[i] - w->before[i] - out;
        if (w->after[i] <= -w->stride[i]) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "a result of %lld, which this layer does not reach",
                       (long long)out);
        }
    }
    return TAPER_OK;
}

taper_status taper_nnapi_pad_image(taper_nnapi_lowering *l, const taper_nnapi_window *w, double filling,
                                   taper_ir_value *x, taper_ir_value **made)
{
    const int64_t pads[4] = {w->before[1], w->after[1], w->before[0], w->after[0]};
    taper_ir_value *list, *value;
    TAPER_TRY(taper_nnapi_int_list(l, pads, 4, &list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_double(filling), &value));
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_constant_pad_nd), made, x, list, value);
}

taper_status taper_nnapi_cut(taper_nnapi_lowering *l, taper_ir_value *x, size_t dim, int64_t start, int64_t end,
                             int64_t step, taper_ir_value **made)
{
    const taper_val values[4] = {taper_val_int((int64_t)dim), taper_val_int(start),
                                 end == INT64_MAX ? taper_val_none() : taper_val_int(end), taper_val_int(step)};
    taper_ir_value *args[4];
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(taper_nnapi_constant(l, values[i], &args[i]));
    }
    return TAPER_NNAPI_EMIT(l, TAPER_OP(aten_slice_Tensor), made, x, args[0], args[1], args[2], args[3]);
}
