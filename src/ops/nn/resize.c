// SPDX-License-Identifier: BSD-2-Clause
// The operators that resize: they read arguments, make results, and choose tables and loops. Overloads without a suffix
// give the size, and the scales from which it was computed. The .vec overloads give either the size or scale factors.
#include "ops/nn/resize.h"

#include "ops/call/call.h"
#include "ops/nn/pool.h"

static taper_status check_input(const taper_call *call, const taper_tensor *x, const taper_resize *resize)
{
    taper_error *error = call->run->error;
    TAPER_TRY(taper_volume_check(call, x, resize->spatial, false));
    for (size_t i = 3 - resize->spatial; i < 3; i++) {
        if (resize->size[i] < 1) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the output size should be greater than 0, but is %lld",
                       (long long)resize->size[i]);
        }
    }
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const bool nearest = resize->mode == TAPER_RESIZE_NEAREST || resize->mode == TAPER_RESIZE_NEAREST_EXACT;
    const bool quantized = dtype == TAPER_QU8 || dtype == TAPER_QI8;
    const bool bytes = dtype == TAPER_U8 && (nearest || resize->spatial == 2);
    if (!taper_dtype_is_float(dtype) && !bytes && !(nearest && quantized) &&
        !(quantized && resize->mode == TAPER_RESIZE_LINEAR && resize->spatial == 2)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the input must be a tensor of floating-point numbers");
    }
    return TAPER_OK;
}

// Returns true if the result is made contiguous although x is hidden NHWC. This is done for tensors with only a few
// channels, which do not fill vectors. A tensor with a few channels is typically the result of a segmentation, which
// must be contiguous in the end.
static bool makes_planes(const taper_call *call, const taper_tensor *x, const taper_resize *resize)
{
    return !call->run->portable && x->hidden_nhwc && x->rank == 4 && x->dtype == TAPER_F32 &&
           resize->mode == TAPER_RESIZE_LINEAR && x->sizes[1] < 256 && x->sizes[1] % 8 != 0 &&
           taper_ret_target(call, 0) == NULL;
}

// Returns true if PyTorch's `nearest` loop for x ignores the scale when the size stays or doubles. The loops for
// quantized and channels-last tensors ignore the scale. The loops for planes use the scale.
static bool is_whole(const taper_tensor *x)
{
    const bool plane = x->rank > 3 && (x->sizes[1] == 1 || taper_tensor_numel(x) == x->sizes[0] * x->sizes[1]);
    return x->quantizer != NULL || (x->hidden_nhwc ? plane : taper_tensor_is_channels_last(x));
}

static taper_status fill(taper_call *call, const taper_resize *resize, const taper_resize_axis *axes,
                         const taper_tensor *x, const taper_volume *from, taper_tensor *y, const taper_volume *to)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const void *in = taper_tensor_data(x);
    void *out = taper_tensor_mutable(y);
    if (resize->mode == TAPER_RESIZE_NEAREST || resize->mode == TAPER_RESIZE_NEAREST_EXACT) {
        taper_resize_nearest(call->run, axes, from, in, to, out, taper_tensor_item(x));
        return TAPER_OK;
    }
    if (dtype == TAPER_U8) {
        return taper_resize_bytes(call, axes, from, in, to, out);
    }
    if (resize->mode == TAPER_RESIZE_LINEAR || resize->mode == TAPER_RESIZE_CUBIC) {
        const double zero = x->quantizer != NULL ? (double)x->quantizer->zero_point : 0.0;
        return taper_resize_weighted(call, axes, dtype, from, in, to, out, zero, resize->fused);
    }
    return taper_resize_antialiased(call, axes, dtype, from, in, to, out);
}

taper_status taper_resize_run(taper_call *call, const taper_tensor *x, const taper_resize *wanted)
{
    TAPER_TRY(check_input(call, x, wanted));
    taper_resize with_format = *wanted;
    with_format.fused = x->quantizer != NULL && taper_tensor_is_channels_last(x);
    with_format.scales = with_format.fused || (x->quantizer != NULL && memcmp(x->sizes + x->rank - wanted->spatial,
                                                                              wanted->size + 3 - wanted->spatial,
                                                                              wanted->spatial * sizeof *x->sizes) != 0);
    with_format.whole = is_whole(x);
    const taper_resize *resize = &with_format;
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const taper_resize_mode mode = resize->mode;
    const bool cubic = mode == TAPER_RESIZE_CUBIC || mode == TAPER_RESIZE_CUBIC_AA;
    const bool follows = resize->spatial > 1 && (!cubic || dtype == TAPER_U8);
    const taper_volume from = taper_volume_of(x, resize->spatial);
    taper_tensor *y;
    if (makes_planes(call, x, resize)) {
        const int64_t sizes[4] = {x->sizes[0], x->sizes[1], resize->size[1], resize->size[2]};
        TAPER_TRY(taper_ret_new(call, 0, dtype, 4, sizes, NULL, &y));
    } else {
        TAPER_TRY(taper_volume_result(call, 0, x, dtype, resize->spatial, resize->size, follows, &y));
    }
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    const taper_volume to = taper_volume_of(y, resize->spatial);
    taper_resize_axis axes[3] = {{.input = 0}, {.input = 0}, {.input = 0}};
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < 3 && status == TAPER_OK; i++) {
        status = taper_resize_axis_make(call, resize, i, from.size[i], dtype, &axes[i]);
    }
    if (status == TAPER_OK) {
        status = fill(call, resize, axes, x, &from, y, &to);
    }
    for (size_t i = 0; i < 3; i++) {
        taper_resize_axis_free(call, &axes[i]);
    }
    return status;
}

