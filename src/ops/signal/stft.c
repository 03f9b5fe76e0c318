// SPDX-License-Identifier: BSD-2-Clause
// Short-time Fourier transforms. The transform reads the frames in place, from the padded signal. Only frames of
// complex signals are copied first.
#include <math.h>

#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/signal/stft.h"

taper_status taper_stft_frames(const taper_call *call, taper_frames *f, bool back)
{
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_int(call, 1, &f->n_fft));
    TAPER_TRY(taper_arg_int_or(call, 2, f->n_fft >> 2, &f->hop));
    TAPER_TRY(taper_arg_int_or(call, 3, f->n_fft, &f->win_length));
    TAPER_TRY(taper_arg_tensor_or_none(call, 4, &f->window));
    if (f->win_length <= 0 || f->win_length > f->n_fft) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "expected 0 < win_length <= n_fft, but got win_length=%lld",
                          (long long)f->win_length);
    }
    if (f->hop <= 0 || (back && f->hop > f->win_length)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "expected 0 < hop_length%s, but got hop_length=%lld",
                          back ? " <= win_length" : "", (long long)f->hop);
    }
    if (f->window != NULL && (f->window->rank != 1 || f->window->sizes[0] != f->win_length ||
                              taper_dtype_is_quantized((taper_dtype)f->window->dtype))) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "expected a 1D window tensor of size equal to win_length=%lld",
                          (long long)f->win_length);
    }
    return TAPER_OK;
}

taper_status taper_stft_window(taper_run *run, const taper_frames *f, taper_dtype dtype, taper_tensor **window)
{
    TAPER_TRY(taper_run_zeros(run, dtype, 1, &f->n_fft, window));
    const int64_t one = 1;
    taper_tensor *middle;
    taper_status status = taper_tensor_alias(run->heap, *window, (f->n_fft - f->win_length) / 2, 1, &f->win_length,
                                             &one, &middle, run->error);
    if (status == TAPER_OK) {
        const taper_scalar number = taper_scalar_double(1);
        status = f->window != NULL ? taper_run_copy(run, middle, f->window) : taper_tensor_fill(run, middle, &number);
        taper_tensor_drop(middle);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*window);
    }
    return status;
}

// ---- the signal of stft, padded

typedef enum pad_mode { PAD_NONE, PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR } pad_mode;

static taper_status arg_pad(const taper_call *call, const taper_tensor *x, int64_t pad, pad_mode *mode)
{
    const int64_t length = x->sizes[x->rank - 1];
    static const char *const names[] = {"", "constant", "reflect", "replicate", "circular"};
    const taper_string *text;
    TAPER_TRY(taper_arg_string(call, 6, &text));
    *mode = PAD_CONSTANT;
    while (*mode <= PAD_CIRCULAR && strcmp(names[*mode], text->data) != 0) {
        *mode = (pad_mode)(*mode + 1);
    }
    if (*mode > PAD_CIRCULAR) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "Unrecognised padding mode %s", text->data);
    }
    if ((*mode == PAD_REFLECT && pad >= length) || (*mode == PAD_CIRCULAR && pad > length) ||
        (*mode == PAD_REPLICATE && length == 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "a %s padding of %lld at either side does not fit a signal of length %lld", text->data,
                          (long long)pad, (long long)length);
    }
    if ((taper_tensor_item(x) == 2) && (*mode == PAD_REFLECT || *mode == PAD_REPLICATE)) {
        return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED, "a %s padding is not implemented for %s",
                          text->data, taper_dtype_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

// Returns the position in the signal of the element at position `at` of the padded line, or -1 if padding puts a zero
// there. `at` counts from the first element of the signal, so it is negative in the left padding.
static int64_t pad_source(pad_mode mode, int64_t at, int64_t length)
{
    if (at >= 0 && at < length) {
        return at;
    }
    switch (mode) {
    case PAD_REFLECT:
        return at < 0 ? -at : 2 * (length - 1) - at;
    case PAD_REPLICATE:
        return at < 0 ? 0 : length - 1;
    case PAD_CIRCULAR:
        return at < 0 ? at + length : at - length;
    default:
        return -1;
    }
}

// Copies the signal into a new contiguous tensor of batch x length with this dtype, and adds `pad` elements at both
// ends of every line.
static taper_status make_signal(taper_run *run, const taper_tensor *x, taper_dtype dtype, pad_mode mode, int64_t pad,
                                taper_tensor **signal)
{
    const int64_t length = x->sizes[x->rank - 1];
    const int64_t sizes[2] = {x->rank == 2 ? x->sizes[0] : 1, length + 2 * pad};
    const int64_t inside[2] = {sizes[0], length},
                  strides[2] = {x->rank == 2 ? x->strides[0] : 0, x->strides[x->rank - 1]};
    taper_tensor *from, *to;
    TAPER_TRY(taper_tensor_new(run->heap, dtype, 2, sizes, NULL, signal, run->error));
    taper_status status = taper_tensor_alias(run->heap, x, x->offset, 2, inside, strides, &from, run->error);
    if (status == TAPER_OK) {
        status = taper_tensor_alias(run->heap, *signal, taper_tensor_numel(*signal) == 0 ? 0 : pad, 2, inside,
                                    (*signal)->strides, &to, run->error);
        if (status == TAPER_OK) {
            status = taper_tensor_numel(to) == 0 ? TAPER_OK : taper_run_copy(run, to, from);
            taper_tensor_drop(to);
        }
        taper_tensor_drop(from);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*signal);
        return status;
    }
    const size_t item = taper_tensor_item(*signal);
    for (int64_t b = 0; b < sizes[0]; b++) {
        char *line = (char *)taper_tensor_mutable(*signal) + (size_t)(b * sizes[1]) * item;
        for (int64_t i = 0; i < 2 * pad; i++) {
            const int64_t at = i < pad ? i - pad : length + i - pad;
            const int64_t source = pad_source(mode, at, length);
            char *target = line + (size_t)(at + pad) * item;
            if (source < 0) {
                memset(target, 0, item);
            } else {
                memcpy(target, line + (size_t)(source + pad) * item, item);
            }
        }
    }
    return TAPER_OK;
}

