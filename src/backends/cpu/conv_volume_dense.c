// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of volumes whose planes are smaller than vectors. The input is copied into an order in which the
// channels of an element are contiguous. Rows of elements, one for each tap, are then multiplied by packed weights.
#include <math.h>

#include "backends/cpu/conv_volume.h"
#include "backends/cpu/epilogue.h"
#include "base/checked.h"
#include "ops/call/packs.h"
#include "ops/call/parallel.h"
#include "ops/engine/tiles.h"
#include "ops/kernels/kernel_select.h"

enum { MOST_TAPS = 512, POINTERS = 2048, PIECE_ROWS = 48 };

typedef struct dense_plan {
    const taper_conv_args *args;
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    taper_epilogue epilogue;
    // Number of elements of an image of the result; number of elements of an image of the input.
    size_t positions, elements;
    size_t strip, pieces; // number of positions of one product; number of pieces of an image
    size_t taps, groups, group_in, group_out, group_floats;
    int64_t kernel[TAPER_CONV_RANK];
    const float *packed, *x, *zero; // packed weights; x as [image, element, channel]; zeros
    float *y;
} dense_plan;

// Finds the elements that a position reads, one for each tap. Pointers of consecutive taps are `step` items of `to`
// apart.
static void find_taps(const dense_plan *plan, const float *x, size_t position, const float **to, size_t step)
{
    const taper_conv_args *a = plan->args;
    const int64_t *size = a->input->sizes + 2;
    int64_t first[TAPER_CONV_RANK];
    for (size_t i = TAPER_CONV_RANK; i-- != 0;) {
        const int64_t out = a->out_sizes[2 + i];
        first[i] = (int64_t)position % out * a->params.stride[i] - a->params.padding[i];
        position /= (size_t)out;
    }
    const int64_t channels = a->input->sizes[1];
    for (int64_t d = 0; d < plan->kernel[0]; d++) {
        const int64_t at_d = first[0] + d * a->params.dilation[0];
        for (int64_t h = 0; h < plan->kernel[1]; h++) {
            const int64_t at_h = first[1] + h * a->params.dilation[1];
            const bool inside = at_d >= 0 && at_d < size[0] && at_h >= 0 && at_h < size[1];
            for (int64_t w = 0; w < plan->kernel[2]; w++, to += step) {
                const int64_t at_w = first[2] + w * a->params.dilation[2];
                *to = inside && at_w >= 0 && at_w < size[2] ? x + ((at_d * size[1] + at_h) * size[2] + at_w) * channels
                                                            : plan->zero;
            }
        }
    }
}

static void make_strip(const dense_plan *plan, const float *x, size_t first, size_t count, float *made)
{
    const float *pointers[POINTERS];
    const size_t out_c = plan->groups * plan->group_out;
    for (size_t i = 0; i < count; i++) {
        find_taps(plan, x, first + i, pointers + i, count);
    }
    for (size_t g = 0; g < plan->groups; g++) {
        const taper_gemm_epilogue e = {.min = plan->epilogue.min, .max = plan->epilogue.max};
        plan->entry->igemm(count, plan->group_out, plan->group_in, plan->taps, pointers, count,
                           g * plan->group_in * sizeof(float), plan->zero, plan->packed + g * plan->group_floats,
                           made + g * plan->group_out, out_c, &e);
    }
}

typedef struct dense_run {
    const dense_plan *plan;
    taper_places places;
    size_t pieces;
} dense_run;

static void run_pieces(void *argument, size_t begin, size_t end)
{
    const dense_run *r = argument;
    const dense_plan *plan = r->plan;
    const size_t out_c = plan->groups * plan->group_out, in_c = plan->groups * plan->group_in;
    float *made = taper_place_take(&r->places, begin, r->pieces);
    for (size_t i = begin; i < end; i++) {
        const size_t image = i / plan->pieces, first = i % plan->pieces * PIECE_ROWS;
        const size_t count = taper_min_size(PIECE_ROWS, plan->positions - first);
        const float *x = plan->x + image * plan->elements * in_c;
        for (size_t k = 0, some; k < count; k += some) {
            some = taper_min_size(plan->strip, count - k);
            make_strip(plan, x, first + k, some, made + k * out_c);
        }
        taper_epilogue_finish(&plan->epilogue, 1, count * out_c, made, count * out_c);
        plan->vector->transpose(count, out_c, made, out_c, plan->y + image * out_c * plan->positions + first,
                                plan->positions);
    }
    taper_place_leave(made);
}