// Computes floor(input · scale), and fails if the result is not a valid size.
static taper_status scaled_size(const taper_call *call, int64_t input, double scale, int64_t *size)
{
    const double scaled = (double)input * scale;
    if (!(scaled >= 0.0 && scaled < 1e15)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "an input of size %lld cannot be scaled by %g",
                   (long long)input, scale);
    }
    *size = (int64_t)scaled;
    return TAPER_OK;
}

static taper_status resize(taper_call *call, taper_resize_mode mode)
{
    taper_tensor *x;
    taper_resize r = {.mode = mode, .spatial = taper_spatial_of(call), .size = {1, 1, 1}};
    const size_t spatial = r.spatial, skip = 3 - spatial;
    const bool has_align = mode >= TAPER_RESIZE_LINEAR;
    const size_t scales_at = has_align ? 3 : 2;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_volume_check(call, x, spatial, false));
    if (has_align) {
        TAPER_TRY(taper_arg_bool(call, 2, &r.align_corners));
    }
    size_t count;
    // True if sizes are an argument; otherwise scale factors are an argument.
    if (call->schema->args[1].type->kind != TAPER_TYPE_OPTIONAL) {
        TAPER_TRY(taper_arg_ints(call, 1, spatial, spatial, r.size + skip, &count));
        for (size_t i = 0; i < spatial; i++) {
            TAPER_TRY(taper_arg_double_or(call, scales_at + i, 0.0, &r.scale[skip + i]));
        }
        return taper_resize_run(call, x, &r);
    }
    if (taper_arg_is_none(call, 1) == taper_arg_is_none(call, scales_at)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "exactly one of output_size and scale_factors must be given");
    }
    if (!taper_arg_is_none(call, 1)) {
        TAPER_TRY(taper_arg_ints(call, 1, spatial, spatial, r.size + skip, &count));
        return taper_resize_run(call, x, &r);
    }
    TAPER_TRY(taper_arg_doubles(call, scales_at, 3, r.scale, &count));
    if (count != spatial) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "scale_factors has %zu elements, expected %zu", count,
                   spatial);
    }
    memmove(r.scale + skip, r.scale, spatial * sizeof *r.scale);
    for (size_t i = 0; i < spatial; i++) {
        TAPER_TRY(scaled_size(call, x->sizes[2 + i], r.scale[skip + i], &r.size[skip + i]));
    }
    return taper_resize_run(call, x, &r);
}

TAPER_KERNEL(taper_op_upsample_nearest)
{
    return resize(call, TAPER_RESIZE_NEAREST);
}

TAPER_KERNEL(taper_op_upsample_nearest_exact)
{
    return resize(call, TAPER_RESIZE_NEAREST_EXACT);
}

TAPER_KERNEL(taper_op_upsample_linear)
{
    return resize(call, TAPER_RESIZE_LINEAR);
}

TAPER_KERNEL(taper_op_upsample_cubic)
{
    return resize(call, TAPER_RESIZE_CUBIC);
}

TAPER_KERNEL(taper_op_upsample_linear_aa)
{
    return resize(call, TAPER_RESIZE_LINEAR_AA);
}

TAPER_KERNEL(taper_op_upsample_cubic_aa)
{
    return resize(call, TAPER_RESIZE_CUBIC_AA);
}

TAPER_KERNEL(taper_op_upsample_lanczos_aa)
{
    return resize(call, TAPER_RESIZE_LANCZOS_AA);
}

// ---- aten::__interpolate and aten::__upsample, which old versions of TorchScript kept as operators

