// SPDX-License-Identifier: BSD-2-Clause
// Views with another dtype, tensors that are returned unchanged (detach, contiguous), clones, resize_ and set_.
#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"

#define COPIED(name, base)                                                                                             \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return taper_view_copied(call, base);                                                                          \
    }

// ---- views with another dtype

static taper_status ret_typed(taper_call *call, const taper_tensor *x, taper_dtype dtype, const taper_view *view)
{
    taper_tensor *result;
    // Memory of a file or of the host is aligned for the tensor's own dtype, which may need less alignment than the new
    // dtype.
    if ((uintptr_t)x->storage->data % taper_min_size(taper_dtype_size(dtype), 8) != 0) {
        if (!x->storage->read_only) {
            return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED,
                              "view: the host's memory is not aligned for %s", taper_dtype_name(dtype));
        }
        TAPER_TRY(taper_storage_write(x->storage, call->run->error));
    }
    TAPER_TRY(taper_tensor_view(call->run->heap, x->storage, dtype, view->offset, view->rank, view->sizes,
                                view->strides, &result, call->run->error));
    taper_ret(call, 0, TAPER_VAL(result));
    return TAPER_OK;
}

// Computes a view whose elements are `ratio` times as large.
static taper_status widen(taper_call *call, const taper_tensor *x, taper_dtype dtype, int64_t ratio, taper_view *view)
{
    const size_t last = view->rank - 1;
    bool fits = view->sizes[last] % ratio == 0 && view->offset % ratio == 0;
    for (size_t d = 0; d < last; d++) {
        fits = fits && view->strides[d] % ratio == 0;
        view->strides[d] /= ratio;
    }
    if (!fits) {
        return taper_fail(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "self.size(-1), self.storage_offset() and the other strides must be divisible by %lld to view %s as %s "
            "(different element sizes)",
            (long long)ratio, taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name(dtype));
    }
    view->sizes[last] /= ratio;
    view->offset /= ratio;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_view_dtype)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_dtype_or(call, 1, (taper_dtype)x->dtype, &dtype));
    const size_t from = taper_tensor_item(x), to = taper_dtype_size(dtype);
    if (from == 0 || to == 0 || taper_dtype_is_quantized(dtype) || taper_dtype_is_quantized((taper_dtype)x->dtype)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "view: %s cannot be viewed as %s",
                          taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name(dtype));
    }
    taper_view view;
    taper_view_of(x, &view);
    if (from != to) {
        if (view.rank == 0) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "self.dim() cannot be 0 to view %s as %s (different element sizes)",
                              taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name(dtype));
        }
        const size_t last = view.rank - 1;
        if (view.strides[last] != 1) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %lld",
                              taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name(dtype),
                              (long long)view.strides[last]);
        }
        if (from < to) {
            TAPER_TRY(widen(call, x, dtype, (int64_t)(to / from), &view));
        } else {
            const int64_t ratio = (int64_t)(from / to);
            view.sizes[last] = taper_wrap_mul(view.sizes[last], ratio);
            view.offset = taper_wrap_mul(view.offset, ratio);
            for (size_t d = 0; d < last; d++) {
                view.strides[d] = taper_wrap_mul(view.strides[d], ratio);
            }
        }
    }
    return ret_typed(call, x, dtype, &view);
}
COPIED(taper_op_view_dtype_copy, taper_op_view_dtype)

static taper_dtype real_of(taper_dtype dtype)
{
    return dtype == TAPER_C32 ? TAPER_F16 : dtype == TAPER_C64 ? TAPER_F32 : TAPER_F64;
}

static taper_status check_complex(const taper_call *call, const taper_tensor *x, const char *name)
{
    return taper_dtype_is_complex((taper_dtype)x->dtype)
               ? TAPER_OK
               : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                            "%s is only supported for tensors with complex dtypes", name);
}

// Computes the offset and the strides of a complex tensor viewed as real numbers.
static void view_parts(const taper_tensor *x, taper_view *view)
{
    taper_view_of(x, view);
    view->offset *= 2;
    for (size_t d = 0; d < view->rank; d++) {
        view->strides[d] = taper_wrap_mul(view->strides[d], 2);
    }
}

TAPER_KERNEL(taper_op_view_as_real)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(check_complex(call, x, "view_as_real"));
    taper_view view;
    view_parts(x, &view);
    TAPER_TRY(taper_view_insert(&view, view.rank, 2, 1, call->run->error));
    return ret_typed(call, x, real_of((taper_dtype)x->dtype), &view);
}
COPIED(taper_op_view_as_real_copy, taper_op_view_as_real)

