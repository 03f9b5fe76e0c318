// SPDX-License-Identifier: BSD-2-Clause
// The Fourier operators: they work out dimensions, sizes and dtypes by PyTorch's rules and transform one dimension
// after the other with fft_plan.h. Results are contiguous, whatever strides the input has.
#include "ops/signal/fft.h"

#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"

const taper_fft_op taper_fft_fft = {"fft", TAPER_FFT_C2C, true, false},
                   taper_fft_ifft = {"ifft", TAPER_FFT_C2C, false, false},
                   taper_fft_rfft = {"rfft", TAPER_FFT_R2C, true, false},
                   taper_fft_irfft = {"irfft", TAPER_FFT_C2R, false, false},
                   taper_fft_hfft = {"hfft", TAPER_FFT_C2R, true, false},
                   taper_fft_ihfft = {"ihfft", TAPER_FFT_R2C, false, false},
                   taper_fft_fftn = {"fftn", TAPER_FFT_C2C, true, true},
                   taper_fft_ifftn = {"ifftn", TAPER_FFT_C2C, false, true},
                   taper_fft_rfftn = {"rfftn", TAPER_FFT_R2C, true, true},
                   taper_fft_irfftn = {"irfftn", TAPER_FFT_C2R, false, true},
                   taper_fft_hfftn = {"hfftn", TAPER_FFT_C2R, true, true},
                   taper_fft_ihfftn = {"ihfftn", TAPER_FFT_R2C, false, true};

enum { MODE_NONE, MODE_ROOT, MODE_ALL }; // values of PyTorch's fft_norm_mode

// The dimensions to transform, and the input's sizes in these dimensions after padding and trimming.
typedef struct extent {
    size_t count;
    size_t dims[TAPER_MAX_RANK];
    int64_t sizes[TAPER_MAX_RANK];
    int64_t last; // for TAPER_FFT_C2R: the result's size in the last of the dimensions
} extent;

// ---- transforms along one dimension

taper_status taper_fft_along(taper_run *run, taper_fft_kind kind, bool forward, double scale, const taper_tensor *from,
                             taper_tensor *to, size_t dim, bool twosided)
{
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < from->rank; i++) {
        outer *= i < dim ? from->sizes[i] : 1;
        inner *= i > dim ? from->sizes[i] : 1;
    }
    const int64_t lines = outer * inner, from_size = from->sizes[dim], to_size = to->sizes[dim];
    const size_t from_item = taper_tensor_item(from), to_item = taper_tensor_item(to);
    if (taper_tensor_numel(to) == 0) {
        return TAPER_OK;
    }
    taper_fft fft;
    const bool wide = taper_dtype_to_real((taper_dtype)from->dtype) == TAPER_F64;
    taper_status status = taper_fft_begin(run, &fft, kind, wide, forward,
                                          (size_t)(kind == TAPER_FFT_C2R ? to_size : from_size), (size_t)lines);
    fft.scale = scale;
    taper_fft_group group = {.from_step = inner, .to_step = inner, .twosided = twosided};
    const char *source = taper_tensor_data(from);
    char *target = taper_tensor_mutable(to);
    for (int64_t line = 0; line < lines && status == TAPER_OK; line += (int64_t)group.count) {
        group.count = taper_min_size(fft.lanes, (size_t)(lines - line));
        for (size_t l = 0; l < fft.lanes; l++) {
            const int64_t at = line + (int64_t)(l < group.count ? l : 0);
            group.from[l] = source + (size_t)(at / inner * from_size * inner + at % inner) * from_item;
            group.to[l] = target + (size_t)(at / inner * to_size * inner + at % inner) * to_item;
        }
        status = taper_fft_group_run(&fft, &group);
    }
    taper_fft_end(&fft);
    return status;
}

taper_status taper_fft_scale(taper_run *run, int64_t mode, double n, double *scale)
{
    if (mode < MODE_NONE || mode > MODE_ALL) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "Unsupported normalization type %lld", (long long)mode);
    }
    *scale = mode == MODE_NONE ? 1 : mode == MODE_ROOT ? 1 / sqrt(n) : 1 / n;
    return TAPER_OK;
}

