// SPDX-License-Identifier: BSD-2-Clause
// Patches of an image as columns (im2col, torch.nn.functional.unfold), and the reverse (col2im, fold).
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/index_into.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

typedef struct patches {
    taper_run *run;
    int64_t kernel[2], dilation[2], padding[2], stride[2];
    int64_t image[2]; // height and width of the image
    int64_t blocks[2];
} patches;

static taper_status read_pair(const taper_call *call, size_t at, int64_t least, int64_t *pair)
{
    size_t count;
    TAPER_TRY(taper_arg_ints(call, at, 2, 2, pair, &count));
    for (int i = 0; i < 2; i++) {
        if (pair[i] < least) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s should be %s, but got (%lld, %lld)",
                       call->schema->args[at].name, least == 0 ? "non-negative" : "greater than zero",
                       (long long)pair[0], (long long)pair[1]);
        }
    }
    return TAPER_OK;
}

// Reads kernel_size, dilation, padding and stride, from argument `at` on. The number of blocks follows from the size of
// the image.
static taper_status read_patches(const taper_call *call, size_t at, patches *p)
{
    p->run = call->run;
    TAPER_TRY(read_pair(call, at, 1, p->kernel));
    TAPER_TRY(read_pair(call, at + 1, 1, p->dilation));
    TAPER_TRY(read_pair(call, at + 2, 0, p->padding));
    TAPER_TRY(read_pair(call, at + 3, 1, p->stride));
    for (int i = 0; i < 2; i++) {
        int64_t reach, padded;
        if (!taper_mul_i64(p->dilation[i], p->kernel[i] - 1, &reach) || !taper_add_i64(reach, 1, &reach) ||
            !taper_mul_i64(2, p->padding[i], &padded) || !taper_add_i64(padded, p->image[i], &padded)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "kernel_size, dilation or padding is too large");
        }
        p->stride[i] = taper_min_i64(
            p->stride[i],
            taper_max_i64(padded, 1)); // the stride is limited, because any longer stride also gives one block
        p->blocks[i] = padded < reach ? 0 : (padded - reach) / p->stride[i] + 1;
        if (p->blocks[i] < 1) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "Given an image of spatial size (%lld, %lld), kernel_size=(%lld, %lld), dilation=(%lld, %lld), "
                       "padding=(%lld, %lld): the number of sliding blocks must be at least one in each direction",
                       (long long)p->image[0], (long long)p->image[1], (long long)p->kernel[0], (long long)p->kernel[1],
                       (long long)p->dilation[0], (long long)p->dilation[1], (long long)p->padding[0],
                       (long long)p->padding[1]);
        }
    }
    return TAPER_OK;
}

// Computes the position of block b under tap k along one axis. Returns false if it is outside the image.
static bool position(const patches *p, int axis, int64_t block, int64_t tap, int64_t *at)
{
    *at = block * p->stride[axis] + (tap * p->dilation[axis] - p->padding[axis]);
    return *at >= 0 && *at < p->image[axis];
}

// Copies elements that are `step` bytes apart to contiguous elements.
static void copy_items(size_t item, char *to, const char *from, int64_t step, int64_t count)
{
    if (step == 1) {
        memcpy(to, from, (size_t)count * item);
    } else if (item == sizeof(float)) {
        for (int64_t i = 0; i < count; i++) {
            ((uint32_t *)(void *)to)[i] = ((const uint32_t *)(const void *)from)[i * step];
        }
    } else {
        for (int64_t i = 0; i < count; i++) {
            memcpy(to + (size_t)i * item, from + i * step * (int64_t)item, item);
        }
    }
}

