// SPDX-License-Identifier: BSD-2-Clause
// Copies and conversions: copy_, to, type_as and the casts; fill and zero.
#include "ops/tensor/elementwise_copy.h"
#include "ir/storage.h"
#include "ops/call/call.h"
#include "ops/engine/elementwise_loops.h"
#include "ops/engine/view_shape.h"
#include "ops/math/elementwise_ops.h"

// ---- conversions between dtypes

#define IDENTITY(name, type) TAPER_EW_LOOP1(copy_##name, type, type, (void)args;, x)
IDENTITY(f32, float)
IDENTITY(f64, double)
IDENTITY(i64, int64_t)
IDENTITY(u8, uint8_t)
IDENTITY(c128, taper_c128)
static const taper_ew_op copy_op = {.loops = {copy_f32, copy_f64, copy_i64, copy_u8, copy_c128}, .converts = true};

// Copies `from`, broadcast and converted, to the writable tensor `to`.
static taper_status convert_into(taper_call *call, taper_tensor *to, taper_tensor *from)
{
    if (to->dtype == from->dtype) {
        return taper_run_copy(call->run, to, from);
    }
    taper_ew ew = taper_ew_make(&copy_op);
    taper_ew_input_tensor(&ew, from);
    // A half-precision result is converted from float, whatever real dtype the source has.
    const bool half = to->dtype == TAPER_F16 || to->dtype == TAPER_BF16;
    ew.common = half && !taper_dtype_is_complex((taper_dtype)from->dtype) ? TAPER_F32 : from->dtype;
    return taper_ew_into(call, &ew, to);
}

taper_status taper_ret_copy(taper_call *call, taper_tensor *x, taper_dtype dtype, int64_t format)
{
    taper_error *error = call->run->error;
    if (dtype != x->dtype && (taper_dtype_is_quantized(dtype) || taper_dtype_is_quantized((taper_dtype)x->dtype))) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "a %s tensor cannot be converted to %s this way",
                   taper_dtype_torch_name((taper_dtype)x->dtype), taper_dtype_torch_name(dtype));
    }
    if (dtype == x->dtype) {
        taper_tensor *clone;
        int64_t strides[TAPER_MAX_RANK];
        const bool dense = x->hidden_nhwc || taper_tensor_is_dense(x);
        if (format != TAPER_FORMAT_PRESERVE || dense || taper_dtype_is_quantized(dtype)) {
            TAPER_TRY(taper_view_clone(call->run, x, format, &clone));
            return taper_ret_tensor(call, 0, clone);
        }
        TAPER_TRY(taper_like_strides(x, format, strides, error));
        TAPER_TRY(taper_ret_new(call, 0, dtype, x->rank, x->sizes, strides, &clone));
        return convert_into(call, clone, x);
    }
    taper_tensor *to;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_like_strides(x, format, strides, error));
    if (x->hidden_nhwc && format == TAPER_FORMAT_PRESERVE) {
        TAPER_TRY(taper_ret_new_nhwc(call, 0, dtype, x->rank, x->sizes, true, &to));
    } else {
        TAPER_TRY(taper_ret_new(call, 0, dtype, x->rank, x->sizes, strides, &to));
    }
    return convert_into(call, to, x);
}

static taper_status ret_self(taper_call *call)
{
    taper_ret(call, 0, taper_val_retain(call->args[0]));
    return TAPER_OK;
}

static bool has_format(const taper_tensor *x, int64_t format)
{
    const bool channels_last = taper_tensor_suggests_channels_last(x);
    switch (format) {
    case TAPER_FORMAT_PRESERVE:
        return true;
    case TAPER_FORMAT_CONTIGUOUS:
        return !channels_last;
    case TAPER_FORMAT_CHANNELS_LAST:
        return channels_last && x->rank == 4;
    default:
        return channels_last && x->rank == 5;
    }
}

TAPER_KERNEL(taper_op_to)
{
    const taper_to_args *where = call->param;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    taper_dtype dtype = (taper_dtype)x->dtype;
    bool copy = where->always;
    int64_t format = TAPER_FORMAT_PRESERVE;
    if (where->other != 0) {
        taper_tensor *other;
        TAPER_TRY(taper_arg_tensor(call, where->other, &other));
        dtype = (taper_dtype)other->dtype;
    }
    if (where->dtype != 0) {
        TAPER_TRY(taper_arg_dtype_or(call, where->dtype, dtype, &dtype));
    } else if (where->cast) {
        dtype = (taper_dtype)where->target;
    }
    if (where->copy != 0 && !taper_arg_is_none(call, where->copy)) {
        TAPER_TRY(taper_arg_bool(call, where->copy, &copy));
    }
    if (where->format != 0) {
        TAPER_TRY(taper_arg_int_or(call, where->format, format, &format));
        if (format < TAPER_FORMAT_CONTIGUOUS || format > TAPER_FORMAT_CHANNELS_LAST_3D) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "argument 'memory_format': there is no memory format %lld", (long long)format);
        }
    }
    if (!copy && dtype == x->dtype && has_format(x, format)) {
        return ret_self(call);
    }
    return taper_ret_copy(call, x, dtype, format);
}