// ---- transforms of several dimensions

static taper_status along_all(taper_run *run, bool forward, double scale, const taper_tensor *from, taper_tensor *to,
                              const size_t *dims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_fft_along(run, TAPER_FFT_C2C, forward, i + 1 == count ? scale : 1, i == 0 ? from : to, to,
                                  dims[i], false));
    }
    return count == 0 ? taper_run_copy(run, to, from) : TAPER_OK;
}

// Makes x a contiguous tensor of this dtype with the extent's sizes. The tensor is trimmed where x is larger, and zeros
// are added at the end where x is smaller. *ready gets a reference and may be x itself.
static taper_status prepare(taper_run *run, taper_tensor *x, taper_dtype dtype, const extent *e, taper_tensor **ready)
{
    int64_t sizes[TAPER_MAX_RANK], common[TAPER_MAX_RANK];
    bool grows = false, resized = false;
    memcpy(sizes, x->sizes, sizeof sizes);
    memcpy(common, x->sizes, sizeof common);
    for (size_t i = 0; i < e->count; i++) {
        const size_t d = e->dims[i];
        sizes[d] = e->sizes[i];
        common[d] = taper_min_i64(sizes[d], x->sizes[d]);
        grows = grows || sizes[d] > x->sizes[d];
        resized = resized || sizes[d] != x->sizes[d];
    }
    if (!resized && x->dtype == dtype) {
        return taper_run_contiguous(run, x, ready);
    }
    if (grows) {
        TAPER_TRY(taper_run_zeros(run, dtype, x->rank, sizes, ready));
    } else {
        TAPER_TRY(taper_tensor_new(run->heap, dtype, x->rank, sizes, NULL, ready, run->error));
    }
    taper_tensor *source = NULL, *target = NULL;
    taper_status status = taper_tensor_alias(run->heap, x, x->offset, x->rank, common, x->strides, &source, run->error);
    if (status == TAPER_OK) {
        status = taper_tensor_alias(run->heap, *ready, 0, x->rank, common, (*ready)->strides, &target, run->error);
    }
    if (status == TAPER_OK && taper_tensor_numel(target) != 0) {
        status = taper_run_copy(run, target, source);
    }
    taper_tensor_drop(source);
    taper_tensor_drop(target);
    if (status != TAPER_OK) {
        taper_tensor_drop(*ready);
    }
    return status;
}