static void fill_weights(const taper_pack_request *request, void *data)
{
    const dense_plan *plan = request->user;
    const taper_tensor *w = plan->args->weight;
    const float *bias = plan->args->bias != NULL ? taper_tensor_data(plan->args->bias) : NULL;
    const size_t panels = (plan->group_out - 1) / plan->entry->nr + 1;
    for (size_t g = 0; g < plan->groups; g++) {
        const taper_gemm_pack pack = {.n = plan->group_out,
                                      .ks = plan->taps,
                                      .kc = plan->group_in,
                                      .n_stride = plan->group_in * plan->taps,
                                      .tap_stride = 1,
                                      .k_stride = plan->taps,
                                      .weights = (const float *)taper_tensor_data(w) +
                                                 g * plan->group_out * plan->group_in * plan->taps,
                                      .bias = bias != NULL ? bias + g * plan->group_out : NULL,
                                      .transpose = plan->vector->transpose};
        taper_gemm_pack_panels(plan->entry, &pack, 0, panels, (float *)data + g * plan->group_floats);
    }
}

bool taper_conv_volume_is_dense(const taper_call *call, const taper_conv_args *a)
{
    const taper_conv_params *params = &a->params;
    if (params->rank != TAPER_CONV_RANK || params->transposed || !taper_tensor_is_contiguous(a->weight) ||
        !taper_tensor_is_contiguous(a->input) || call->run->precision != TAPER_PRECISION_fp32) {
        return false;
    }
    int64_t taps = 1;
    for (size_t i = 0; i < TAPER_CONV_RANK; i++) {
        taps = a->weight->sizes[2 + i] > MOST_TAPS ? MOST_TAPS + 1 : taps * a->weight->sizes[2 + i];
        if (taps > MOST_TAPS) {
            return false;
        }
    }
    // Costs of a tap of one input, in multiply-adds of vectors. pointers: reading the tap's pointer; rows: a
    // multiply-add of the kernel that reads rows; laid_out: a multiply-add on planes, with the cost of copying the
    // input to planes.
    const double pointers = 4, rows = 1.25, laid_out = 1.125;
    const double lanes = taper_planar_f32_select(call->run->cpu)->lanes;
    const double group_out = (double)a->weight->sizes[0] / (double)params->groups,
                 reach = (double)a->weight->sizes[4] - 1;
    const double high = (double)a->out_sizes[3], wide = (double)a->out_sizes[4];
    const double vectors = ceil(((high - 1) * (wide + reach) + wide) / lanes);
    return high * wide * (ceil(group_out / lanes) * rows + pointers / (double)a->weight->sizes[1]) <
           vectors * group_out * laid_out;
}

typedef struct to_neighbours {
    const dense_plan *plan;
    const float *from;
    float *to;
    size_t channels;
} to_neighbours;

static void bring_images(void *argument, size_t begin, size_t end)
{
    const to_neighbours *t = argument;
    const size_t elements = t->plan->elements, all = elements * t->channels;
    while (begin < end) {
        const size_t image = begin / elements * all, first = begin % elements;
        const size_t count = taper_min_size(end - begin, elements - first);
        t->plan->vector->transpose(t->channels, count, t->from + image + first, elements,
                                   t->to + image + first * t->channels, t->channels);
        begin += count;
    }
}