#define TO_ARGS(name, ...) const taper_to_args taper_to_##name = {__VA_ARGS__};
TO_ARGS(dtype, .dtype = 1, .copy = 3, .format = 4)
TO_ARGS(device, .dtype = 2, .copy = 4, .format = 5)
TO_ARGS(dtype_layout, .dtype = 1, .copy = 6, .format = 7)
TO_ARGS(other, .other = 1, .copy = 3, .format = 4)
TO_ARGS(prim_dtype, .dtype = 1, .copy = 3)
TO_ARGS(prim_device, .dtype = 2, .copy = 4)
TO_ARGS(prim_other, .copy = 2)
TO_ARGS(type_as, .other = 1)
TO_ARGS(to_copy, .dtype = 1, .format = 6, .always = true)
TO_ARGS(to_copy_out, .format = 2, .always = true)
TO_ARGS(c32, .cast = true, .target = TAPER_C32, .format = 1)
TO_ARGS(u8, .cast = true, .target = TAPER_U8)
TO_ARGS(i8, .cast = true, .target = TAPER_I8)
TO_ARGS(i16, .cast = true, .target = TAPER_I16)
TO_ARGS(i32, .cast = true, .target = TAPER_I32)
TO_ARGS(i64, .cast = true, .target = TAPER_I64)
TO_ARGS(f16, .cast = true, .target = TAPER_F16)
TO_ARGS(f32, .cast = true, .target = TAPER_F32)
TO_ARGS(f64, .cast = true, .target = TAPER_F64)

static taper_status copy_number(taper_call *call, taper_tensor *self, const taper_scalar *scalar)
{
    TAPER_TRY(taper_storage_write(self->storage, call->run->error));
    TAPER_TRY(taper_tensor_fill(call->run, self, scalar));
    return ret_self(call);
}

TAPER_KERNEL(taper_op_copy_)
{
    taper_tensor *self, *from;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    if (call->arg_count > 1 && call->args[1].tag != TAPER_TENSOR) {
        taper_scalar scalar;
        TAPER_TRY(taper_arg_scalar(call, 1, &scalar));
        return copy_number(call, self, &scalar);
    }
    TAPER_TRY(taper_arg_tensor(call, 1, &from));
    if (self == from) {
        return ret_self(call);
    }
    size_t rank = self->rank;
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, self->sizes, sizeof sizes);
    TAPER_TRY(taper_ew_broadcast(&rank, sizes, from, error));
    if (rank != self->rank || memcmp(sizes, self->sizes, rank * sizeof *sizes) != 0) {
        const taper_sizes_text a = taper_sizes_print(self->rank, self->sizes), b = taper_sizes_print(rank, sizes);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output with shape %s doesn't match the broadcast shape %s", a.text,
                   b.text);
    }
    TAPER_TRY(taper_ret_check_overlap(call, self));
    TAPER_TRY(taper_storage_write(self->storage, error));
    if (self->storage != from->storage) {
        TAPER_TRY(convert_into(call, self, from));
        return ret_self(call);
    }
    taper_tensor *apart; // a copy of the source, because two views of one storage may overlap
    TAPER_TRY(taper_view_clone(call->run, from, TAPER_FORMAT_PRESERVE, &apart));
    const taper_status status = convert_into(call, self, apart);
    taper_tensor_drop(apart);
    return status == TAPER_OK ? ret_self(call) : status;
}

// Computes aten::copy, which returns src with the sizes and the dtype of self. The elements of self are not used.
TAPER_KERNEL(taper_op_copy)
{
    taper_tensor *self, *from, *wide;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_arg_plain(call, 1, &from));
    TAPER_TRY(taper_expand(call->run, from, self->rank, self->sizes, &wide));
    const taper_status status = taper_ret_copy(call, wide, (taper_dtype)self->dtype, TAPER_FORMAT_PRESERVE);
    taper_tensor_drop(wide);
    return status;
}

// ---- fills

// Fills self, or a new tensor like it, with the argument at value_at, or with zero if value_at is 0.
static taper_status fill(taper_call *call, size_t value_at)
{
    taper_tensor *self, *to;
    taper_error *error = call->run->error;
    taper_scalar scalar = taper_scalar_int(0);
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    if (value_at != 0) {
        if (value_at < call->arg_count && call->args[value_at].tag == TAPER_TENSOR &&
            call->args[value_at].as.tensor->rank != 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "fill_ only supports 0-dimension value tensor but got tensor with %u dimensions.",
                       call->args[value_at].as.tensor->rank);
        }
        TAPER_TRY(taper_arg_scalar(call, value_at, &scalar));
        if (call->args[value_at].tag != TAPER_TENSOR) {
            TAPER_TRY(taper_scalar_check((taper_dtype)self->dtype, &scalar, error));
        }
    }
    if (call->schema != NULL && call->schema->in_place) {
        return copy_number(call, self, &scalar);
    }
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_like_strides(self, TAPER_FORMAT_PRESERVE, strides, error));
    TAPER_TRY(taper_ret_new(call, 0, (taper_dtype)self->dtype, self->rank, self->sizes, strides, &to));
    return taper_tensor_fill(call->run, to, &scalar);
}

TAPER_KERNEL(taper_op_fill)
{
    return fill(call, 1);
}
TAPER_KERNEL(taper_op_zero)
{
    return fill(call, 0);
}
