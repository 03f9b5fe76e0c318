// SPDX-License-Identifier: BSD-2-Clause
// Convolutions in up to three dimensions over planes (ops/kernels/planar_f32.h), also transposed ones. A transposed
// convolution with a stride is split into one convolution without a stride for each phase of the result, with the taps
// that reach this phase; all of them read the same input.
//
// A piece of work computes some rows in some slices (positions along the depth) of the result. The input of a piece is
// copied once, with padding, in every phase of an ordinary convolution's stride. Each phase of each result slice is
// computed from this copy. Taps that read only padding are omitted.
#include "backends/cpu/conv_volume.h"

#include "backends/cpu/conv_volume_plan.h"
#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/call/packs.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_features.h"

enum {
    MOST_REACH = 1 << 20, // bound of paddings and dilations; products of sizes then do not overflow
    MOST_INPUTS = 24,     // largest number of inputs per output of a transposed convolution that this file computes
    LEAST_WIDE = 6,
    FEW_CHANNELS = 8 // from this number of output channels on, conv_transposed.c is faster than this file
};

// ---- the input of a piece of work

// Copies one row. Padding beside the rows is zero from the start.
static void fill_row(const taper_volume_plan *plan, const float *x, size_t phase, float *to)
{
    enum { SHORT = 16 }; // number of floats up to which a loop is faster than memcpy
    const taper_volume_axis *axis = &plan->axis[TAPER_WIDTH];
    const int64_t begin = axis->begin[phase], count = axis->end[phase] - begin;
    const int64_t step = axis->step * plan->x_axis[TAPER_WIDTH];
    const float *from = x + ((axis->least + begin) * axis->step + (int64_t)phase) * plan->x_axis[TAPER_WIDTH];
    to += begin;
    if (step == 1 && count >= SHORT) {
        memcpy(to, from, (size_t)count * sizeof *to);
    } else if (step == 2) {
        plan->vector->every_second((size_t)count, from, to);
    } else {
        for (int64_t i = 0; i < count; i++) {
            to[i] = from[i * step];
        }
    }
}

static void fill_slice(const taper_volume_plan *plan, const float *x, int64_t first, size_t rows, float *to)
{
    const taper_volume_axis *tall = &plan->axis[TAPER_HEIGHT], *wide = &plan->axis[TAPER_WIDTH];
    for (size_t h = 0; h < (size_t)tall->step; h++) {
        for (size_t w = 0; w < (size_t)wide->step; w++, to += plan->plane) {
            for (size_t i = 0; tall->used[h] && wide->used[w] && i < rows; i++) {
                const int64_t row = (first + tall->least + (int64_t)i) * tall->step + (int64_t)h;
                if (row < 0 || row >= tall->in) {
                    memset(to + i * plan->pitch, 0, plan->pitch * sizeof *to);
                } else {
                    fill_row(plan, x + row * plan->x_axis[TAPER_HEIGHT], w, to + i * plan->pitch);
                }
            }
        }
    }
}

typedef struct piece {
    size_t image, group;
    int64_t first[2], end[2]; // range of the piece's positions along slices and along rows
} piece;

static void fill_input(const taper_volume_plan *plan, const piece *p, float *to)
{
    const taper_volume_axis *deep = &plan->axis[TAPER_DEPTH];
    const float *x =
        plan->x + (int64_t)p->image * plan->x_batch + (int64_t)(p->group * plan->group_in) * plan->x_channel;
    const int64_t first = (p->first[TAPER_DEPTH] + deep->least) * deep->step;
    const int64_t slices =
        (p->end[TAPER_DEPTH] - p->first[TAPER_DEPTH] - 1 + deep->most - deep->least + 1) * deep->step;
    const size_t rows = (size_t)(p->end[TAPER_HEIGHT] - p->first[TAPER_HEIGHT] + plan->axis[TAPER_HEIGHT].most -
                                 plan->axis[TAPER_HEIGHT].least);
    for (size_t c = 0; c < plan->group_in; c++) {
        for (int64_t s = 0; s < slices; s++) {
            float *slice = to + c * plan->channel + (size_t)s * plan->slice;
            const int64_t at = first + s;
            // No tap reads a slice of padding (taps_inside), so such slices are not filled.
            if (deep->used[s % deep->step] && at >= 0 && at < deep->in) {
                fill_slice(plan, x + (int64_t)c * plan->x_channel + at * plan->x_axis[TAPER_DEPTH],
                           p->first[TAPER_HEIGHT], rows, slice);
            }
        }
    }
}

// ---- computing and storing the result of a piece of work

