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

static int64_t normalization(const taper_call *call, size_t at, bool forward)
{
    const taper_string *const name = call->args[at].tag == TAPER_STRING ? call->args[at].as.string : NULL;
    if (name != NULL && name->length != 0 && name->data[0] == 'o') {
        return BY_ROOT;
    }
    const bool named_forward = name != NULL && name->length != 0 && name->data[0] == 'f';
    return named_forward == forward ? BY_COUNT : BY_NOTHING;
}

// Cuts a dimension, or fills it with zeros at its end.
static taper_val resized(taper_steps *s, taper_val x, int64_t dim, int64_t size)
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

static taper_val as_complex(taper_steps *s, taper_val x)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    if (t == NULL || taper_dtype_is_complex((taper_dtype)t->dtype)) {
        return x;
    }
    return TAPER_STEP(s, aten_to_dtype, x, taper_val_int(t->dtype == TAPER_F64 ? TAPER_C128 : TAPER_C64));
}

static taper_val transformed(taper_steps *s, taper_val x, const int64_t *dims, const int64_t *sizes, size_t count,
                             int64_t scale, int64_t kind)
{
    const bool to_real = kind == IRFFT || kind == HFFT, forward = goes_forward(kind);
    const int64_t last = count != 0 ? sizes[count - 1] : 1;
    for (size_t i = 0; i < count; i++) {
        x = resized(s, x, dims[i], to_real && i + 1 == count ? last / 2 + 1 : sizes[i]);
    }
    const taper_val list = taper_steps_ints(s, dims, count), by = taper_val_int(scale);
    if (kind == RFFT || kind == IHFFT) {
        const taper_val found = TAPER_STEP(s, aten__fft_r2c, x, list, by, taper_val_bool(true));
        return kind == IHFFT ? taper_step_conj(s, found) : found;
    }
    x = as_complex(s, x);
    if (to_real) {
        x = kind == HFFT ? taper_step_conj(s, x) : x;
        return TAPER_STEP(s, aten__fft_c2r, x, list, by, taper_val_int(last));
    }
    return TAPER_STEP(s, aten__fft_c2c, x, list, by, taper_val_bool(forward));
}

// Returns the size of a transform that the caller did not give.
static int64_t own_size(const taper_tensor *t, int64_t dim, bool to_real)
{
    return to_real ? taper_wrap_mul(2, t->sizes[dim] - 1) : t->sizes[dim];
}

TAPER_STEPS_KERNEL(taper_op_fft_steps)
{
    taper_steps s;
    const taper_tensor *const t = call->args[0].as.tensor;
    int64_t dim, size, kind;
    TAPER_TRY(taper_arg_int(call, 2, &dim));
    TAPER_TRY(taper_arg_int(call, 4, &kind));
    TAPER_TRY(taper_step_dim(call, &dim, t->rank));
    TAPER_TRY(taper_arg_int_or(call, 1, own_size(t, dim, kind == IRFFT || kind == HFFT), &size));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    transformed(&s, call->args[0], &dim, &size, 1, normalization(call, 3, goes_forward(kind)), kind));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_fftn_steps)
{
    taper_steps s;
    const taper_tensor *const t = call->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK], sizes[TAPER_MAX_RANK], kind;
    size_t count = t->rank, given = 0;
    TAPER_TRY(taper_arg_int(call, 4, &kind));
    const bool has_sizes = !taper_arg_is_none(call, 1), to_real = kind == IRFFT || kind == HFFT;
    if (has_sizes) {
        TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &given));
        count = given;
    }
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)t->rank - (int64_t)count + (int64_t)i;
    }
    if (!taper_arg_is_none(call, 2)) {
        TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &count));
    }
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_step_dim(call, &dims[i], t->rank));
        if (!has_sizes || i >= given || sizes[i] == -1) {
            sizes[i] = own_size(t, dims[i], to_real && i + 1 == count);
        }
    }
    taper_steps_begin(&s, call->run);
    taper_steps_ret(
        &s, call, 0,
        transformed(&s, call->args[0], dims, sizes, count, normalization(call, 3, goes_forward(kind)), kind));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_not_flag)
{
    bool flag;
    TAPER_TRY(taper_arg_bool(call, 0, &flag));
    taper_ret(call, 0, taper_val_bool(!flag));
    return TAPER_OK;
}

// The gradient of a transform of real numbers. The outputs that such a transform omits have the gradient 0.
TAPER_STEPS_KERNEL(taper_op_r2c_gradient)
{
    taper_steps s;
    const taper_tensor *const self = call->args[1].as.tensor;
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &count));
    int64_t last = count != 0 ? dims[count - 1] : 0;
    TAPER_TRY(taper_step_dim(call, &last, self->rank));
    taper_steps_begin(&s, call->run);
    const taper_val grad = resized(&s, call->args[0], last, self->sizes[last]);
    const taper_val found = TAPER_STEP(&s, aten__fft_c2c, grad, call->args[2], call->args[3], taper_val_bool(false));
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_real, found));
    return taper_steps_end(&s);
}