// ---- stft

static taper_status transform_real(taper_run *run, const taper_frames *f, const taper_tensor *signal, double scale,
                                   taper_tensor *out)
{
    const int64_t count = out->sizes[1], bins = out->sizes[2];
    const size_t item = taper_tensor_item(signal);
    taper_tensor *window = NULL;
    if (f->window != NULL || f->win_length < f->n_fft) {
        TAPER_TRY(taper_stft_window(run, f, (taper_dtype)signal->dtype, &window));
    }
    taper_fft fft;
    const int64_t lines = out->sizes[0] * count;
    taper_status status =
        taper_fft_begin(run, &fft, TAPER_FFT_R2C, signal->dtype == TAPER_F64, true, (size_t)f->n_fft, (size_t)lines);
    fft.scale = scale;
    taper_fft_group group = {.from_step = 1,
                             .to_step = 1,
                             .window = window != NULL ? taper_tensor_data(window) : NULL,
                             .twosided = bins == f->n_fft && f->n_fft > 2};
    const char *from = taper_tensor_data(signal);
    char *to = taper_tensor_mutable(out);
    for (int64_t line = 0; line < lines && status == TAPER_OK; line += (int64_t)group.count) {
        group.count = taper_min_size(fft.lanes, (size_t)(lines - line));
        for (size_t l = 0; l < fft.lanes; l++) {
            const int64_t at = line + (int64_t)(l < group.count ? l : 0);
            group.from[l] = from + (size_t)(at / count * signal->sizes[1] + at % count * f->hop) * item;
            group.to[l] = to + (size_t)(at * bins) * 2 * item;
        }
        status = taper_fft_group_run(&fft, &group);
    }
    taper_fft_end(&fft);
    taper_tensor_drop(window);
    return status;
}

// Computes frames of complex signals and windows: copies them to out and transforms out in place.
static taper_status transform_complex(taper_run *run, const taper_frames *f, const taper_tensor *signal, double scale,
                                      taper_tensor *out)
{
    taper_tensor *window;
    TAPER_TRY(taper_stft_window(run, f, TAPER_C128, &window));
    const double *w = taper_tensor_data(window);
    const bool wide = out->dtype == TAPER_C128;
    const int64_t count = out->sizes[1], lines = out->sizes[0] * count;
    for (int64_t line = 0; line < lines; line++) {
        const int64_t from = 2 * (line / count * signal->sizes[1] + line % count * f->hop), to = 2 * line * f->n_fft;
        for (int64_t i = 0; i < 2 * f->n_fft; i += 2) {
            if (wide) {
                const double *x = (const double *)taper_tensor_data(signal) + from + i;
                double *y = (double *)taper_tensor_mutable(out) + to + i;
                y[0] = x[0] * w[i] - x[1] * w[i + 1];
                y[1] = x[0] * w[i + 1] + x[1] * w[i];
            } else {
                const float *x = (const float *)taper_tensor_data(signal) + from + i;
                float *y = (float *)taper_tensor_mutable(out) + to + i;
                y[0] = (float)((double)x[0] * w[i] - (double)x[1] * w[i + 1]);
                y[1] = (float)((double)x[0] * w[i + 1] + (double)x[1] * w[i]);
            }
        }
    }
    taper_tensor_drop(window);
    return taper_fft_along(run, TAPER_FFT_C2C, true, scale, out, out, 2, false);
}