// Copies output rows of one slice into the result.
static void store_rows(const taper_volume_plan *plan, const float *from, int64_t rows, int64_t count, size_t step_h,
                       float *to)
{
    const size_t step = plan->axis[TAPER_WIDTH].phases;
    for (int64_t i = 0; i < rows; i++, from += plan->pitch, to += step_h) {
        if (step == 1) {
            memcpy(to, from, (size_t)count * sizeof *to);
        } else if (step == 2) {
            for (int64_t k = 0; k < count; k++) {
                to[2 * k] = from[k];
            }
        } else {
            for (int64_t k = 0; k < count; k++) {
                to[k * (int64_t)step] = from[k];
            }
        }
    }
}

// Finds the taps of a phase that read a slice of the input, and omits the taps that read padding before or after the
// input.
static void taps_inside(const taper_volume_axis *axis, size_t of, int64_t position, const taper_result_phase *all,
                        size_t *first, size_t *taps)
{
    size_t own = 0, before = 0, inside = 0;
    for (size_t i = 0; i < axis->tap_count; i++) {
        const taper_axis_tap *tap = &axis->taps[i];
        if (tap->result_phase == of) {
            const int64_t at = (position + tap->steps) * axis->step + (int64_t)tap->input_phase;
            const bool is_inside = at >= 0 && at < axis->in;
            own++;
            before += !is_inside && inside == 0;
            inside += is_inside;
        }
    }
    const size_t each = own != 0 ? all->taps / own : 0;
    *first = inside != 0 ? before * each : 0;
    *taps = inside * each;
}

// Computes the results of one phase in one slice of the piece `p`.
static void make_slice(const taper_volume_plan *plan, const piece *p, const size_t at[TAPER_AXES], int64_t slice,
                       const float *x, float *made)
{
    const taper_volume_axis *axis = plan->axis;
    const taper_result_phase *now =
        &plan->phases[(at[TAPER_DEPTH] * axis[TAPER_HEIGHT].phases + at[TAPER_HEIGHT]) * axis[TAPER_WIDTH].phases +
                      at[TAPER_WIDTH]];
    const int64_t end =
        taper_min_i64(p->end[TAPER_HEIGHT], taper_volume_positions(&axis[TAPER_HEIGHT], at[TAPER_HEIGHT]));
    const int64_t rows = end - p->first[TAPER_HEIGHT],
                  wide = taper_volume_positions(&axis[TAPER_WIDTH], at[TAPER_WIDTH]);
    if (slice >= taper_volume_positions(&axis[TAPER_DEPTH], at[TAPER_DEPTH]) || rows <= 0 || wide <= 0) {
        return;
    }
    size_t first, taps;
    taps_inside(&axis[TAPER_DEPTH], at[TAPER_DEPTH], slice, now, &first, &taps);
    taper_planar run = {.inputs = plan->group_in,
                        .taps = taps,
                        .x = x + (size_t)((slice - p->first[TAPER_DEPTH]) * axis[TAPER_DEPTH].step) * plan->slice,
                        .x_plane = plan->channel,
                        .offsets = now->offsets + first,
                        .w_first = first,
                        .w_taps = now->taps,
                        .w = plan->packed + p->group * plan->group_floats + now->weights_at,
                        .y = made,
                        .y_plane = plan->y_plane,
                        .min = plan->epilogue.min,
                        .max = plan->epilogue.max};
    const size_t positions = (size_t)(rows - 1) * plan->pitch + (size_t)wide;
    const size_t y = (size_t)slice * axis[TAPER_DEPTH].phases + at[TAPER_DEPTH];
    const size_t y_row = (size_t)p->first[TAPER_HEIGHT] * axis[TAPER_HEIGHT].phases + at[TAPER_HEIGHT];
    float *to = plan->y + (p->image * plan->groups + p->group) * plan->group_out * plan->y_channel + y * plan->y_slice +
                y_row * (size_t)axis[TAPER_WIDTH].out + at[TAPER_WIDTH];
    for (size_t o = 0; o < plan->group_out; o += run.outputs) {
        run.outputs = taper_min_size(plan->entry->block, plan->group_out - o);
        plan->entry->run(&run, positions);
        run.w += run.outputs * (1 + plan->group_in * now->taps);
        for (size_t k = 0; k < run.outputs; k++) {
            taper_epilogue_finish(&plan->epilogue, 1, positions, made + k * plan->y_plane, positions);
            store_rows(plan, made + k * plan->y_plane, rows, wide,
                       axis[TAPER_HEIGHT].phases * (size_t)axis[TAPER_WIDTH].out, to + (o + k) * plan->y_channel);
        }
    }
}

typedef struct volume_run {
    const taper_volume_plan *plan;
    taper_places places;
    size_t pieces;
} volume_run;