// The gradient of a transform to real numbers. An input that represents two conjugate numbers has twice the gradient.
TAPER_STEPS_KERNEL(taper_op_c2r_gradient)
{
    taper_steps s;
    int64_t dims[TAPER_MAX_RANK], size;
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    TAPER_TRY(taper_arg_int(call, 3, &size));
    const int64_t rank = call->args[0].as.tensor->rank;
    int64_t last = count != 0 ? dims[count - 1] : 0;
    TAPER_TRY(taper_step_dim(call, &last, (size_t)rank));
    taper_steps_begin(&s, call->run);
    taper_val grad = TAPER_STEP(&s, aten__fft_r2c, call->args[0], call->args[1], call->args[2], taper_val_bool(true));
    const taper_tensor *const t = taper_steps_tensor(&s, grad);
    const int64_t half = t != NULL ? t->sizes[last] : 0, twice = taper_wrap_sub(size, half);
    if (twice > 0) {
        const taper_val parts[3] = {
            taper_step_narrow(&s, grad, last, 0, 1),
            taper_step_scale(&s, taper_step_narrow(&s, grad, last, 1, twice), 2),
            taper_step_narrow(&s, grad, last, taper_wrap_add(1, twice), taper_wrap_sub(half - 1, twice))};
        grad = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, parts, 3), taper_val_int(last));
    }
    taper_steps_ret(&s, call, 0, grad);
    return taper_steps_end(&s);
}

// ---- transforms of short times

// Returns the window with zeros on both sides, or None.
static taper_val centred_window(taper_steps *s, const taper_call *call, int64_t length, int64_t size)
{
    const int64_t left = taper_wrap_sub(size, length) / 2,
                  pad[2] = {left, taper_wrap_sub(taper_wrap_sub(size, length), left)};
    taper_val window = call->args[4];
    if (!taper_step_is_tensor(window)) {
        if (length == size) {
            return window;
        }
        const taper_val whole = taper_steps_ints(s, &length, 1);
        window = TAPER_STEP(s, aten_ones, whole, taper_val_int(call->args[0].as.tensor->dtype));
    }
    return length == size ? window : TAPER_STEP(s, aten_constant_pad_nd, window, taper_steps_ints(s, pad, 2));
}