// Transforms x into a new tensor. x need not have the extent's sizes yet.
static taper_status transform(taper_run *run, taper_fft_kind kind, bool forward, int64_t mode, bool onesided,
                              taper_tensor *x, const extent *e, taper_tensor **result)
{
    const taper_dtype real = x->dtype == TAPER_F64 || x->dtype == TAPER_C128 ? TAPER_F64 : TAPER_F32;
    const taper_dtype pair = taper_dtype_to_complex(real);
    const size_t last = e->count == 0 ? 0 : e->dims[e->count - 1];
    const bool two = kind == TAPER_FFT_R2C && !onesided && e->count == 1;
    if (kind == TAPER_FFT_R2C && !onesided && !two) {
        kind = TAPER_FFT_C2C;
    }
    double scale, n = 1;
    for (size_t i = 0; i < e->count; i++) {
        n *= (double)(kind == TAPER_FFT_C2R && i + 1 == e->count ? e->last : e->sizes[i]);
    }
    TAPER_TRY(taper_fft_scale(run, mode, n, &scale));
    taper_tensor *ready, *middle;
    TAPER_TRY(prepare(run, x, kind == TAPER_FFT_R2C ? real : pair, e, &ready));
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, ready->sizes, sizeof sizes);
    if (kind == TAPER_FFT_R2C && !two) {
        sizes[last] = sizes[last] / 2 + 1;
    } else if (kind == TAPER_FFT_C2R) {
        sizes[last] = e->last;
    }
    taper_status status =
        taper_tensor_new(run->heap, kind == TAPER_FFT_C2R ? real : pair, ready->rank, sizes, NULL, result, run->error);
    if (status != TAPER_OK) {
        taper_tensor_drop(ready);
        return status;
    }
    if (kind == TAPER_FFT_C2C) {
        status = along_all(run, forward, scale, ready, *result, e->dims, e->count);
    } else if (kind == TAPER_FFT_R2C) {
        const size_t others = e->count - 1;
        status = taper_fft_along(run, kind, forward, others == 0 ? scale : 1, ready, *result, last, two);
        if (status == TAPER_OK && others != 0) {
            status = along_all(run, forward, scale, *result, *result, e->dims, others);
        }
    } else if (e->count == 1) {
        status = taper_fft_along(run, kind, forward, scale, ready, *result, last, false);
    } else {
        status = taper_tensor_new(run->heap, pair, ready->rank, ready->sizes, NULL, &middle, run->error);
        if (status == TAPER_OK) {
            status = along_all(run, forward, 1, ready, middle, e->dims, e->count - 1);
            if (status == TAPER_OK) {
                status = taper_fft_along(run, kind, forward, scale, middle, *result, last, false);
            }
            taper_tensor_drop(middle);
        }
    }
    taper_tensor_drop(ready);
    if (status != TAPER_OK) {
        taper_tensor_drop(*result);
    }
    return status;
}

// ---- arguments

static taper_status arg_norm(const taper_call *call, size_t at, bool forward, int64_t *mode)
{
    const taper_string *text;
    if (taper_arg_is_none(call, at)) {
        *mode = forward ? MODE_NONE : MODE_ALL;
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_string(call, at, &text));
    if (strcmp(text->data, "backward") == 0) {
        *mode = forward ? MODE_NONE : MODE_ALL;
    } else if (strcmp(text->data, "forward") == 0) {
        *mode = forward ? MODE_ALL : MODE_NONE;
    } else if (strcmp(text->data, "ortho") == 0) {
        *mode = MODE_ROOT;
    } else {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "Invalid normalization mode: \"%s\"", text->data);
    }
    return TAPER_OK;
}

static taper_status check_points(const taper_call *call, int64_t n)
{
    return n > 0 ? TAPER_OK
                 : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "Invalid number of data points (%lld) specified",
                              (long long)n);
}

// Reads n and dim, the arguments of the operators with one dimension.
static taper_status one_extent(const taper_call *call, const taper_tensor *x, bool to_real, extent *e)
{
    int64_t n;
    TAPER_TRY(taper_arg_dim(call, 2, x->rank, &e->dims[0]));
    const int64_t size = x->rank == 0 ? 0 : x->sizes[e->dims[0]];
    TAPER_TRY(taper_arg_int_or(call, 1, to_real ? 2 * (size - 1) : size, &n));
    TAPER_TRY(check_points(call, x->rank == 0 ? 0 : n));
    e->count = 1;
    e->last = n;
    e->sizes[0] = !to_real ? n : taper_arg_is_none(call, 1) ? size : n / 2 + 1;
    return TAPER_OK;
}

static taper_status wrap_dims(const taper_call *call, const taper_tensor *x, const int64_t *dims, size_t count,
                              extent *e)
{
    bool used[TAPER_MAX_RANK] = {false};
    e->count = count;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_wrap_dim_or_fail(dims[i], x->rank, &e->dims[i], call->run->error));
        if (used[e->dims[i]]) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "FFT dims must be unique");
        }
        used[e->dims[i]] = true;
        e->sizes[i] = x->rank == 0 ? 1 : x->sizes[e->dims[i]];
    }
    return TAPER_OK;
}

