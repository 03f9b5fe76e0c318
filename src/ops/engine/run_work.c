// SPDX-License-Identifier: BSD-2-Clause
// Long work on tensors that is not part of an operator's loop, charged to the run in pieces: copies, conversions of
// hidden tensors, and fills with one byte.

#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/call/parallel.h"
#include "ops/engine/elementwise.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_features.h"

// ---- copying and filling tensors

// COPY_PIECE: number of elements of a piece. WORK_OF_A_COPY: nanoseconds for an element, which may be converted or not
// in the cache.
enum { COPY_PIECE = 1 << 20, WORK_OF_A_COPY = 4 };

// Returns the part [start, start + size) of a dimension as a view on the stack, which must not outlive the caller's
// frame.
static taper_tensor narrowed(const taper_tensor *tensor, size_t dim, int64_t start, int64_t size)
{
    taper_tensor part = taper_tensor_local(tensor);
    part.sizes[dim] = size;
    part.offset += taper_wrap_mul(start, tensor->strides[dim]);
    return part;
}

// Copies to another dtype with the conversion kernels, which need contiguous elements. If both tensors have the same
// strides and no gaps, they convert all elements at once, otherwise one line of the last dimension at a time. Returns
// TAPER_DECLINED, with nothing written, if the strides do not allow this.
static taper_status cast_rows(taper_run *run, taper_tensor *to, const taper_tensor *from, int64_t count)
{
    if (!TAPER_COPIES_CONVERT || run->portable || to->dtype == from->dtype || to->rank != from->rank || to->rank == 0 ||
        count == 0 || memcmp(to->sizes, from->sizes, to->rank * sizeof *to->sizes) != 0) {
        return TAPER_DECLINED;
    }
    taper_ew_walk walk = {.sides = 2, .data = {taper_tensor_mutable(to), (char *)(uintptr_t)taper_tensor_data(from)}};
    const taper_tensor *const tensors[2] = {to, from};
    const bool alike =
        taper_tensor_is_dense(to) && memcmp(to->strides, from->strides, to->rank * sizeof *to->strides) == 0;
    int64_t sizes[TAPER_MAX_RANK], steps[2][TAPER_MAX_RANK] = {{0}};
    walk.rank = alike ? 1 : to->rank;
    walk.sizes = sizes;
    for (size_t k = 0; k < 2; k++) {
        int64_t own[TAPER_MAX_RANK];
        taper_tensor_steps(tensors[k], taper_tensor_item(tensors[k]), own);
        for (size_t d = 0; d < walk.rank; d++) {
            steps[k][d] = own[to->rank - 1 - d];
            sizes[d] = to->sizes[to->rank - 1 - d];
        }
        if (alike || sizes[0] == 1) {
            steps[k][0] = (int64_t)taper_tensor_item(tensors[k]);
        }
        walk.steps[k] = steps[k];
    }
    if (alike) {
        sizes[0] = count;
    }
    const char *kernel = run->kernel;
    const taper_status status = taper_ew_cast(run, (taper_dtype)from->dtype, (taper_dtype)to->dtype, &walk);
    run->kernel = kernel != NULL ? kernel : run->kernel; // the profile keeps the name of the operator's own kernel
    return status;
}

taper_status taper_run_copy(taper_run *run, taper_tensor *to, const taper_tensor *from)
{
    const int64_t count = taper_tensor_numel(to);
    const taper_status status = cast_rows(run, to, from, count);
    if (status != TAPER_DECLINED) {
        return status;
    }
    size_t widest = 0;
    for (size_t d = 1; d < to->rank; d++) {
        widest = to->sizes[d] > to->sizes[widest] ? d : widest;
    }
    const size_t lead = (size_t)(to->rank - from->rank);
    const bool own = widest >= lead && from->rank <= to->rank && from->sizes[widest - lead] != 1;
    // The second condition is true for a copy that will fail, because the sizes do not match.
    if (count <= COPY_PIECE || (own && from->sizes[widest - lead] != to->sizes[widest])) {
        TAPER_TRY(taper_run_spend(run, (uint64_t)count * WORK_OF_A_COPY));
        return taper_tensor_copy(to, from, run->error);
    }
    const int64_t step = taper_max_i64(to->sizes[widest] / (count / COPY_PIECE + 1), 1);
    for (int64_t at = 0; at < to->sizes[widest]; at += step) {
        const int64_t size = taper_min_i64(step, to->sizes[widest] - at);
        taper_tensor part = narrowed(to, widest, at, size);
        const taper_tensor source = own ? narrowed(from, widest - lead, at, size) : taper_tensor_local(from);
        TAPER_TRY(taper_run_copy(run, &part, &source));
    }
    return TAPER_OK;
}

