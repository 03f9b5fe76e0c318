// SPDX-License-Identifier: BSD-2-Clause
// The inverse of stft. Each frame is transformed and immediately added to the signal. The sums are doubles.
#include <math.h>

#include "base/checked.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/signal/stft.h"
#include "ops/tensor/create.h"

// The spectrum: batch x bins x count (frames) complex numbers. Strides are in complex numbers.
typedef struct spectrum {
    taper_tensor *tensor; // the spectrum, an owned reference
    bool batched;
    int64_t batch, bins, count;
    int64_t strides[3];
} spectrum;

static taper_status arg_spectrum(const taper_call *call, spectrum *s)
{
    taper_run *run = call->run;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const bool pairs = taper_dtype_is_complex((taper_dtype)x->dtype);
    const size_t rank = x->rank + (pairs ? 1u : 0u);
    if (rank != 3 && rank != 4) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "expected a tensor with 3 or 4 dimensions, but got %zu",
                          rank);
    }
    if (x->dtype != TAPER_F32 && x->dtype != TAPER_F64 && x->dtype != TAPER_C64 && x->dtype != TAPER_C128) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "argument 'self': not implemented for %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    if (taper_tensor_numel(x) == 0) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "input tensor cannot be empty.");
    }
    if (!pairs && x->sizes[rank - 1] != 2) {
        return taper_fail(
            run->error, TAPER_ERROR_ARGUMENT,
            "expected the last dimension to be 2 (corresponding to real and imaginary parts), but got %lld",
            (long long)x->sizes[rank - 1]);
    }
    if (pairs) {
        taper_obj_retain(&x->head);
        s->tensor = x;
    } else { // a contiguous tensor, in which all strides except the last are whole pairs
        TAPER_TRY(taper_run_contiguous(run, x, &s->tensor));
    }
    const taper_tensor *t = s->tensor;
    const int64_t part = pairs ? 1 : 2;
    s->batched = rank == 4;
    const size_t first = s->batched ? 1 : 0;
    s->batch = s->batched ? t->sizes[0] : 1;
    s->bins = t->sizes[first];
    s->count = t->sizes[first + 1];
    s->strides[0] = s->batched ? t->strides[0] / part : 0;
    s->strides[1] = t->strides[first] / part;
    s->strides[2] = t->strides[first + 1] / part;
    return TAPER_OK;
}

// The sums of istft, in double: the sum of the frames times the window, and the sum of the window's squares. Each
// number is real or a pair (re, im), as complex_signal and complex_window say.
typedef struct overlap {
    bool complex_signal, complex_window;
    double *window, *sums, *squares;
} overlap;

static void add_window(const overlap *o, const taper_frames *f, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        for (int64_t i = 0; i < f->n_fft; i++) {
            const int64_t at = k * f->hop + i;
            if (o->complex_window) {
                const double re = o->window[2 * i], im = o->window[2 * i + 1];
                o->squares[2 * at] += re * re - im * im;
                o->squares[2 * at + 1] += 2 * re * im;
            } else {
                o->squares[at] += o->window[i] * o->window[i];
            }
        }
    }
}

static void add_plain_frame(const float *restrict frame, const double *restrict window, int64_t n,
                            double *restrict sums)
{
    for (int64_t i = 0; i < n; i++) {
        sums[i] += (double)frame[i] * window[i];
    }
}

// Adds a frame, multiplied by the window, to the sums that begin at `sums`. A frame is n_fft numbers or pairs of the
// transform's precision.
static void add_frame(const overlap *o, const taper_frames *f, const void *frame, bool wide, double *sums)
{
    const int64_t parts = o->complex_signal ? 2 : 1;
    if (parts == 1 && !wide) {
        add_plain_frame(frame, o->window, f->n_fft, sums);
        return;
    }
    for (int64_t i = 0; i < f->n_fft; i++) {
        double x[2] = {0, 0};
        for (int64_t p = 0; p < parts; p++) {
            const int64_t at = parts * i + p;
            x[p] = wide ? ((const double *)frame)[at] : (double)((const float *)frame)[at];
        }
        if (o->complex_window) {
            sums[2 * i] += x[0] * o->window[2 * i] - x[1] * o->window[2 * i + 1];
            sums[2 * i + 1] += x[0] * o->window[2 * i + 1] + x[1] * o->window[2 * i];
        } else {
            for (int64_t p = 0; p < parts; p++) {
                sums[parts * i + p] += x[p] * o->window[i];
            }
        }
    }
}