// Reads size and scale_factor: each is None, a number, or a list of numbers. The scale is the ratio of the sizes,
// unless `recompute` is false.
static taper_status read_size(const taper_call *call, const taper_tensor *x, size_t at, bool recompute, taper_resize *r)
{
    const size_t spatial = r->spatial, skip = 3 - spatial;
    size_t count;
    if (!taper_arg_is_none(call, at)) {
        TAPER_TRY(taper_arg_ints(call, at, spatial, spatial, r->size + skip, &count));
        return TAPER_OK;
    }
    double factors[3] = {0.0, 0.0, 0.0};
    if (taper_arg_is_none(call, at + 1)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "either size or scale_factor must be given");
    }
    if (call->args[at + 1].tag == TAPER_LIST) {
        const taper_list *list = call->args[at + 1].as.list;
        if (list->count != spatial) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "scale_factor has %zu elements, expected %zu",
                       list->count, spatial);
        }
        for (size_t i = 0; i < spatial; i++) {
            const taper_val item = list->items[i];
            factors[i] = item.tag == TAPER_DOUBLE ? item.as.f : item.tag == TAPER_INT ? (double)item.as.i : 0.0;
        }
    } else {
        TAPER_TRY(taper_arg_double(call, at + 1, &factors[0]));
        factors[1] = factors[2] = factors[0];
    }
    for (size_t i = 0; i < spatial; i++) {
        TAPER_TRY(scaled_size(call, x->sizes[2 + i], factors[i], &r->size[skip + i]));
        r->scale[skip + i] = recompute ? 0.0 : factors[i];
    }
    return TAPER_OK;
}

static taper_status interpolate(taper_call *call, const char *mode, bool align_corners, bool recompute, bool antialias)
{
    static const struct {
        const char *name;
        uint8_t ranks; // bit r is set if the operator accepts tensors of rank r
        uint8_t mode;
    } modes[] = {
        {"nearest", 1 << 3 | 1 << 4 | 1 << 5, TAPER_RESIZE_NEAREST},
        {"nearest-exact", 1 << 3 | 1 << 4 | 1 << 5, TAPER_RESIZE_NEAREST_EXACT},
        {"linear", 1 << 3, TAPER_RESIZE_LINEAR},
        {"bilinear", 1 << 4, TAPER_RESIZE_LINEAR},
        {"trilinear", 1 << 5, TAPER_RESIZE_LINEAR},
        {"bicubic", 1 << 4, TAPER_RESIZE_CUBIC},
    };
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank < 3 || x->rank > 5) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input has %u dimensions, expected 3, 4 or 5",
                   (unsigned)x->rank);
    }
    taper_resize r = {.spatial = x->rank - 2u, .size = {1, 1, 1}, .align_corners = align_corners};
    TAPER_TRY(read_size(call, x, 1, recompute, &r));
    if (strcmp(mode, "area") == 0) {
        return taper_pool_area(call, x, r.spatial, r.size);
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i].name) != 0 || (modes[i].ranks >> x->rank & 1) == 0) {
            continue;
        }
        r.mode = (taper_resize_mode)modes[i].mode;
        if (antialias && x->rank == 4 && (r.mode == TAPER_RESIZE_LINEAR || r.mode == TAPER_RESIZE_CUBIC)) {
            r.mode = r.mode == TAPER_RESIZE_LINEAR ? TAPER_RESIZE_LINEAR_AA : TAPER_RESIZE_CUBIC_AA;
        }
        return taper_resize_run(call, x, &r);
    }
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "mode \"%s\" does not go with an input of %u dimensions", mode,
               (unsigned)x->rank);
}

static taper_status optional_bool(const taper_call *call, size_t at, bool otherwise, bool *flag)
{
    *flag = otherwise;
    return taper_arg_is_none(call, at) ? TAPER_OK : taper_arg_bool(call, at, flag);
}

TAPER_KERNEL(taper_op_interpolate)
{
    const taper_string *mode;
    bool align_corners, recompute, antialias;
    TAPER_TRY(taper_arg_string(call, 3, &mode));
    TAPER_TRY(optional_bool(call, 4, false, &align_corners));
    TAPER_TRY(optional_bool(call, 5, true, &recompute));
    TAPER_TRY(optional_bool(call, 6, false, &antialias));
    return interpolate(call, mode->data, align_corners, recompute, antialias);
}

TAPER_KERNEL(taper_op_old_upsample)
{
    const taper_string *mode;
    bool align_corners;
    TAPER_TRY(taper_arg_string(call, 3, &mode));
    TAPER_TRY(optional_bool(call, 4, false, &align_corners));
    return interpolate(call, mode->data, align_corners, true, false);
}

TAPER_KERNEL(taper_op_old_upsample_nearest)
{
    return interpolate(call, "nearest", false, true, false);
}

TAPER_KERNEL(taper_op_old_upsample_bilinear)
{
    return interpolate(call, "bilinear", true, true, false);
}