// The task of converting images from pixels with all channels (NHWC) to planes of one channel each (NCHW).
typedef struct planes {
    const taper_vector_entry *vector;
    const float *from;
    float *to;
    size_t channels, pixels; // numbers of channels and pixels of one image
} planes;

static void planes_range(void *argument, size_t begin, size_t end)
{
    const planes *p = argument;
    while (begin < end) {
        const size_t image = begin / p->pixels * p->pixels * p->channels, first = begin % p->pixels;
        const size_t count = taper_min_size(end - begin, p->pixels - first);
        p->vector->transpose(count, p->channels, p->from + image + first * p->channels, p->channels,
                             p->to + image + first, p->pixels);
        begin += count;
    }
}

static taper_status settle_floats(taper_run *run, taper_tensor *tensor)
{
    taper_tensor *home;
    TAPER_TRY(taper_tensor_new(tensor->head.heap, TAPER_F32, tensor->rank, tensor->sizes, NULL, &home, run->error));
    planes p = {taper_vector_f32_select(run->cpu), taper_tensor_data(tensor), taper_tensor_mutable(home),
                (size_t)tensor->sizes[1], 1};
    for (size_t d = 2; d < tensor->rank; d++) {
        p.pixels *= (size_t)tensor->sizes[d]; // the product is at most the number of elements, so it cannot overflow
    }
    const size_t pixels = p.pixels * (size_t)tensor->sizes[0];
    const taper_status status = taper_run_floats(run, planes_range, &p, pixels, 2.0 * (double)p.channels);
    if (status == TAPER_OK) {
        taper_tensor_trade_storages(tensor, home);
        tensor->hidden_nhwc = false;
    }
    taper_tensor_drop(home);
    return status;
}

taper_status taper_run_settle(taper_run *run, taper_tensor *tensor)
{
    if (tensor->hidden_nhwc && tensor->dtype == TAPER_F32 && !run->portable && !taper_tensor_is_away(tensor)) {
        return settle_floats(run, tensor);
    }
    // The conversion is in one piece, because the memory is present and one pass over it is fast.
    if (tensor->hidden_nhwc) {
        TAPER_TRY(taper_run_spend(run, (uint64_t)taper_tensor_numel(tensor) * WORK_OF_A_COPY));
    }
    return taper_tensor_settle(tensor, run->error);
}

taper_status taper_run_settle_items(taper_run *run, taper_container *container)
{
    size_t count;
    const taper_val *items = taper_container_items(container, &count);
    for (size_t i = 0; i < count; i++) {
        if (items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_run_settle(run, items[i].as.tensor));
        }
    }
    return TAPER_OK;
}

taper_status taper_run_fetch_items(taper_run *run, const taper_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_tensor_fetch(list->items[i].as.tensor, run->error));
        }
    }
    return TAPER_OK;
}

taper_status taper_run_contiguous(taper_run *run, taper_tensor *tensor, taper_tensor **result)
{
    *result = NULL;
    TAPER_TRY(taper_run_settle(run, tensor));
    if (!taper_tensor_is_contiguous(tensor)) {
        return taper_view_clone(run, tensor, TAPER_FORMAT_CONTIGUOUS, result);
    }
    taper_obj_retain(&tensor->head);
    *result = tensor;
    return TAPER_OK;
}

taper_status taper_run_memset(taper_run *run, void *to, int byte, size_t size)
{
    for (size_t at = 0; at < size; at += TAPER_WORK_PIECE) {
        const size_t piece = taper_min_size(TAPER_WORK_PIECE, size - at);
        // The memory is touched for the first time, which takes half a nanosecond per byte.
        TAPER_TRY(taper_run_spend(run, piece / 2));
        memset((char *)to + at, byte, piece);
    }
    return TAPER_OK;
}

taper_status taper_run_zeros(taper_run *run, taper_dtype dtype, size_t rank, const int64_t *sizes,
                             taper_tensor **tensor)
{
    TAPER_TRY(taper_tensor_new(run->heap, dtype, rank, sizes, NULL, tensor, run->error));
    const taper_status status = taper_run_memset(run, taper_tensor_mutable(*tensor), 0, (*tensor)->storage->bytes);
    if (status != TAPER_OK) {
        taper_tensor_drop(*tensor);
        *tensor = NULL;
    }
    return status;
}