// Reads s and dim, the arguments of the operators with several dimensions.
static taper_status many_extent(const taper_call *call, const taper_tensor *x, bool to_real, extent *e)
{
    taper_error *error = call->run->error;
    const bool has_sizes = !taper_arg_is_none(call, 1), has_dims = !taper_arg_is_none(call, 2);
    int64_t sizes[TAPER_MAX_RANK], dims[TAPER_MAX_RANK];
    size_t size_count = 0, count = x->rank;
    if (has_sizes) {
        TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &size_count));
    }
    if (has_dims) {
        TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &count));
        if (has_sizes && size_count != count) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "When given, dim and shape arguments must have the same length");
        }
    } else if (has_sizes) {
        count = size_count;
    }
    if (count > x->rank) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "Got shape with %zu values but input tensor only has %zu dimensions.", count,
                          (size_t)x->rank);
    }
    for (size_t i = 0; i < count && !has_dims; i++) {
        dims[i] = (int64_t)(x->rank - count + i);
    }
    TAPER_TRY(wrap_dims(call, x, dims, count, e));
    for (size_t i = 0; i < count; i++) {
        e->sizes[i] = has_sizes && sizes[i] != -1 ? sizes[i] : e->sizes[i];
        TAPER_TRY(check_points(call, e->sizes[i]));
    }
    if (to_real && count != 0) {
        int64_t *const back = &e->sizes[count - 1];
        e->last = has_sizes && sizes[count - 1] != -1 ? *back : 2 * (*back - 1);
        TAPER_TRY(check_points(call, e->last));
        *back = e->last / 2 + 1;
    }
    return TAPER_OK;
}

// ---- fft_fft and similar operators

static taper_status check_dtypes(const taper_call *call, const taper_fft_op *op, const taper_tensor *x)
{
    taper_error *error = call->run->error;
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (op->kind == TAPER_FFT_R2C && taper_dtype_is_complex(dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s expects a real input tensor, but got %s", op->name,
                          taper_dtype_torch_name(dtype));
    }
    if (dtype == TAPER_F16 || dtype == TAPER_BF16 || dtype == TAPER_C32 || taper_dtype_is_quantized(dtype)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "Unsupported dtype %s", taper_dtype_torch_name(dtype));
    }
    const taper_tensor *out = taper_ret_target(call, 0);
    if (out != NULL && op->kind == TAPER_FFT_C2R && !taper_dtype_is_float((taper_dtype)out->dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s expects a floating point output tensor, but got %s",
                          op->name, taper_dtype_torch_name((taper_dtype)out->dtype));
    }
    if (out != NULL && op->kind != TAPER_FFT_C2R && !taper_dtype_is_complex((taper_dtype)out->dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s expects a complex output tensor, but got %s", op->name,
                          taper_dtype_torch_name((taper_dtype)out->dtype));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_fft)
{
    const taper_fft_op *op = call->param;
    taper_tensor *x, *result;
    int64_t mode;
    extent e;
    memset(&e, 0, sizeof e);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(check_dtypes(call, op, x));
    if (op->many) {
        TAPER_TRY(many_extent(call, x, op->kind == TAPER_FFT_C2R, &e));
        if (e.count == 0 && op->kind != TAPER_FFT_C2C) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "%s must transform at least one axis", op->name);
        }
        if (x->rank == 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "ndim must be >= 1");
        }
    } else {
        TAPER_TRY(one_extent(call, x, op->kind == TAPER_FFT_C2R, &e));
    }
    TAPER_TRY(arg_norm(call, 3, op->forward, &mode));
    const bool real = op->kind == TAPER_FFT_C2C && !op->many && !taper_dtype_is_complex((taper_dtype)x->dtype);
    const taper_tensor *out = taper_ret_target(call, 0);
    // PyTorch conjugates the results of these inverse transforms in `out` itself, so `out` must have the dtype of the
    // result.
    const taper_dtype dtype = x->dtype == TAPER_F64 ? TAPER_C128 : TAPER_C64;
    if (out != NULL && !op->many && !op->forward && (real || op->kind == TAPER_FFT_R2C) && out->dtype != dtype) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "Found dtype %s but expected %s",
                          taper_dtype_torch_name((taper_dtype)out->dtype), taper_dtype_torch_name(dtype));
    }
    TAPER_TRY(transform(call->run, real ? TAPER_FFT_R2C : (taper_fft_kind)op->kind, op->forward, mode,
                        op->kind == TAPER_FFT_R2C, x, &e, &result));
    return taper_ret_tensor(call, 0, result);
}