static taper_status transform_back(taper_run *run, const taper_frames *f, const spectrum *s, const overlap *o,
                                   int64_t length)
{
    const bool wide = s->tensor->dtype == TAPER_F64 || s->tensor->dtype == TAPER_C128;
    const size_t number = wide ? sizeof(double) : sizeof(float), parts = o->complex_signal ? 2 : 1;
    taper_fft fft;
    const int64_t lines = s->batch * s->count;
    taper_status status = taper_fft_begin(run, &fft, o->complex_signal ? TAPER_FFT_C2C : TAPER_FFT_C2R, wide, false,
                                          (size_t)f->n_fft, (size_t)lines);
    fft.scale = f->normalized ? 1 / sqrt((double)f->n_fft) : 1 / (double)f->n_fft;
    const size_t frame = (size_t)f->n_fft * parts * number, room_bytes = fft.lanes * frame;
    char *room = status == TAPER_OK ? taper_heap_alloc(run->heap, room_bytes) : NULL;
    if (status == TAPER_OK && room == NULL) {
        status = taper_fail_memory(run->error);
    }
    taper_fft_group group = {.from_step = s->strides[1], .to_step = 1};
    for (int64_t line = 0; line < lines && status == TAPER_OK; line += (int64_t)group.count) {
        group.count = taper_min_size(fft.lanes, (size_t)(lines - line));
        for (size_t l = 0; l < fft.lanes; l++) {
            const int64_t at = line + (int64_t)(l < group.count ? l : 0);
            const int64_t from = at / s->count * s->strides[0] + at % s->count * s->strides[2];
            group.from[l] = (const char *)taper_tensor_data(s->tensor) + (size_t)from * 2 * number;
            group.to[l] = room + l * frame;
        }
        status = taper_fft_group_run(&fft, &group);
        for (size_t l = 0; l < group.count && status == TAPER_OK; l++) {
            const int64_t at = line + (int64_t)l;
            const int64_t start = at / s->count * length + at % s->count * f->hop;
            add_frame(o, f, room + l * frame, wide, o->sums + start * (int64_t)parts);
        }
    }
    if (room != NULL) {
        taper_heap_free(run->heap, room, room_bytes);
    }
    taper_fft_end(&fft);
    return status;
}

static double magnitude(const overlap *o, int64_t at)
{
    return o->complex_window ? hypot(o->squares[2 * at], o->squares[2 * at + 1]) : fabs(o->squares[at]);
}

// Divides the sum at index `sum` by the sum of squares at index `square`.
static void quotient(const overlap *o, int64_t sum, int64_t square, double *re, double *im)
{
    if (!o->complex_signal) {
        *re = o->sums[sum] / o->squares[square];
        *im = 0;
        return;
    }
    const double a = o->sums[2 * sum], b = o->sums[2 * sum + 1];
    const double c = o->complex_window ? o->squares[2 * square] : o->squares[square];
    const double d = o->complex_window ? o->squares[2 * square + 1] : 0;
    const double size = c * c + d * d;
    *re = d == 0 ? a / c : (a * c + b * d) / size;
    *im = d == 0 ? b / c : (b * c - a * d) / size;
}

// Returns the result: the sums from start to end (exclusive) divided by the squares, followed by zeros up to length
// `wanted`. Fails as PyTorch does if a square is too small.
static taper_status finish(taper_call *call, const spectrum *s, const overlap *o, taper_dtype dtype, int64_t length,
                           int64_t start, int64_t end, int64_t wanted)
{
    taper_run *run = call->run;
    taper_tensor *out;
    double least = INFINITY;
    for (int64_t i = start; i < end; i++) {
        const double size = magnitude(o, i);
        least = size < least ? size : least;
    }
    if (end <= start || least < 1e-11) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "window overlap add min: %g", end <= start ? 0.0 : least);
    }
    const int64_t sizes[2] = {s->batch, wanted};
    TAPER_TRY(taper_run_zeros(run, dtype, s->batched ? 2 : 1, s->batched ? sizes : sizes + 1, &out));
    void *data = taper_tensor_mutable(out);
    const taper_dtype real = taper_dtype_to_real(dtype);
    const int64_t parts = o->complex_signal ? 2 : 1;
    for (int64_t b = 0; b < s->batch; b++) {
        if (dtype == TAPER_F32) {
            float *to = (float *)data + b * wanted;
            for (int64_t i = start; i < end; i++) {
                to[i - start] = (float)(o->sums[b * length + i] / o->squares[i]);
            }
            continue;
        }
        for (int64_t i = start; i < end; i++) {
            double re, im;
            quotient(o, b * length + i, i, &re, &im);
            const int64_t to = parts * (b * wanted + i - start);
            taper_put_double(real, data, to, re);
            if (parts == 2) {
                taper_put_double(real, data, to + 1, im);
            }
        }
    }
    return taper_ret_tensor(call, 0, out);
}

