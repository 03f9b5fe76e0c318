// SPDX-License-Identifier: BSD-2-Clause
// Compositions and gradients of Fourier transforms. Each transform is composed from one of three operators of the
// operator list: `_fft_c2c`, `_fft_r2c` or `_fft_c2r`. The adjoint of a transform has the same normalization and the
// opposite direction.
#include "ops/gradient/steps_math.h"

enum { FFT, IFFT, RFFT, IHFFT, IRFFT, HFFT };

enum { BY_NOTHING, BY_ROOT, BY_COUNT };

static bool goes_forward(int64_t kind)
{
    return kind == FFT || kind == RFFT || kind == HFFT;
}

static int64_t normalization(taper_steps *s, size_t at, bool forward)
{
    const taper_string *const name = s->args[at].tag == TAPER_STRING ? s->args[at].as.string : NULL;
    if (name != NULL && name->length != 0 && name->data[0] == 'o') {
        return BY_ROOT;
    }
    const bool named_forward = name != NULL && name->length != 0 && name->data[0] == 'f';
    return named_forward == forward ? BY_COUNT : BY_NOTHING;
}

// Cuts a dimension to `size` elements, or fills it to this size with zeros at its end.
static taper_step_value resized(taper_steps *s, taper_step_value x, int64_t dim, int64_t size)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    int64_t pad[2 * TAPER_MAX_RANK] = {0};
    if (t == NULL || dim >= t->rank || t->sizes[dim] == size) {
        return x;
    }
    if (t->sizes[dim] > size) {
        return taper_step_narrow(s, x, dim, 0, size);
    }
    const size_t from_end = t->rank - 1 - (size_t)dim;
    pad[2 * from_end + 1] = size - t->sizes[dim]; // from_end and this difference are at least 0
    return TAPER_STEP(s, aten_constant_pad_nd, x, taper_steps_ints(s, pad, 2 * from_end + 2));
}

static taper_step_value as_complex(taper_steps *s, taper_step_value x)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    if (t == NULL || taper_dtype_is_complex((taper_dtype)t->dtype)) {
        return x;
    }
    return TAPER_STEP(s, aten_to_dtype, x, taper_step_int(s, t->dtype == TAPER_F64 ? TAPER_C128 : TAPER_C64));
}

static taper_step_value transformed(taper_steps *s, taper_step_value x, const int64_t *dims, const int64_t *sizes,
                                    size_t count, int64_t scale, int64_t kind)
{
    const bool to_real = kind == IRFFT || kind == HFFT, forward = goes_forward(kind);
    const int64_t last = count != 0 ? sizes[count - 1] : 1;
    for (size_t i = 0; i < count; i++) {
        x = resized(s, x, dims[i], to_real && i + 1 == count ? last / 2 + 1 : sizes[i]);
    }
    const taper_step_value list = taper_steps_ints(s, dims, count), by = taper_step_int(s, scale);
    if (kind == RFFT || kind == IHFFT) {
        const taper_step_value found = TAPER_STEP(s, aten__fft_r2c, x, list, by, taper_step_bool(true));
        return kind == IHFFT ? taper_step_conj(s, found) : found;
    }
    x = as_complex(s, x);
    if (to_real) {
        x = kind == HFFT ? taper_step_conj(s, x) : x;
        return TAPER_STEP(s, aten__fft_c2r, x, list, by, taper_step_int(s, last));
    }
    return TAPER_STEP(s, aten__fft_c2c, x, list, by, taper_step_bool(forward));
}

// Returns the size of a transform for which the caller gave no size.
static int64_t own_size(const taper_tensor *t, int64_t dim, bool to_real)
{
    return to_real ? taper_wrap_mul(2, t->sizes[dim] - 1) : t->sizes[dim];
}

