// SPDX-License-Identifier: BSD-2-Clause
// Infers the shapes of results of layers: convolutions, pools, linear layers, resizing, padding, and reductions.
#include "base/checked.h"
#include "ir/infer.h"

enum { DIMS = 3 }; // largest number of dimensions of a kernel

// Sets *at to the index of the first size after batch and channels of x. Returns false if the rank of x is not
// that of an image with `dims` dimensions, with or without a batch.
static bool is_image(const taper_shape *x, size_t dims, int *at)
{
    *at = x->rank - (int)dims;
    return *at == 1 || *at == 2;
}

// ---- convolutions and pools

typedef taper_conv_shape window;

static taper_shape convolved(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0), weight = taper_infer_tensor(call, 1);
    const unsigned layer = TAPER_FIELD(taper_op_facts(call->op), LAYER);
    taper_shape shape = taper_infer_same_rank(&x);
    window w = {.transposed = layer >= TAPER_LAYER_CONV_TRANSPOSED1 && layer <= TAPER_LAYER_CONV_TRANSPOSED3};
    const size_t dims = (size_t)(weight.rank - 2);
    int at;
    if (weight.rank < 3 || dims > DIMS || !is_image(&x, dims, &at)) {
        return shape;
    }
    if (layer == TAPER_LAYER_CONV) {
        const int64_t transposed = taper_infer_int(call, "transposed", 0);
        if (transposed == TAPER_UNKNOWN) {
            return shape;
        }
        w.transposed = transposed != 0;
    }
    const taper_known *padding = taper_infer_named(call, "padding");
    const bool word = padding != NULL && padding->kind == TAPER_KNOWN_VALUE && padding->value.tag == TAPER_STRING;
    w.same = word && taper_val_string_is(padding->value, "same");
    const int64_t groups = taper_infer_int(call, "groups", 1);
    if (!taper_infer_ints(call, "stride", dims, 1, w.stride) ||
        !taper_infer_ints(call, "dilation", dims, 1, w.dilation) ||
        (!word && !taper_infer_ints(call, "padding", dims, 0, w.padding)) ||
        !taper_infer_ints(call, "output_padding", dims, 0, w.more)) {
        return shape;
    }
    if (at == 2) {
        shape.sizes[0] = x.sizes[0];
    }
    // In PyTorch, the result of a convolution without input channels has no output channels, even if the sizes of the
    // weight state some.
    const bool nothing = weight.sizes[1] == 0;
    int64_t channels = weight.sizes[0];
    if (w.transposed && (weight.sizes[1] == TAPER_UNKNOWN || groups == TAPER_UNKNOWN ||
                         !taper_mul_i64(weight.sizes[1], groups, &channels))) {
        channels = TAPER_UNKNOWN;
    }
    shape.sizes[at - 1] = nothing ? TAPER_UNKNOWN : channels;
    for (size_t d = 0; d < dims; d++) {
        w.kernel[d] = weight.sizes[2 + d];
        shape.sizes[(size_t)at + d] = taper_infer_conv_size(&w, d, x.sizes[(size_t)at + d]);
    }
    return shape;
}

// Returns the number of ints that the schema declares for the argument: 2 for int[2] kernel_size.
static size_t dims_of(const taper_infer_call *call, const char *name)
{
    for (size_t i = 0; i < call->schema->arg_count; i++) {
        if (strcmp(call->schema->args[i].name, name) == 0 && call->schema->args[i].size > 0) {
            return (size_t)call->schema->args[i].size;
        }
    }
    return 0;
}

static taper_shape pooled(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const size_t dims = dims_of(call, "kernel_size");
    const int64_t up = taper_infer_int(call, "ceil_mode", 0);
    taper_shape shape = taper_infer_same_rank(&x);
    window w = {.up = up == 1};
    int at;
    if (dims == 0 || dims > DIMS || !is_image(&x, dims, &at) || up == TAPER_UNKNOWN ||
        !taper_infer_ints(call, "kernel_size", dims, TAPER_UNKNOWN, w.kernel) ||
        !taper_infer_ints(call, "padding", dims, 0, w.padding) ||
        !taper_infer_ints(call, "dilation", dims, 1, w.dilation)) {
        return shape;
    }
    const taper_known *stride = taper_infer_named(call, "stride");
    if (stride != NULL && stride->kind == TAPER_KNOWN_INTS && stride->count == 0) {
        memcpy(w.stride, w.kernel, sizeof w.stride);
    } else if (!taper_infer_ints(call, "stride", dims, TAPER_UNKNOWN, w.stride)) {
        return shape;
    }
    for (int d = 0; d < at; d++) {
        shape.sizes[d] = x.sizes[d];
    }
    for (size_t d = 0; d < dims; d++) {
        shape.sizes[(size_t)at + d] = taper_infer_conv_size(&w, d, x.sizes[(size_t)at + d]);
    }
    return shape;
}