static taper_status multiply(taper_call *call, dense_plan *plan)
{
    taper_run *run = call->run;
    const taper_pack_request request = {.kind = plan->entry,
                                        .tensors = {plan->args->weight, plan->args->bias},
                                        .numbers = {plan->args->params.groups, -1},
                                        .bytes = plan->group_floats * plan->groups * sizeof(float),
                                        .fill = fill_weights,
                                        .user = plan,
                                        .layout = "small volumes",
                                        .kernel = plan->entry->name};
    taper_pack pack;
    TAPER_TRY(taper_pack_get(call, &request, &pack));
    const size_t batch = (size_t)plan->args->input->sizes[0], out_c = plan->groups * plan->group_out;
    plan->packed = pack.data;
    run->kernel = plan->entry->name;
    run->flops = 2.0 * (double)(batch * plan->positions * out_c) * (double)(plan->group_in * plan->taps);
    dense_run r = {.plan = plan, .pieces = batch * plan->pieces};
    taper_status status = TAPER_OK;
    if (!taper_places_open(run, PIECE_ROWS * out_c * sizeof(float), r.pieces, &r.places)) {
        status = taper_fail_memory(run->error);
    } else {
        status = taper_run_range(run, run_pieces, &r, r.pieces, 1, taper_gemm_work(plan->entry, run->flops, 0));
        taper_places_close(run, &r.places);
    }
    taper_pack_done(call, &pack);
    return status;
}

taper_status taper_conv_volume_dense(taper_call *call, const taper_conv_args *a)
{
    taper_run *run = call->run;
    const taper_tensor *w = a->weight, *x = a->input;
    dense_plan plan = {.args = a,
                       .entry = taper_gemm_f32_select(run->cpu),
                       .vector = taper_vector_f32_select(run->cpu),
                       .elements = (size_t)(x->sizes[2] * x->sizes[3] * x->sizes[4]),
                       .taps = (size_t)(w->sizes[2] * w->sizes[3] * w->sizes[4]),
                       .groups = (size_t)a->params.groups,
                       .group_in = (size_t)w->sizes[1],
                       .group_out = (size_t)(w->sizes[0] / a->params.groups),
                       .kernel = {w->sizes[2], w->sizes[3], w->sizes[4]}};
    taper_tensor *y;
    TAPER_TRY(taper_epilogue_make(call, a->clamped, a->min, a->max, a->out_rank, a->out_sizes, false, false, NULL,
                                  &plan.epilogue));
    plan.strip = taper_min_size(plan.entry->mr, POINTERS / plan.taps);
    plan.group_floats = taper_gemm_packed_count(plan.entry, plan.group_out, plan.taps, plan.group_in);
    const size_t channels = plan.groups * plan.group_in, count = (size_t)taper_tensor_numel(x);
    if (plan.group_floats == 0 || plan.group_floats > SIZE_MAX / sizeof(float) / plan.groups ||
        plan.groups * plan.group_out > SIZE_MAX / sizeof(float) / PIECE_ROWS) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, a->out_rank, a->out_sizes, NULL, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    plan.y = taper_tensor_mutable(y);
    // The number of positions cannot overflow, because y has that many elements.
    plan.positions = (size_t)(a->out_sizes[2] * a->out_sizes[3] * a->out_sizes[4]);
    plan.pieces = (plan.positions - 1) / PIECE_ROWS + 1;
    // After the input come an element of zeros, for taps in the padding, and the bytes that kernels may read past the
    // end.
    const size_t bytes = (count + channels) * sizeof(float) + TAPER_OVERREAD + plan.entry->over_read;
    float *turned = taper_heap_alloc(run->heap, bytes);
    if (turned == NULL) {
        return taper_fail_memory(run->error);
    }
    memset(turned + count, 0, bytes - count * sizeof(float));
    plan.x = turned;
    plan.zero = turned + count;
    to_neighbours t = {&plan, taper_tensor_data(x), turned, channels};
    taper_status status = taper_run_floats(run, bring_images, &t, count / channels, 4.0 * (double)channels);
    if (status == TAPER_OK) {
        status = multiply(call, &plan);
    }
    taper_heap_free(run->heap, turned, bytes);
    return status;
}