TAPER_STEPS_KERNEL(taper_op_fft_steps)
{
    const taper_tensor *const t = s->args[0].as.tensor;
    int64_t dim = taper_steps_int(s, 2);
    const int64_t kind = taper_steps_int(s, 4);
    TAPER_TRY(taper_step_dim(s, &dim, t->rank));
    int64_t size = taper_steps_int_or(s, 1, own_size(t, dim, kind == IRFFT || kind == HFFT));
    return taper_steps_ret(s, 0,
                           transformed(s, &s->args[0], &dim, &size, 1, normalization(s, 3, goes_forward(kind)), kind));
}

TAPER_STEPS_KERNEL(taper_op_fftn_steps)
{
    const taper_tensor *const t = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK], sizes[TAPER_MAX_RANK];
    size_t count = t->rank, given = 0;
    const int64_t kind = taper_steps_int(s, 4);
    const bool has_sizes = !taper_steps_is_none(s, 1), to_real = kind == IRFFT || kind == HFFT;
    if (has_sizes) {
        TAPER_TRY(taper_arg_ints(s->call, 1, 0, TAPER_MAX_RANK, sizes, &given));
        count = given;
    }
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)t->rank - (int64_t)count + (int64_t)i;
    }
    if (!taper_steps_is_none(s, 2)) {
        TAPER_TRY(taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, dims, &count));
    }
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_step_dim(s, &dims[i], t->rank));
        if (!has_sizes || i >= given || sizes[i] == -1) {
            sizes[i] = own_size(t, dims[i], to_real && i + 1 == count);
        }
    }
    return taper_steps_ret(
        s, 0, transformed(s, &s->args[0], dims, sizes, count, normalization(s, 3, goes_forward(kind)), kind));
}

TAPER_STEPS_KERNEL(taper_op_not_flag)
{
    const bool flag = taper_steps_bool(s, 0);
    return taper_steps_ret(s, 0, taper_step_bool(!flag));
}

// Computes the gradient of a transform of real numbers. The outputs that such a transform omits have the gradient 0.
TAPER_STEPS_KERNEL(taper_op_r2c_gradient)
{
    const taper_tensor *const self = s->args[1].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, dims, &count));
    int64_t last = count != 0 ? dims[count - 1] : 0;
    TAPER_TRY(taper_step_dim(s, &last, self->rank));
    const taper_step_value grad = resized(s, &s->args[0], last, self->sizes[last]);
    const taper_step_value found = TAPER_STEP(s, aten__fft_c2c, grad, &s->args[2], &s->args[3], taper_step_bool(false));
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_real, found));
}

// Computes the gradient of a transform to real numbers. An input that represents two conjugate numbers has twice the
// gradient.
TAPER_STEPS_KERNEL(taper_op_c2r_gradient)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(s->call, 1, 0, TAPER_MAX_RANK, dims, &count));
    const int64_t size = taper_steps_int(s, 3);
    const int64_t rank = s->args[0].as.tensor->rank;
    int64_t last = count != 0 ? dims[count - 1] : 0;
    TAPER_TRY(taper_step_dim(s, &last, (size_t)rank));
    taper_step_value grad = TAPER_STEP(s, aten__fft_r2c, &s->args[0], &s->args[1], &s->args[2], taper_step_bool(true));
    const taper_tensor *const t = taper_steps_tensor(s, grad);
    const int64_t half = t != NULL ? t->sizes[last] : 0, twice = taper_wrap_sub(size, half);
    if (twice > 0) {
        const taper_step_value parts[3] = {
            taper_step_narrow(s, grad, last, 0, 1), taper_step_scale(s, taper_step_narrow(s, grad, last, 1, twice), 2),
            taper_step_narrow(s, grad, last, taper_wrap_add(1, twice), taper_wrap_sub(half - 1, twice))};
        grad = TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, 3), taper_step_int(s, last));
    }
    return taper_steps_ret(s, 0, grad);
}

// ---- short-time Fourier transforms