// Returns the sizes of the input, except that the argument output_size replaces the last dimensions.
static taper_shape adapted(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const size_t dims = dims_of(call, "output_size");
    int64_t sizes[DIMS];
    taper_shape shape = taper_infer_same_rank(&x);
    if (dims == 0 || dims > DIMS || x.rank < (int)dims ||
        !taper_infer_ints(call, "output_size", dims, TAPER_UNKNOWN, sizes)) {
        return shape;
    }
    for (int d = 0; d < x.rank; d++) {
        const int k = d - (x.rank - (int)dims);
        shape.sizes[d] = k < 0 ? x.sizes[d] : sizes[k];
    }
    return shape;
}

// If the packed weights are unknown, returns the sizes that do not depend on them: all except the last one for a linear
// layer, and the batch size for a convolution.
static taper_shape packed(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    taper_shape shape = taper_infer_same_rank(&x);
    if (taper_infer_packed(call, &shape)) {
        return shape;
    }
    if (x.rank > 0) {
        const bool linear = TAPER_FIELD(taper_op_facts(call->op), LAYER) == TAPER_LAYER_LINEAR;
        for (int d = 0; d < (linear ? x.rank - 1 : 1); d++) {
            shape.sizes[d] = x.sizes[d];
        }
    }
    return shape;
}

// ---- layers other than convolutions and pools

static taper_shape linear(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const taper_shape weight = taper_infer_tensor(call, 1);
    if (weight.rank != 2 || x.rank < 1) {
        return weight.rank == 2 ? taper_infer_same_rank(&x) : taper_shape_unknown();
    }
    x.sizes[x.rank - 1] = weight.sizes[0];
    return x;
}

// Returns the shape after resizing to output_size. With scale factors the size is unknown, because each operator rounds
// in its own way.
static taper_shape resized(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    taper_shape shape = taper_infer_same_rank(&x);
    if (x.rank < 3 || x.rank > 5) {
        return shape;
    }
    int64_t sizes[DIMS];
    const size_t dims = (size_t)x.rank - 2;
    shape.sizes[0] = x.sizes[0];
    shape.sizes[1] = x.sizes[1];
    if (taper_infer_ints(call, "output_size", dims, TAPER_UNKNOWN, sizes) && sizes[0] != TAPER_UNKNOWN) {
        memcpy(shape.sizes + 2, sizes, dims * sizeof *sizes);
        return shape;
    }
    const taper_known *factors = taper_infer_named(call, "scale_factors");
    for (size_t d = 0; d < dims && factors != NULL && factors->kind == TAPER_KNOWN_VALUE; d++) {
        const taper_list *list = factors->value.tag == TAPER_LIST ? factors->value.as.list : NULL;
        const double factor =
            list != NULL && list->count == dims && list->items[d].tag == TAPER_DOUBLE ? list->items[d].as.f : -1;
        const double size = x.sizes[2 + d] == TAPER_UNKNOWN ? -1 : factor * (double)x.sizes[2 + d];
        shape.sizes[2 + d] = size >= 0 && size < INT32_MAX ? (int64_t)size : TAPER_UNKNOWN;
    }
    return shape;
}

// Returns the shape after padding. The list has (left, right) for the last dimension, then for the dimension before it,
// ….
static taper_shape padded(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *pad = call->count > 1 ? &call->args[1] : NULL;
    if (pad == NULL || pad->kind != TAPER_KNOWN_INTS || x.rank < 0 || pad->count > 2 * (size_t)x.rank) {
        return taper_infer_same_rank(&x);
    }
    for (size_t i = 0; i < pad->count; i++) {
        int64_t *size = &x.sizes[(size_t)x.rank - 1 - i / 2];
        if (*size != TAPER_UNKNOWN && (pad->ints[i] == TAPER_UNKNOWN || !taper_add_i64(*size, pad->ints[i], size))) {
            *size = TAPER_UNKNOWN;
        }
    }
    return x;
}