TAPER_KERNEL(taper_op_view_as_complex)
{
    taper_error *error = call->run->error;
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    const taper_dtype dtype = x->dtype == TAPER_F32   ? TAPER_C64
                              : x->dtype == TAPER_F64 ? TAPER_C128
                              : x->dtype == TAPER_F16 ? TAPER_C32
                                                      : TAPER_BOOL;
    if (dtype == TAPER_BOOL) {
        return taper_fail(
            error, TAPER_ERROR_ARGUMENT,
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of dtype %s",
            taper_dtype_name((taper_dtype)x->dtype));
    }
    taper_view view;
    taper_view_of(x, &view);
    if (view.rank == 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "Input tensor must have one or more dimensions");
    }
    const size_t last = view.rank - 1;
    if (view.sizes[last] != 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "Tensor must have a last dimension of size 2");
    }
    if (view.strides[last] != 1) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "Tensor must have a last dimension with stride 1");
    }
    bool even = view.offset % 2 == 0;
    for (size_t d = 0; d < last; d++) {
        even = even && view.strides[d] % 2 == 0;
        view.strides[d] /= 2;
    }
    if (!even) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "Tensor must have a stride divisible by 2 for all but last dimension, and a "
                          "storage_offset divisible by 2");
    }
    view.offset /= 2;
    view.rank--;
    return ret_typed(call, x, dtype, &view);
}
COPIED(taper_op_view_as_complex_copy, taper_op_view_as_complex)

// ---- views with the same elements

// detach and alias return a new tensor over the same storage.
TAPER_KERNEL(taper_op_alias)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    taper_view view;
    taper_view_of(x, &view);
    return taper_view_ret(call, 0, x, &view);
}
COPIED(taper_op_alias_copy, taper_op_alias)

// lift, cpu, pin_memory and requires_grad_ return the tensor itself. requires_grad_ fails for dtypes without gradients.
TAPER_KERNEL(taper_op_self)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    taper_view_ret_same(call, 0, x);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_requires_grad)
{
    taper_tensor *self;
    bool wanted;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_arg_bool(call, 1, &wanted));
    if (wanted && !taper_dtype_is_float((taper_dtype)self->dtype) &&
        !taper_dtype_is_complex((taper_dtype)self->dtype)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "Only Tensors of floating point and complex dtype can require gradients");
    }
    if (self->requires_grad != wanted) { // threads may share an input, so the flag is written only if it changes
        self->requires_grad = wanted;
    }
    return taper_op_self(call);
}

TAPER_KERNEL(taper_op_contiguous)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *clone;
    int64_t format;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int_or(call, 1, TAPER_FORMAT_CONTIGUOUS, &format));
    (void)taper_tensor_unhide_if_trivial(x);
    bool same;
    switch (format) {
    case TAPER_FORMAT_CONTIGUOUS:
        same = x->hidden_nhwc || taper_tensor_is_contiguous(x);
        break;
    case TAPER_FORMAT_CHANNELS_LAST:
        same = !x->hidden_nhwc && x->rank == 4 && taper_tensor_is_channels_last(x);
        break;
    case TAPER_FORMAT_CHANNELS_LAST_3D:
        same = !x->hidden_nhwc && x->rank == 5 && taper_tensor_is_channels_last(x);
        break;
    case TAPER_FORMAT_PRESERVE:
        same = x->hidden_nhwc || taper_tensor_is_contiguous(x);
        if (!same) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "preserve memory format is unsupported by the contiguous operator");
        }
        break;
    default:
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "memory_format: unknown value %lld", (long long)format);
    }
    if (same) {
        taper_view_ret_same(call, 0, x);
        return TAPER_OK;
    }
    TAPER_TRY(taper_view_clone(call->run, x, format, &clone));
    taper_ret(call, 0, TAPER_VAL(clone));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_clone)
{
    taper_tensor *x, *clone;
    int64_t format = TAPER_FORMAT_PRESERVE;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (call->arg_count > 1 && call->args[1].tag == TAPER_INT) {
        format = call->args[1].as.i;
    }
    TAPER_TRY(taper_view_clone(call->run, x, format, &clone));
    return taper_ret_tensor(call, 0, clone);
}

// ---- resize_ and set_

static taper_status resize(taper_call *call, taper_tensor *x, size_t rank, const int64_t *sizes, int64_t format)
{
    taper_run *run = call->run;
    if (format == TAPER_FORMAT_PRESERVE) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "Unsupported memory format Preserve");
    }
    if (rank == x->rank && memcmp(sizes, x->sizes, rank * sizeof *sizes) == 0 && format < 0) {
        return TAPER_OK;
    }
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, run->error));
    taper_tensor shape = taper_tensor_local(x); // only the shape of this tensor is used
    int64_t strides[TAPER_MAX_RANK], count = 1, bytes;
    TAPER_TRY(taper_tensor_check_sizes((taper_dtype)x->dtype, rank, sizes, run->error));
    shape.rank = (uint8_t)rank;
    for (size_t d = 0; d < rank; d++) {
        count *= sizes[d];
        shape.sizes[d] = sizes[d];
    }
    if (!taper_add_i64(x->offset, count, &bytes) || !taper_mul_i64(bytes, (int64_t)item, &bytes) ||
        bytes > TAPER_LIMIT_TENSOR_BYTES) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "size: %s is too large",
                          taper_sizes_print(rank, sizes).text);
    }
    TAPER_TRY(taper_like_strides(&shape, format < 0 ? TAPER_FORMAT_CONTIGUOUS : format, strides, run->error));
    if (count > 0 && (size_t)bytes > x->storage->bytes) {
        taper_storage *larger;
        TAPER_TRY(taper_storage_new(run->heap, (size_t)bytes, &larger, run->error));
        if (x->storage->bytes > 0) {
            memcpy(larger->data, x->storage->data, x->storage->bytes);
        }
        taper_obj_release(&x->storage->head);
        x->storage = larger;
    }
    x->rank = (uint8_t)rank;
    memcpy(x->sizes, shape.sizes, sizeof x->sizes);
    memcpy(x->strides, strides, sizeof x->strides);
    return TAPER_OK;
}