// Returns the window with zeros on both sides, or None.
static taper_step_value centred_window(taper_steps *s, int64_t length, int64_t size)
{
    const int64_t left = taper_wrap_sub(size, length) / 2,
                  pad[2] = {left, taper_wrap_sub(taper_wrap_sub(size, length), left)};
    taper_step_value window = &s->args[4];
    if (!taper_step_is_tensor(window)) {
        if (length == size) {
            return window;
        }
        const taper_step_value whole = taper_steps_ints(s, &length, 1);
        window = TAPER_STEP(s, aten_ones, whole, taper_step_int(s, s->args[0].as.tensor->dtype));
    }
    return length == size ? window : TAPER_STEP(s, aten_constant_pad_nd, window, taper_steps_ints(s, pad, 2));
}

TAPER_STEPS_KERNEL(taper_op_stft_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const bool complex = taper_dtype_is_complex((taper_dtype)self->dtype);
    int64_t size, hop, length, dim = 2;
    bool normalized, onesided = !complex, keeps_complex = false;
    size = taper_steps_int(s, 1);
    hop = taper_steps_int_or(s, 2, size / 4);
    length = taper_steps_int_or(s, 3, size);
    normalized = taper_steps_bool(s, 5);
    onesided = taper_steps_is_none(s, 6) ? onesided : taper_steps_bool(s, 6);
    keeps_complex = taper_steps_is_none(s, 7) ? keeps_complex : taper_steps_bool(s, 7);
    if (size <= 0 || hop <= 0 || length <= 0 || length > size || self->rank == 0 || self->rank > 2) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                   "stft expects a signal of 1 or 2 dimensions, and a window of at most n_fft samples");
    }
    const taper_step_value window = centred_window(s, length, size);
    taper_step_value x = self->rank == 1 ? taper_step_unsqueeze(s, &s->args[0], 0) : &s->args[0];
    x = TAPER_STEP(s, aten_unfold, x, TAPER_STEP_INT(-1), taper_step_int(s, size), taper_step_int(s, hop));
    x = taper_step_is_tensor(window) ? taper_step_mul(s, x, window) : x;
    const taper_tensor *const framed = taper_steps_tensor(s, x);
    const bool now_complex = framed != NULL && taper_dtype_is_complex((taper_dtype)framed->dtype);
    const taper_step_value dims = taper_steps_ints(s, &dim, 1),
                           by = taper_step_int(s, normalized ? BY_ROOT : BY_NOTHING);
    x = now_complex ? TAPER_STEP(s, aten__fft_c2c, x, dims, by, taper_step_bool(true))
                    : TAPER_STEP(s, aten__fft_r2c, x, dims, by, taper_step_bool(onesided));
    x = taper_step_transpose(s, x, 1, 2);
    x = self->rank == 1 ? TAPER_STEP(s, aten_squeeze_dim, x, TAPER_STEP_INT(0)) : x;
    return taper_steps_ret(s, 0, keeps_complex ? x : TAPER_STEP(s, aten_view_as_real, x));
}