// Returns (…, c, h r, w r) for the input (…, c r², h, w).
static taper_shape shuffled(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const int64_t up = taper_infer_int(call, "upscale_factor", TAPER_UNKNOWN);
    const int64_t r = up == TAPER_UNKNOWN ? taper_infer_int(call, "downscale_factor", TAPER_UNKNOWN) : up;
    if (x.rank < 3 || r == TAPER_UNKNOWN || r < 1 || r > 1 << 15) {
        return taper_infer_same_rank(&x);
    }
    for (int d = x.rank - 3; d < x.rank; d++) {
        const int64_t by = d == x.rank - 3 ? r * r : r;
        const bool grows = (d == x.rank - 3) == (up == TAPER_UNKNOWN);
        if (x.sizes[d] != TAPER_UNKNOWN &&
            (grows ? !taper_mul_i64(x.sizes[d], by, &x.sizes[d]) : (x.sizes[d] /= by, false))) {
            x.sizes[d] = TAPER_UNKNOWN;
        }
    }
    return x;
}

static taper_shape halved(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    int64_t d = taper_infer_int(call, "dim", TAPER_UNKNOWN);
    if (x.rank < 1 || d == TAPER_UNKNOWN || d < -x.rank || d >= x.rank) {
        return taper_infer_same_rank(&x);
    }
    d += d < 0 ? x.rank : 0;
    x.sizes[d] = x.sizes[d] == TAPER_UNKNOWN ? TAPER_UNKNOWN : x.sizes[d] / 2;
    return x;
}

// Returns the sizes of the output sequence. The rows of the sequence have the length of the first state, h. With
// projections, h is shorter than the second state, c.
static taper_shape recurred(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    if (x.rank < 1 || call->count < 2) {
        return taper_infer_same_rank(&x);
    }
    const taper_known *hx = &call->args[1];
    const taper_shape h =
        hx->kind == TAPER_KNOWN_TENSORS && hx->count != 0 ? hx->shapes[0] : taper_infer_tensor(call, 1);
    const int64_t both = taper_infer_both_directions(call);
    int64_t *rows = &x.sizes[x.rank - 1];
    *rows = h.rank < 1 || both == TAPER_UNKNOWN ? TAPER_UNKNOWN : h.sizes[h.rank - 1];
    if (*rows != TAPER_UNKNOWN && both != 0 && !taper_mul_i64(*rows, 2, rows)) {
        *rows = TAPER_UNKNOWN;
    }
    return x;
}

// Returns the shape of embedding(weight, indices), which has a row of the weight for every index.
static taper_shape embedded(const taper_infer_call *call)
{
    const taper_shape weight = taper_infer_tensor(call, 0);
    taper_shape indices = taper_infer_tensor(call, 1);
    if (indices.rank < 0 || weight.rank < 1 || indices.rank + weight.rank - 1 > TAPER_MAX_RANK) {
        return taper_shape_unknown();
    }
    for (int d = 1; d < weight.rank; d++) {
        indices.sizes[indices.rank++] = weight.sizes[d];
    }
    return indices;
}

// Returns the shape after a reduction over dim, which is one or several dimensions. If there is no such argument, or if
// it is None or an empty list, the reduction is over all dimensions.
static taper_shape reduced(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const int64_t keep = taper_infer_int(call, "keepdim", 0);
    bool gone[TAPER_MAX_RANK] = {false};
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const taper_known *dim = taper_infer_named(call, "dim");
    bool has_dim = false;
    for (size_t i = 0; i < call->schema->arg_count; i++) {
        has_dim |= strcmp(call->schema->args[i].name, "dim") == 0;
    }
    if (keep == TAPER_UNKNOWN || (has_dim && dim == NULL)) {
        return taper_shape_unknown();
    }
    if (dim != NULL && dim->kind == TAPER_KNOWN_INTS && dim->count <= TAPER_MAX_RANK) {
        count = dim->count;
        memcpy(dims, dim->ints, count * sizeof *dims);
    } else if (dim != NULL && dim->kind == TAPER_KNOWN_VALUE && dim->value.tag == TAPER_INT) {
        dims[count++] = dim->value.as.i;
    } else if (dim != NULL && dim->kind != TAPER_KNOWN_NONE) {
        return taper_shape_unknown();
    }
    if (x.rank < 0) {
        return count == 0 && keep == 0 ? (taper_shape){.rank = 0}
               : keep != 0             ? taper_infer_same_rank(&x)
                                       : taper_shape_unknown();
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + x.rank : dims[i];
        if (dims[i] == TAPER_UNKNOWN || ((d < 0 || d >= x.rank) && x.rank != 0)) {
            return taper_shape_unknown();
        }
        gone[x.rank != 0 ? d : 0] = true;
    }
    taper_shape shape = {.rank = 0};
    for (int d = 0; d < x.rank; d++) {
        if (count != 0 && !gone[d]) {
            shape.sizes[shape.rank++] = x.sizes[d];
        } else if (keep != 0) {
            shape.sizes[shape.rank++] = 1;
        }
    }
    return shape;
}