// ---- _fft_r2c, _fft_c2c, _fft_c2r

static taper_status raw_extent(const taper_call *call, const taper_tensor *x, extent *e)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    memset(e, 0, sizeof *e);
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    if (x->rank == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'self' has no dimensions");
    }
    for (size_t i = 0; i < count; i++) {
        if (dims[i] < 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'dim': %lld is not a dimension",
                              (long long)dims[i]);
        }
    }
    return wrap_dims(call, x, dims, count, e);
}

static taper_status raw(taper_call *call, taper_fft_kind kind, bool forward, bool onesided, int64_t last)
{
    taper_tensor *x, *result;
    int64_t mode;
    extent e;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 2, &mode));
    const bool pairs = kind != TAPER_FFT_R2C;
    if (x->dtype != (pairs ? TAPER_C64 : TAPER_F32) && x->dtype != (pairs ? TAPER_C128 : TAPER_F64)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'self': expected a %s tensor, not %s",
                          pairs ? "complex64 or complex128" : "float32 or float64",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    TAPER_TRY(raw_extent(call, x, &e));
    if (kind != TAPER_FFT_C2C && e.count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'dim' is empty");
    }
    e.last = last;
    // Refuses an input that is too short, because PyTorch would read beyond its end.
    if (kind == TAPER_FFT_C2R && (last < 0 || (last > 0 && last / 2 + 1 > e.sizes[e.count - 1]))) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "argument 'last_dim_size' is %lld, for an input of %lld numbers in that dimension",
                          (long long)last, (long long)e.sizes[e.count - 1]);
    }
    TAPER_TRY(transform(call->run, kind, forward, mode, onesided, x, &e, &result));
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_fft_r2c)
{
    bool onesided;
    TAPER_TRY(taper_arg_bool(call, 3, &onesided));
    return raw(call, TAPER_FFT_R2C, true, onesided, 0);
}
TAPER_KERNEL(taper_op_fft_c2c)
{
    bool forward;
    TAPER_TRY(taper_arg_bool(call, 3, &forward));
    return raw(call, TAPER_FFT_C2C, forward, false, 0);
}
TAPER_KERNEL(taper_op_fft_c2r)
{
    int64_t last;
    TAPER_TRY(taper_arg_int(call, 3, &last));
    return raw(call, TAPER_FFT_C2R, false, false, last);
}

// ---- fftshift, ifftshift: every dimension is rolled by half its size

static taper_status shift(taper_call *call, bool back)
{
    taper_tensor *x, *next;
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    count = x->rank;
    for (size_t i = 0; i < count; i++) {
        dims[i] = (int64_t)i;
    }
    if (!taper_arg_is_none(call, 1)) {
        TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, &count));
    }
    if (count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "there is no dimension to shift");
    }
    taper_obj_retain(&x->head);
    for (size_t i = 0; i < count; i++) {
        size_t d;
        taper_status status = taper_wrap_dim_or_fail(dims[i], x->rank, &d, call->run->error);
        if (status == TAPER_OK && x->rank == 0) {
            status = taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'self' has no dimensions");
        }
        if (status == TAPER_OK) {
            status = taper_roll(call->run, x, d, (x->sizes[d] + (back ? 1 : 0)) / 2, &next);
        }
        taper_tensor_drop(x);
        TAPER_TRY(status);
        x = next;
    }
    return taper_ret_tensor(call, 0, x);
}

TAPER_KERNEL(taper_op_fftshift)
{
    return shift(call, false);
}
TAPER_KERNEL(taper_op_ifftshift)
{
    return shift(call, true);
}