static taper_status istft(taper_call *call, const taper_frames *f, const spectrum *s)
{
    taper_run *run = call->run;
    taper_error *error = run->error;
    bool center, onesided = s->bins != f->n_fft, pairs;
    TAPER_TRY(taper_arg_bool(call, 5, &center));
    TAPER_TRY(taper_arg_bool(call, 9, &pairs));
    if (!taper_arg_is_none(call, 7)) {
        TAPER_TRY(taper_arg_bool(call, 7, &onesided));
    }
    if (s->bins != (onesided ? f->n_fft / 2 + 1 : f->n_fft)) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft%s when "
            "onesided=%s, but got %lld",
            onesided ? " / 2 + 1" : "", onesided ? "True" : "False", (long long)s->bins);
    }
    overlap o = {.complex_signal = pairs,
                 .complex_window = f->window != NULL && taper_dtype_is_complex((taper_dtype)f->window->dtype)};
    if (pairs && onesided) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "Cannot have onesided output if window or input is complex");
    }
    if (!pairs && o.complex_window) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "Complex windows are incompatible with return_complex=False");
    }
    if (f->window != NULL && f->window->dtype != TAPER_F32 && f->window->dtype != TAPER_F64 && !o.complex_window) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "argument 'window': not implemented for %s",
                          taper_dtype_name((taper_dtype)f->window->dtype));
    }
    const taper_dtype real = taper_dtype_to_real((taper_dtype)s->tensor->dtype);
    taper_dtype dtype = pairs ? taper_dtype_to_complex(real) : real;
    dtype = f->window != NULL ? taper_promote(dtype, (taper_dtype)f->window->dtype) : dtype;
    // The length cannot overflow, because hop <= n_fft, and the spectrum has at least n_fft / 2 * count elements.
    const int64_t length = f->n_fft + f->hop * (s->count - 1);
    const int64_t start = center ? f->n_fft / 2 : 0;
    int64_t wanted, end = center ? length - f->n_fft / 2 : length;
    TAPER_TRY(taper_arg_int_or(call, 8, end - start, &wanted));
    if (wanted < 0 || wanted > TAPER_LIMIT_TENSOR_BYTES) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "argument 'length' is %lld", (long long)wanted);
    }
    end = taper_min_i64(start + wanted, length);
    if (center && f->n_fft == 1 && taper_arg_is_none(call, 8)) {
        end = 0; // PyTorch's slice to -(n_fft / 2) ends at -0, so the result is empty
    }

    taper_tensor *window, *squares = NULL, *sums = NULL;
    const int64_t square_count = o.complex_window ? 2 * length : length;
    const int64_t sum_sizes[2] = {s->batch, pairs ? 2 * length : length};
    TAPER_TRY(taper_stft_window(run, f, o.complex_window ? TAPER_C128 : TAPER_F64, &window));
    taper_status status = taper_run_zeros(run, TAPER_F64, 1, &square_count, &squares);
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, TAPER_F64, 2, sum_sizes, &sums);
    }
    if (status == TAPER_OK) {
        o.window = taper_tensor_mutable(window);
        o.squares = taper_tensor_mutable(squares);
        o.sums = taper_tensor_mutable(sums);
        add_window(&o, f, s->count);
        status = transform_back(run, f, s, &o, length);
    }
    if (status == TAPER_OK) {
        status = finish(call, s, &o, dtype, length, start, end, wanted);
    }
    taper_tensor_drop(window);
    taper_tensor_drop(squares);
    taper_tensor_drop(sums);
    return status;
}

TAPER_KERNEL(taper_op_istft)
{
    taper_frames f;
    spectrum s;
    TAPER_TRY(taper_stft_frames(call, &f, true));
    TAPER_TRY(taper_arg_bool(call, 6, &f.normalized));
    TAPER_TRY(arg_spectrum(call, &s));
    const taper_status status = istft(call, &f, &s);
    taper_tensor_drop(s.tensor);
    return status;
}