// Computes the range [*begin, *end) of the blocks along an axis that read inside the image with this tap.
static void blocks_inside(const patches *p, int axis, int64_t tap, int64_t *begin, int64_t *end)
{
    // Position of block 0 under this tap.
    const int64_t first = tap * p->dilation[axis] - p->padding[axis], step = p->stride[axis];
    const int64_t low = first >= 0 ? 0 : -(first / step) + (first % step != 0);
    const int64_t high = first >= p->image[axis] ? 0 : (p->image[axis] - 1 - first) / step + 1;
    *begin = taper_min_i64(low, p->blocks[axis]);
    *end = taper_max_i64(taper_min_i64(high, p->blocks[axis]), *begin);
}

// Copies one plane of the image to its rows of the column matrix. Steps are in elements.
static void gather_plane(const patches *p, size_t item, const char *plane, const int64_t *steps, char *rows)
{
    for (int64_t kh = 0; kh < p->kernel[0]; kh++) {
        for (int64_t kw = 0; kw < p->kernel[1]; kw++) {
            int64_t begin, end, h, w = 0;
            blocks_inside(p, 1, kw, &begin, &end);
            if (begin < end) {
                (void)position(p, 1, begin, kw, &w);
            }
            // The product cannot overflow: with two blocks or more the stride is shorter than a row.
            const int64_t step = end - begin > 1 ? p->stride[1] * steps[1] : 1;
            for (int64_t oh = 0; oh < p->blocks[0] && taper_run_goes_on(p->run, (uint64_t)p->blocks[1] * 2); oh++) {
                const bool inside = position(p, 0, oh, kh, &h);
                const size_t zeros = (size_t)(inside ? begin : p->blocks[1]);
                memset(rows, 0, zeros * item);
                if (inside) {
                    copy_items(item, rows + zeros * item, plane + (h * steps[0] + w * steps[1]) * (int64_t)item, step,
                               end - begin);
                    memset(rows + (size_t)end * item, 0, (size_t)(p->blocks[1] - end) * item);
                }
                rows += (size_t)p->blocks[1] * item;
            }
        }
    }
}

TAPER_KERNEL(taper_op_im2col)
{
    taper_tensor *input, *result = NULL;
    patches p;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    const size_t skip = input->rank == 3 ? 0 : 1;
    if (input->rank != 3 && input->rank != 4) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expected 3D or 4D (batch mode) tensor for input, but got: %s", TAPER_SHAPE(input));
    }
    if (taper_dtype_is_quantized((taper_dtype)input->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "im2col is not implemented for quantized tensors");
    }
    const int64_t *sizes = input->sizes + skip;
    if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
                   "input, but got: %s",
                   TAPER_SHAPE(input));
    }
    p.image[0] = sizes[1];
    p.image[1] = sizes[2];
    TAPER_TRY(read_patches(call, 1, &p));
    int64_t taps, depth, count;
    if (!taper_mul_i64(p.kernel[0], p.kernel[1], &taps) || !taper_mul_i64(taps, sizes[0], &depth) ||
        !taper_mul_i64(p.blocks[0], p.blocks[1], &count)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "kernel_size or padding is too large");
    }
    const int64_t out[3] = {skip == 0 ? depth : input->sizes[0], skip == 0 ? count : depth, count};
    TAPER_TRY(
        taper_tensor_new(call->run->heap, (taper_dtype)input->dtype, 2 + skip, out, NULL, &result, call->run->error));
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(input, 1, steps);
    const int64_t batch = skip == 0 ? 1 : input->sizes[0], batch_step = skip == 0 ? 0 : steps[0];
    const size_t item = taper_tensor_item(input);
    char *rows = taper_tensor_mutable(result);
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t c = 0; c < sizes[0]; c++, rows += (size_t)(taps * count) * item) {
            const char *plane =
                (const char *)taper_tensor_data(input) + (n * batch_step + c * steps[skip]) * (int64_t)item;
            gather_plane(&p, item, plane, steps + skip + 1, rows);
        }
    }
    return taper_ret_tensor(call, 0, result);
}

#include "ops/nn/conv_fold_floats.h"