TAPER_STEPS_KERNEL(taper_op_stft_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    const bool complex = taper_dtype_is_complex((taper_dtype)self->dtype);
    int64_t size, hop, length, dim = 2;
    bool normalized, onesided = !complex, keeps_complex = false;
    TAPER_TRY(taper_arg_int(call, 1, &size));
    TAPER_TRY(taper_arg_int_or(call, 2, size / 4, &hop));
    TAPER_TRY(taper_arg_int_or(call, 3, size, &length));
    TAPER_TRY(taper_arg_bool(call, 5, &normalized));
    TAPER_TRY(taper_arg_is_none(call, 6) ? TAPER_OK : taper_arg_bool(call, 6, &onesided));
    TAPER_TRY(taper_arg_is_none(call, 7) ? TAPER_OK : taper_arg_bool(call, 7, &keeps_complex));
    if (size <= 0 || hop <= 0 || length <= 0 || length > size || self->rank == 0 || self->rank > 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "stft expects a signal of 1 or 2 dimensions, and a window of at most n_fft samples");
    }
    taper_steps_begin(&s, call->run);
    const taper_val window = centred_window(&s, call, length, size);
    taper_val x = self->rank == 1 ? taper_step_unsqueeze(&s, call->args[0], 0) : call->args[0];
    x = TAPER_STEP(&s, aten_unfold, x, taper_val_int(-1), taper_val_int(size), taper_val_int(hop));
    x = taper_step_is_tensor(window) ? taper_step_mul(&s, x, window) : x;
    const taper_tensor *const framed = taper_steps_tensor(&s, x);
    const bool now_complex = framed != NULL && taper_dtype_is_complex((taper_dtype)framed->dtype);
    const taper_val dims = taper_steps_ints(&s, &dim, 1), by = taper_val_int(normalized ? BY_ROOT : BY_NOTHING);
    x = now_complex ? TAPER_STEP(&s, aten__fft_c2c, x, dims, by, taper_val_bool(true))
                    : TAPER_STEP(&s, aten__fft_r2c, x, dims, by, taper_val_bool(onesided));
    x = taper_step_transpose(&s, x, 1, 2);
    x = self->rank == 1 ? TAPER_STEP(&s, aten_squeeze_dim, x, taper_val_int(0)) : x;
    taper_steps_ret(&s, call, 0, keeps_complex ? x : TAPER_STEP(&s, aten_view_as_real, x));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_istft_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    const bool complex = taper_dtype_is_complex((taper_dtype)self->dtype);
    int64_t size, hop, length, wanted;
    bool center, normalized, onesided, keeps_complex;
    TAPER_TRY(taper_arg_int(call, 1, &size));
    TAPER_TRY(taper_arg_int_or(call, 2, size / 4, &hop));
    TAPER_TRY(taper_arg_int_or(call, 3, size, &length));
    TAPER_TRY(taper_arg_bool(call, 5, &center));
    TAPER_TRY(taper_arg_bool(call, 6, &normalized));
    TAPER_TRY(taper_arg_int_or(call, 8, -1, &wanted));
    TAPER_TRY(taper_arg_bool(call, 9, &keeps_complex));
    taper_steps_begin(&s, call->run);
    taper_val x =
        complex ? call->args[0] : TAPER_STEP(&s, aten_view_as_complex, TAPER_STEP(&s, aten_contiguous, call->args[0]));
    const taper_tensor *t = taper_steps_tensor(&s, x);
    const bool single = t != NULL && t->rank == 2;
    x = taper_step_transpose(&s, single ? taper_step_unsqueeze(&s, x, 0) : x, 1, 2); // [batch, frames, frequencies]
    t = taper_steps_tensor(&s, x);
    if (t == NULL) {
        return taper_steps_end(&s);
    }
    onesided = t->sizes[2] != size;
    taper_steps_fail(&s, taper_arg_is_none(call, 7) ? TAPER_OK : taper_arg_bool(call, 7, &onesided));
    const int64_t dim = 2, frames = t->sizes[1], batch = t->sizes[0],
                  whole = taper_wrap_add(size, taper_wrap_mul(hop, frames - 1));
    const taper_val dims = taper_steps_ints(&s, &dim, 1), by = taper_val_int(normalized ? BY_ROOT : BY_COUNT);
    if (keeps_complex) {
        x = TAPER_STEP(&s, aten__fft_c2c, x, dims, by, taper_val_bool(false));
    } else { // a transform of real numbers has half of the frequencies
        x = onesided ? x : taper_step_narrow(&s, x, 2, 0, size / 2 + 1);
        x = TAPER_STEP(&s, aten__fft_c2r, x, dims, by, taper_val_int(size));
    }
    taper_val window = centred_window(&s, call, length, size);
    if (!taper_step_is_tensor(window)) {
        const taper_val one = taper_steps_ints(&s, &size, 1);
        window = TAPER_STEP(&s, aten_ones, one, taper_val_int(taper_steps_tensor(&s, x) != NULL ? TAPER_F64 : 0));
        window =
            TAPER_STEP(&s, aten_to_dtype, window,
                       taper_val_int(self->dtype == TAPER_F64 || self->dtype == TAPER_C128 ? TAPER_F64 : TAPER_F32));
    }
    x = taper_step_mul(&s, x, window);
    const taper_val step = taper_val_int(hop), width = taper_val_int(size), along = taper_val_int(1);
    const taper_val like = TAPER_STEP(&s, aten_zeros, taper_steps_ints(&s, (int64_t[]){batch, whole}, 2));
    const taper_val one_like = TAPER_STEP(&s, aten_zeros, taper_steps_ints(&s, (int64_t[]){1, whole}, 2));
    taper_val y = TAPER_STEP(&s, taper_unfold_gradient, x, like, along, width, step);
    taper_val squares = TAPER_STEP(&s, aten_expand, taper_step_mul(&s, window, window),
                                   taper_steps_ints(&s, (int64_t[]){1, frames, size}, 3));
    squares = TAPER_STEP(&s, taper_unfold_gradient, squares, one_like, along, width, step);
    const int64_t start = center ? size / 2 : 0;
    const int64_t end = wanted >= 0 ? taper_wrap_add(start, wanted) : center ? taper_wrap_sub(whole, size / 2) : whole;
    const int64_t used = taper_wrap_sub(taper_min_i64(end, whole), start);
    y = taper_step_div(&s, taper_step_narrow(&s, y, 1, start, used), taper_step_narrow(&s, squares, 1, start, used));
    y = resized(&s, y, 1, taper_wrap_sub(end, start));
    taper_steps_ret(&s, call, 0, single ? TAPER_STEP(&s, aten_squeeze_dim, y, taper_val_int(0)) : y);
    return taper_steps_end(&s);
}

// Computes a matrix of powers of numbers (`vander`). The exponents ascend from 0, or descend to 0.
TAPER_STEPS_KERNEL(taper_op_vander_steps)
{
    taper_steps s;
    const taper_tensor *const x = call->args[0].as.tensor;
    int64_t count;
    bool increasing;
    TAPER_TRY(taper_arg_int_or(call, 1, x->rank != 0 ? x->sizes[x->rank - 1] : 1, &count));
    TAPER_TRY(taper_arg_bool(call, 2, &increasing));
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[x->rank] = count > 0 ? count - 1 : 0;
    taper_steps_begin(&s, call->run);
    const taper_val column = taper_step_unsqueeze(&s, call->args[0], -1);
    const taper_val ones = TAPER_STEP(&s, aten_ones_like, taper_step_detach(&s, column));
    taper_val powers = TAPER_STEP(&s, aten_expand, column, taper_steps_ints(&s, sizes, x->rank + 1u));
    powers = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){ones, powers}, 2), taper_val_int(-1));
    powers = TAPER_STEP(&s, aten_cumprod, powers, taper_val_int(-1));
    const int64_t last = -1;
    powers = increasing ? powers : TAPER_STEP(&s, aten_flip, powers, taper_steps_ints(&s, &last, 1));
    taper_steps_ret(&s, call, 0, powers);
    return taper_steps_end(&s);
}