static taper_status ret_resized(taper_call *call, taper_tensor *x, size_t rank, const int64_t *sizes, int64_t format)
{
    if (taper_call_in_place(call)) {
        TAPER_TRY(resize(call, x, rank, sizes, format));
        taper_view_ret_same(call, 0, x);
        return TAPER_OK;
    }
    taper_tensor *clone;
    TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_PRESERVE, &clone));
    const taper_status status = resize(call, clone, rank, sizes, format);
    if (status != TAPER_OK) {
        taper_tensor_drop(clone);
        return status;
    }
    return taper_ret_tensor(call, 0, clone);
}

static int64_t arg_format(const taper_call *call, size_t at)
{
    return at < call->arg_count && call->args[at].tag == TAPER_INT ? call->args[at].as.i : -1;
}

TAPER_KERNEL(taper_op_resize)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &rank));
    return ret_resized(call, x, rank, sizes, arg_format(call, 2));
}

TAPER_KERNEL(taper_op_resize_as)
{
    taper_tensor *x, *like;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &like));
    TAPER_TRY(taper_run_settle(call->run, like));
    int64_t format = arg_format(call, 2);
    if (format == TAPER_FORMAT_PRESERVE) {
        format = !taper_tensor_suggests_channels_last(like) ? TAPER_FORMAT_CONTIGUOUS
                 : like->rank == 4                          ? TAPER_FORMAT_CHANNELS_LAST
                                                            : TAPER_FORMAT_CHANNELS_LAST_3D;
    }
    return ret_resized(call, x, like->rank, like->sizes, format);
}

static taper_status expect_same_dtype(taper_call *call, const taper_tensor *x, const taper_tensor *source)
{
    if (x->dtype != source->dtype) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "set_: the tensors have different dtypes, %s and %s",
                          taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name((taper_dtype)source->dtype));
    }
    return TAPER_OK;
}

// Makes self a view of source's storage.
static taper_status set_to(taper_call *call, taper_tensor *x, const taper_tensor *source, const taper_view *view)
{
    taper_tensor *checked;
    TAPER_TRY(taper_view_make(call->run, source, view, &checked));
    taper_obj_retain(&source->storage->head);
    taper_obj_release(&x->storage->head);
    x->storage = source->storage;
    x->dtype = source->dtype;
    x->hidden_nhwc = false;
    x->rank = (uint8_t)view->rank;
    x->offset = view->offset;
    memcpy(x->sizes, view->sizes, sizeof x->sizes);
    memcpy(x->strides, view->strides, sizeof x->strides);
    const taper_status status = taper_tensor_set_quantizer(x, source->quantizer, call->run->error);
    taper_tensor_drop(checked);
    return status;
}

// set_(source) and set_data use the second argument's storage and shape. set_data without a result, which only the host
// calls, also gives self the dtype of the second argument. A call in a program does not change the dtype, because
// other operators of the program may rely on the dtype of self.
TAPER_KERNEL(taper_op_set)
{
    taper_tensor *x, *source;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_plain(call, 1, &source));
    const bool returns = call->ret_count > 0;
    if (returns || call->operands != NULL) {
        TAPER_TRY(expect_same_dtype(call, x, source));
    }
    taper_view view;
    taper_view_of(source, &view);
    TAPER_TRY(set_to(call, x, source, &view));
    if (returns) {
        taper_view_ret_same(call, 0, x);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_set_strided)
{
    taper_tensor *x, *source;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_plain(call, 1, &source));
    TAPER_TRY(expect_same_dtype(call, x, source));
    taper_view view;
    size_t count;
    TAPER_TRY(taper_arg_int(call, 2, &view.offset));
    TAPER_TRY(taper_arg_ints(call, 3, 0, TAPER_MAX_RANK, view.sizes, &view.rank));
    TAPER_TRY(taper_arg_ints(call, 4, 0, TAPER_MAX_RANK, view.strides, &count));
    if (count == 0 && view.rank > 0) {
        taper_strides_contiguous(view.rank, view.sizes, view.strides);
    } else if (count != view.rank) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "stride must have the same number of items as size");
    }
    for (size_t d = 0; d < view.rank; d++) {
        if (view.strides[d] < 0) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "stride: negative strides are not supported");
        }
    }
    TAPER_TRY(set_to(call, x, source, &view));
    taper_view_ret_same(call, 0, x);
    return TAPER_OK;
}