// Turns batch x frames x bins into batch x bins x frames, by changing the strides. The batch is removed unless
// `batched` is set. If `parts` is set, a last dimension contains the real and imaginary parts. The tensor must be new,
// because its own members change.
static void turn_result(taper_tensor *out, bool batched, bool parts)
{
    int64_t sizes[3] = {out->sizes[0], out->sizes[2], out->sizes[1]};
    int64_t strides[3] = {out->strides[0], out->strides[2], out->strides[1]};
    const size_t first = batched ? 0 : 1;
    out->rank = (uint8_t)(3 - first);
    for (size_t i = first; i < 3; i++) {
        out->sizes[i - first] = sizes[i];
        out->strides[i - first] = parts ? 2 * strides[i] : strides[i];
    }
    if (parts) {
        out->sizes[out->rank] = 2;
        out->strides[out->rank] = 1;
        out->rank++;
        out->dtype = (uint8_t)taper_dtype_to_real((taper_dtype)out->dtype);
    }
}

// Runs stft. centered is set for the overload with center and pad_mode as arguments 5 and 6.
static taper_status stft(taper_call *call, bool centered)
{
    taper_run *run = call->run;
    taper_tensor *x, *signal, *out;
    taper_frames f;
    bool center = false, normalized, onesided, parts;
    const size_t at = centered ? 7 : 5;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_stft_frames(call, &f, false));
    TAPER_TRY(taper_arg_bool(call, at, &normalized));
    const taper_dtype dtype =
        f.window == NULL ? (taper_dtype)x->dtype : taper_promote((taper_dtype)x->dtype, (taper_dtype)f.window->dtype);
    const bool pairs = taper_dtype_is_complex(dtype);
    if (x->rank < 1 || x->rank > 2) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "expected a 1D or 2D tensor, but got %zuD",
                          (size_t)x->rank);
    }
    if ((dtype != TAPER_F32 && dtype != TAPER_F64 && dtype != TAPER_C64 && dtype != TAPER_C128) ||
        (!taper_dtype_is_float((taper_dtype)x->dtype) && !taper_dtype_is_complex((taper_dtype)x->dtype))) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED,
                          "expected a tensor of floating point or complex values, not %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    onesided = !pairs;
    if (!taper_arg_is_none(call, at + 1)) {
        TAPER_TRY(taper_arg_bool(call, at + 1, &onesided));
    }
    parts = !pairs;
    if (!taper_arg_is_none(call, at + 2)) {
        TAPER_TRY(taper_arg_bool(call, at + 2, &parts));
        parts = !parts;
    }
    if (pairs && onesided) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "Cannot have onesided output if window or input is complex");
    }
    pad_mode mode = PAD_NONE;
    int64_t pad = 0, length = x->sizes[x->rank - 1];
    if (centered) {
        TAPER_TRY(taper_arg_bool(call, 5, &center));
        if (center) {
            pad = f.n_fft / 2;
            TAPER_TRY(arg_pad(call, x, pad, &mode));
        }
    }
    if (!taper_add_i64(length, 2 * pad, &length) || f.n_fft > length) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "expected 0 < n_fft <= %lld, but got n_fft=%lld",
                          (long long)length, (long long)f.n_fft);
    }
    TAPER_TRY(make_signal(run, x, dtype, mode, pad, &signal));
    const int64_t sizes[3] = {signal->sizes[0], 1 + (length - f.n_fft) / f.hop, onesided ? f.n_fft / 2 + 1 : f.n_fft};
    taper_status status = taper_tensor_new(run->heap, taper_dtype_to_complex(dtype), 3, sizes, NULL, &out, run->error);
    if (status == TAPER_OK) {
        const double scale = normalized ? 1 / sqrt((double)f.n_fft) : 1;
        if (taper_tensor_numel(out) != 0) {
            status =
                pairs ? transform_complex(run, &f, signal, scale, out) : transform_real(run, &f, signal, scale, out);
        }
        if (status == TAPER_OK) {
            turn_result(out, x->rank == 2, parts);
        } else {
            taper_tensor_drop(out);
        }
    }
    taper_tensor_drop(signal);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, out) : status;
}

TAPER_KERNEL(taper_op_stft)
{
    return stft(call, false);
}
TAPER_KERNEL(taper_op_stft_center)
{
    return stft(call, true);
}