TAPER_STEPS_KERNEL(taper_op_istft_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    const bool complex = taper_dtype_is_complex((taper_dtype)self->dtype);
    bool onesided;
    int64_t size = taper_steps_int(s, 1);
    const int64_t hop = taper_steps_int_or(s, 2, size / 4);
    const int64_t length = taper_steps_int_or(s, 3, size);
    const bool center = taper_steps_bool(s, 5);
    const bool normalized = taper_steps_bool(s, 6);
    const int64_t wanted = taper_steps_int_or(s, 8, -1);
    const bool keeps_complex = taper_steps_bool(s, 9);
    taper_step_value x =
        complex ? &s->args[0] : TAPER_STEP(s, aten_view_as_complex, TAPER_STEP(s, aten_contiguous, &s->args[0]));
    const taper_tensor *t = taper_steps_tensor(s, x);
    const bool single = t != NULL && t->rank == 2;
    x = taper_step_transpose(s, single ? taper_step_unsqueeze(s, x, 0) : x, 1, 2); // [batch, frames, frequencies]
    t = taper_steps_tensor(s, x);
    if (t == NULL) {
        return s->status;
    }
    onesided = t->sizes[2] != size;
    onesided = taper_steps_is_none(s, 7) ? onesided : taper_steps_bool(s, 7);
    const int64_t dim = 2, frames = t->sizes[1], batch = t->sizes[0],
                  whole = taper_wrap_add(size, taper_wrap_mul(hop, frames - 1));
    const taper_step_value dims = taper_steps_ints(s, &dim, 1), by = taper_step_int(s, normalized ? BY_ROOT : BY_COUNT);
    if (keeps_complex) {
        x = TAPER_STEP(s, aten__fft_c2c, x, dims, by, taper_step_bool(false));
    } else { // a transform of real numbers has half of the frequencies
        x = onesided ? x : taper_step_narrow(s, x, 2, 0, size / 2 + 1);
        x = TAPER_STEP(s, aten__fft_c2r, x, dims, by, taper_step_int(s, size));
    }
    taper_step_value window = centred_window(s, length, size);
    if (!taper_step_is_tensor(window)) {
        const taper_step_value one = taper_steps_ints(s, &size, 1);
        window = TAPER_STEP(s, aten_ones, one, taper_step_int(s, taper_steps_tensor(s, x) != NULL ? TAPER_F64 : 0));
        window = TAPER_STEP(
            s, aten_to_dtype, window,
            taper_step_int(s, self->dtype == TAPER_F64 || self->dtype == TAPER_C128 ? TAPER_F64 : TAPER_F32));
    }
    x = taper_step_mul(s, x, window);
    const taper_step_value step = taper_step_int(s, hop), width = taper_step_int(s, size), along = TAPER_STEP_INT(1);
    const taper_step_value like = TAPER_STEP(s, aten_zeros, taper_steps_ints(s, (int64_t[]){batch, whole}, 2));
    const taper_step_value one_like = TAPER_STEP(s, aten_zeros, taper_steps_ints(s, (int64_t[]){1, whole}, 2));
    taper_step_value y = TAPER_STEP(s, taper_unfold_gradient, x, like, along, width, step);
    taper_step_value squares = TAPER_STEP(s, aten_expand, taper_step_mul(s, window, window),
                                          taper_steps_ints(s, (int64_t[]){1, frames, size}, 3));
    squares = TAPER_STEP(s, taper_unfold_gradient, squares, one_like, along, width, step);
    const int64_t start = center ? size / 2 : 0;
    const int64_t end = wanted >= 0 ? taper_wrap_add(start, wanted) : center ? taper_wrap_sub(whole, size / 2) : whole;
    const int64_t used = taper_wrap_sub(taper_min_i64(end, whole), start);
    y = taper_step_div(s, taper_step_narrow(s, y, 1, start, used), taper_step_narrow(s, squares, 1, start, used));
    y = resized(s, y, 1, taper_wrap_sub(end, start));
    return taper_steps_ret(s, 0, single ? TAPER_STEP(s, aten_squeeze_dim, y, TAPER_STEP_INT(0)) : y);
}

// Computes a matrix of powers of numbers (`vander`). The exponents ascend from 0, or descend to 0.
TAPER_STEPS_KERNEL(taper_op_vander_steps)
{
    const taper_tensor *const x = s->args[0].as.tensor;
    const int64_t count = taper_steps_int_or(s, 1, x->rank != 0 ? x->sizes[x->rank - 1] : 1);
    const bool increasing = taper_steps_bool(s, 2);
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[x->rank] = count > 0 ? count - 1 : 0;
    const taper_step_value column = taper_step_unsqueeze(s, &s->args[0], -1);
    const taper_step_value ones = TAPER_STEP(s, aten_ones_like, taper_step_detach(s, column));
    taper_step_value powers = TAPER_STEP(s, aten_expand, column, taper_steps_ints(s, sizes, x->rank + 1u));
    powers = TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){ones, powers}, 2), TAPER_STEP_INT(-1));
    powers = TAPER_STEP(s, aten_cumprod, powers, TAPER_STEP_INT(-1));
    const int64_t last = -1;
    powers = increasing ? powers : TAPER_STEP(s, aten_flip, powers, taper_steps_ints(s, &last, 1));
    return taper_steps_ret(s, 0, powers);
}