// Returns an image of output_size for each region (roi_align: pooled_height, pooled_width).
static taper_shape regions(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0), rois = taper_infer_tensor(call, 1);
    taper_shape shape = {.rank = 4};
    shape.sizes[0] = rois.rank == 2 ? rois.sizes[0] : TAPER_UNKNOWN;
    shape.sizes[1] = x.rank == 4 ? x.sizes[1] : TAPER_UNKNOWN;
    shape.sizes[2] = taper_infer_int(call, "pooled_height", TAPER_UNKNOWN);
    shape.sizes[3] = taper_infer_int(call, "pooled_width", TAPER_UNKNOWN);
    return shape;
}

// Reads the subscripts of one operand of einsum and records the sizes of its letters. Returns NULL for subscripts with
// other characters; the operator handles these.
static const char *take_subscripts(const char *at, const taper_shape *x, int64_t sizes[128])
{
    int d = 0;
    for (; (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == ' '; at++) {
        if (*at == ' ') {
            continue;
        }
        if (d >= x->rank) {
            return NULL;
        }
        int64_t *size = &sizes[(unsigned char)*at];
        *size = *size == TAPER_UNKNOWN || *size == 1 ? x->sizes[d] : *size;
        d++;
    }
    return d == x->rank ? at : NULL;
}

static taper_shape summed(const taper_infer_call *call)
{
    const bool known = call->count > 1 && call->args[0].kind == TAPER_KNOWN_VALUE &&
                       call->args[0].value.tag == TAPER_STRING && call->args[1].kind == TAPER_KNOWN_TENSORS;
    int64_t sizes[128];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sizes[i] = TAPER_UNKNOWN;
    }
    const char *at = known ? call->args[0].value.as.string->data : NULL;
    for (size_t i = 0; at != NULL && i < call->args[1].count; i++) {
        at = take_subscripts(at, &call->args[1].shapes[i], sizes);
        if (at != NULL && i + 1 < call->args[1].count) {
            at = *at == ',' ? at + 1 : NULL;
        }
    }
    if (at == NULL || at[0] != '-' || at[1] != '>') {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = 0};
    for (at += 2; *at != '\0'; at++) {
        const bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if ((!letter && *at != ' ') || shape.rank == TAPER_MAX_RANK) {
            return taper_shape_unknown();
        }
        if (letter) {
            shape.sizes[shape.rank++] = sizes[(unsigned char)*at];
        }
    }
    return shape;
}

taper_shape taper_infer_layer(const taper_infer_call *call, taper_op_shape rule)
{
    switch (rule) {
    case TAPER_SHAPE_CONV:
        return convolved(call);
    case TAPER_SHAPE_PACKED:
        return packed(call);
    case TAPER_SHAPE_POOL:
        return pooled(call);
    case TAPER_SHAPE_ADAPTIVE:
        return adapted(call);
    case TAPER_SHAPE_LINEAR:
        return linear(call);
    case TAPER_SHAPE_RESIZE:
        return resized(call);
    case TAPER_SHAPE_PAD:
        return padded(call);
    case TAPER_SHAPE_SHUFFLE:
        return shuffled(call);
    case TAPER_SHAPE_EMBED:
        return embedded(call);
    case TAPER_SHAPE_REGION:
        return regions(call);
    case TAPER_SHAPE_EINSUM:
        return summed(call);
    case TAPER_SHAPE_HALF:
        return halved(call);
    case TAPER_SHAPE_RECURRENT:
        return recurred(call);
    default:
        return reduced(call);
    }
}