static void scatter_plane(const patches *p, taper_into_function add, int64_t item, const char *rows, int64_t row_step,
                          int64_t column_step, char *plane)
{
    for (int64_t kh = 0; kh < p->kernel[0]; kh++) {
        for (int64_t kw = 0; kw < p->kernel[1] && taper_run_goes_on(p->run, 1); kw++, rows += row_step) {
            const char *from = rows;
            int64_t begin, end, h, w = 0;
            blocks_inside(p, 1, kw, &begin, &end);
            if (begin < end) {
                (void)position(p, 1, begin, kw, &w);
            }
            const int64_t step = end - begin > 1 ? p->stride[1] * item : item;
            for (int64_t oh = 0; oh < p->blocks[0]; oh++, from += p->blocks[1] * column_step) {
                if (position(p, 0, oh, kh, &h)) {
                    taper_into_line(p->run, add, plane + (h * p->image[1] + w) * item, step, from + begin * column_step,
                                    column_step, end - begin);
                }
            }
        }
    }
}

TAPER_KERNEL(taper_op_col2im)
{
    taper_tensor *input, *wide = NULL, *result = NULL;
    patches p;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    TAPER_TRY(read_pair(call, 1, 1, p.image));
    TAPER_TRY(read_patches(call, 2, &p));
    const size_t skip = input->rank == 2 ? 0 : 1;
    if ((input->rank != 2 && input->rank != 3) || input->sizes[skip] == 0 || input->sizes[skip + 1] == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions "
                   "for input, but got: %s",
                   TAPER_SHAPE(input));
    }
    TAPER_TRY(taper_check_product_dtype(call, input, "self"));
    int64_t taps, count;
    if (!taper_mul_i64(p.kernel[0], p.kernel[1], &taps) || input->sizes[skip] % taps != 0) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT,
            "Expected size of input's dimension %zu to be divisible by the product of kernel_size, but got %lld and "
            "kernel_size=(%lld, %lld).",
            skip, (long long)input->sizes[skip], (long long)p.kernel[0], (long long)p.kernel[1]);
    }
    if (!taper_mul_i64(p.blocks[0], p.blocks[1], &count) || input->sizes[skip + 1] != count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "expected size of input's dimension %zu to match the calculated number of sliding blocks %lld * "
                   "%lld, but got %lld.",
                   skip + 1, (long long)p.blocks[0], (long long)p.blocks[1], (long long)input->sizes[skip + 1]);
    }
    const int64_t channels = input->sizes[skip] / taps, batch = skip == 0 ? 1 : input->sizes[0];
    const taper_dtype work = taper_work_dtype((taper_dtype)input->dtype);
    const int64_t out[4] = {skip == 0 ? channels : batch, skip == 0 ? p.image[0] : channels,
                            skip == 0 ? p.image[1] : p.image[0], p.image[1]};
    TAPER_TRY(taper_run_zeros(call->run, work, 3 + skip, out, &result));
    const taper_status status = taper_tensor_cast(call->run, input, work, &wide);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    const taper_into_function add = taper_into_find(work, TAPER_INTO_ADD);
    const size_t item = taper_tensor_item(result);
    const int64_t size = (int64_t)item;
    int64_t steps[TAPER_MAX_RANK];
    taper_tensor_steps(wide, 1, steps);
    const int64_t batch_step = skip == 0 ? 0 : steps[0], row_step = steps[skip], column_step = steps[skip + 1];
    char *plane = taper_tensor_mutable(result);
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t c = 0; c < channels; c++, plane += (size_t)(p.image[0] * p.image[1]) * item) {
            const char *rows = (const char *)taper_tensor_data(wide) + (n * batch_step + c * taps * row_step) * size;
            if (lies_apart(work, &p, column_step)) {
                scatter_floats(&p, rows, row_step * size, (float *)(void *)plane);
            } else {
                scatter_plane(&p, add, size, rows, row_step * size, column_step * size, plane);
            }
        }
    }
    taper_tensor_drop(wide);
    return taper_ret_cast(call, 0, result, (taper_dtype)input->dtype);
}