static void run_pieces(void *argument, size_t begin, size_t end)
{
    const volume_run *r = argument;
    const taper_volume_plan *plan = r->plan;
    const taper_volume_axis *axis = plan->axis;
    float *x = taper_place_take(&r->places, begin, r->pieces);
    float *made = x + plan->group_in * plan->channel + plan->entry->lanes;
    memset(x, 0, plan->place_bytes); // the gaps between planes are read too, so they must be zero
    for (size_t i = begin; i < end; i++) {
        const int64_t row = (int64_t)(i % plan->bands) * plan->rows,
                      slice = (int64_t)(i / plan->bands % plan->slabs) * plan->slab;
        const size_t above = i / plan->bands / plan->slabs;
        const piece p = {above / plan->groups,
                         above % plan->groups,
                         {slice, row},
                         {taper_min_i64(slice + plan->slab, axis[TAPER_DEPTH].positions),
                          taper_min_i64(row + plan->rows, axis[TAPER_HEIGHT].positions)}};
        fill_input(plan, &p, x);
        for (int64_t s = p.first[TAPER_DEPTH]; s < p.end[TAPER_DEPTH]; s++) {
            size_t at[TAPER_AXES];
            for (at[TAPER_DEPTH] = 0; at[TAPER_DEPTH] < axis[TAPER_DEPTH].phases; at[TAPER_DEPTH]++) {
                for (at[TAPER_HEIGHT] = 0; at[TAPER_HEIGHT] < axis[TAPER_HEIGHT].phases; at[TAPER_HEIGHT]++) {
                    for (at[TAPER_WIDTH] = 0; at[TAPER_WIDTH] < axis[TAPER_WIDTH].phases; at[TAPER_WIDTH]++) {
                        make_slice(plan, &p, at, s, x, made);
                    }
                }
            }
        }
    }
    taper_place_leave(x);
}

static bool plain(const taper_tensor *t, size_t count)
{
    return t == NULL || (t->dtype == TAPER_F32 && t->rank == 1 && (size_t)t->sizes[0] == count &&
                         (count == 1 || t->strides[0] == 1));
}

static bool sizes_fit(const taper_conv_args *a)
{
    for (size_t i = 0; i < a->params.rank; i++) {
        // Within these bounds, products of sizes do not overflow. The tensors' own sizes need no check, because all
        // tensors have bounded sizes.
        if (a->weight->sizes[2 + i] > TAPER_VOLUME_KERNEL || a->params.stride[i] > TAPER_VOLUME_STRIDE ||
            a->params.dilation[i] > MOST_REACH || a->params.padding[i] > MOST_REACH ||
            a->params.padding[i] < -MOST_REACH) {
            return false;
        }
    }
    return true;
}

bool taper_conv_volume_does(const taper_call *call, const taper_conv_args *a)
{
    const taper_conv_params *params = &a->params;
    const int64_t group_out = params->transposed ? a->weight->sizes[1] : a->weight->sizes[0] / params->groups;
    const int64_t group_in = params->transposed ? a->weight->sizes[0] / params->groups : a->weight->sizes[1];
    // For many inputs and few outputs, a matrix product that reads the input in place is faster than planes.
    const bool few = params->transposed && group_out < FEW_CHANNELS && group_in <= MOST_INPUTS * group_out &&
                     a->input->sizes[a->input->rank - 1] >= LEAST_WIDE;
    return (params->rank == 3 ? !taper_conv_is_pixels(a) : few) && (group_in > 1 || group_out > 1) &&
           (!params->transposed || TAPER_CONVOLVES_TRANSPOSED) && !call->run->portable &&
           taper_fusion_of(call) == NULL && a->input->dtype == TAPER_F32 && a->weight->dtype == TAPER_F32 &&
           !a->unbatched && !a->out_channels_last && plain(a->bias, (size_t)a->out_sizes[1]) &&
           taper_ret_target(call, 0) == NULL && taper_tensor_numel(a->input) > 0 && taper_tensor_numel(a->weight) > 0 &&
           sizes_fit(a);
}

static taper_status run_plan(taper_call *call, taper_volume_plan *plan)
{
    taper_run *run = call->run;
    const taper_volume_axis *axis = plan->axis;
    taper_pack_request request = {.kind = plan->entry,
                                  .tensors = {plan->args->weight, plan->args->bias},
                                  .bytes = plan->group_floats * plan->groups * sizeof(float),
                                  .fill = taper_volume_fill_weights,
                                  .user = plan,
                                  .layout = "convolution of volumes",
                                  .kernel = plan->entry->name};
    // The key of the packed weights contains all that determines the taps and their phases.
    request.numbers[0] = (int64_t)plan->groups;
    request.numbers[1] = plan->args->params.transposed;
    for (size_t i = 0; i < TAPER_AXES; i++) {
        uint64_t hash = axis[i].phases;
        for (size_t k = 0; k < axis[i].tap_count; k++) {
            hash = hash * 1099511628211U + axis[i].taps[k].tap * TAPER_VOLUME_STRIDE + axis[i].taps[k].result_phase + 1;
        }
        request.numbers[2 + i] = (int64_t)(hash >> 1);
        request.numbers[5 + i] = (int64_t)axis[i].tap_count;
    }
    taper_pack pack;
    TAPER_TRY(taper_pack_get(call, &request, &pack));
    plan->packed = pack.data;
    const size_t taps = axis[TAPER_DEPTH].tap_count * axis[TAPER_HEIGHT].tap_count * axis[TAPER_WIDTH].tap_count;
    volume_run r = {.plan = plan, .pieces = plan->batch * plan->groups * plan->slabs * plan->bands};
    double products = (double)taps * (double)(plan->group_in * plan->group_out) * (double)(plan->groups * plan->batch);
    for (size_t i = 0; i < TAPER_AXES; i++) {
        products *= (double)axis[i].positions;
    }
    run->kernel = plan->entry->name;
    run->flops = 2 * products;
    taper_status status = TAPER_OK;
    if (!taper_places_open(run, plan->place_bytes, r.pieces, &r.places)) {
        status = taper_fail_memory(run->error);
    } else {
        status = taper_run_range(run, run_pieces, &r, r.pieces, 1, products / (2.0 * plan->entry->lanes));
        taper_places_close(run, &r.places);
    }
    taper_pack_done(call, &pack);
    return status;
}

// Runs the convolution into y, which exists already. x may have any strides.
static taper_status run_tensors(taper_call *call, const taper_conv_args *a, const taper_tensor *x, taper_tensor *y)
{
    const taper_conv_params *params = &a->params;
    taper_volume_plan plan = {.args = a,
                              .entry = taper_planar_f32_select(call->run->cpu),
                              .vector = taper_vector_f32_select(call->run->cpu),
                              .batch = (size_t)x->sizes[0],
                              .groups = (size_t)params->groups,
                              .group_in = (size_t)(x->sizes[1] / params->groups),
                              .group_out = (size_t)(a->out_sizes[1] / params->groups),
                              .x = taper_tensor_data(x),
                              .y = taper_tensor_mutable(y),
                              .x_batch = x->strides[0],
                              .x_channel = x->strides[1]};
    TAPER_TRY(taper_epilogue_make(call, a->clamped, a->min, a->max, a->out_rank, a->out_sizes, false, false, NULL,
                                  &plan.epilogue));
    plan.y_channel = 1;
    for (size_t i = 0; i < TAPER_AXES; i++) {
        taper_volume_axis *axis = &plan.axis[i];
        const bool there = i + params->rank >= TAPER_AXES;
        const size_t from = there ? i + params->rank - TAPER_AXES : 0;
        const taper_conv_params none = {.stride = {1}, .dilation = {1}};
        axis->in = there ? x->sizes[2 + from] : 1;
        axis->out = there ? a->out_sizes[2 + from] : 1;
        plan.x_axis[i] = there ? x->strides[2 + from] : 0;
        taper_volume_find_taps(axis, there ? params : &none, from, there ? a->weight->sizes[2 + from] : 1);
        plan.y_channel *= (size_t)axis->out;
        plan.y_slice = i == TAPER_DEPTH ? 1 : plan.y_slice * (size_t)axis->out;
    }
    const size_t taps =
        plan.axis[TAPER_DEPTH].tap_count * plan.axis[TAPER_HEIGHT].tap_count * plan.axis[TAPER_WIDTH].tap_count;
    size_t bytes;
    if (taps > TAPER_PLANAR_TAPS * TAPER_VOLUME_STRIDE || !taper_volume_lay_out(&plan)) {
        return TAPER_DECLINED;
    }
    taper_result_phase *phases = taper_volume_make_phases(&plan, call->run, &bytes);
    if (phases == NULL) {
        return taper_fail_memory(call->run->error);
    }
    const taper_status status = run_plan(call, &plan);
    taper_heap_free(call->run->heap, phases, bytes);
    return status;
}

taper_status taper_conv_volume(taper_call *call, const taper_conv_args *args)
{
    taper_tensor *x = taper_tensor_keep(args->input), *y;
    taper_status status = TAPER_OK;
    // Rows are copied by memcpy, which needs stride 1 along a row.
    if (x->rank >= 3 && x->strides[x->rank - 1] != 1 && x->sizes[x->rank - 1] != 1) {
        taper_tensor_drop(x);
        x = NULL;
        TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_F32, args->input->rank, args->input->sizes, NULL, &x,
                                   call->run->error));
        status = taper_tensor_move(call->run, x, args->input);
    }
    if (status == TAPER_OK) {
        status = taper_ret_new(call, 0, TAPER_F32, args->out_rank, args->out_sizes, NULL, &y);
    }
    if (status == TAPER_OK && taper_tensor_numel(y) != 0) {
        status = run_tensors(call, args, x, y);
    }
    taper_tensor_drop(x);
    return status;
}
