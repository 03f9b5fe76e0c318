// SPDX-License-Identifier: BSD-2-Clause
// Computes the taps along each axis, the phases of the result with their weights, and the size of a piece of work.
#include "backends/cpu/conv_volume_plan.h"

#include "base/checked.h"
#include "ops/call/call.h"

enum {
    LAID_OUT = 48 * 1024, // approximate number of floats of a piece's input
    MOST_FLOATS = 1 << 24,
    LEAST_ROWS = 4 // smallest number of rows in a piece, if the result has that many
};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

void taper_volume_find_taps(taper_volume_axis *axis, const taper_conv_params *params, size_t i, int64_t kernel)
{
    const int64_t stride = params->stride[i], dilation = params->dilation[i], pad = params->padding[i];
    axis->step = params->transposed ? 1 : stride;
    axis->phases = params->transposed ? (size_t)stride : 1;
    axis->positions = taper_volume_positions(axis, 0);
    axis->least = INT64_MAX;
    axis->most = INT64_MIN;
    for (size_t r = 0; r < axis->phases; r++) {
        for (int64_t k = 0; k < kernel; k++) {
            const int64_t reach = (int64_t)r + pad - k * dilation;
            if (params->transposed && floor_div(reach, stride) * stride != reach) {
                continue;
            }
            const int64_t off = params->transposed ? reach / stride : k * dilation - pad;
            const int64_t last = (taper_volume_positions(axis, r) - 1) * axis->step + off;
            const int64_t first = off >= 0 ? off : off + (axis->step - 1 - off) / axis->step * axis->step;
            if (first >= axis->in || last < first) { // true for a tap that reads only padding
                continue;
            }
            const int64_t steps = floor_div(off, axis->step);
            const taper_axis_tap tap = {(size_t)k, r, (size_t)(off - steps * axis->step), steps};
            axis->taps[axis->tap_count++] = tap;
            axis->used[tap.input_phase] = true;
            axis->least = taper_min_i64(axis->least, steps);
            axis->most = taper_max_i64(axis->most, steps);
        }
    }
    if (axis->tap_count == 0) {
        axis->least = axis->most = 0;
    }
    const int64_t length = axis->positions + axis->most - axis->least;
    for (int64_t b = 0; b < axis->step; b++) {
        const int64_t start = axis->least * axis->step + b, left = axis->in - start;
        axis->begin[b] = taper_min_i64(start >= 0 ? 0 : (axis->step - 1 - start) / axis->step, length);
        axis->end[b] = taper_min_i64(left > 0 ? (left - 1) / axis->step + 1 : 0, length);
        axis->end[b] = taper_max_i64(axis->end[b], axis->begin[b]);
    }
}

// ---- phases and weights

// A function that is called for each tap of a phase, in the order of the weights.
typedef void tap_function(void *argument, const taper_axis_tap *d, const taper_axis_tap *h, const taper_axis_tap *w);

static void each_tap(const taper_volume_axis *axis, const size_t at[TAPER_AXES], tap_function *each, void *argument)
{
    for (size_t d = 0; d < axis[TAPER_DEPTH].tap_count; d++) {
        for (size_t h = 0;
             h < axis[TAPER_HEIGHT].tap_count && axis[TAPER_DEPTH].taps[d].result_phase == at[TAPER_DEPTH]; h++) {
            for (size_t w = 0;
                 w < axis[TAPER_WIDTH].tap_count && axis[TAPER_HEIGHT].taps[h].result_phase == at[TAPER_HEIGHT]; w++) {
                if (axis[TAPER_WIDTH].taps[w].result_phase == at[TAPER_WIDTH]) {
                    each(argument, &axis[TAPER_DEPTH].taps[d], &axis[TAPER_HEIGHT].taps[h], &axis[TAPER_WIDTH].taps[w]);
                }
            }
        }
    }
}

typedef struct offsets_of {
    const taper_volume_plan *plan;
    size_t *next;
} offsets_of;

static void add_offset(void *argument, const taper_axis_tap *d, const taper_axis_tap *h, const taper_axis_tap *w)
{
    offsets_of *to = argument;
    const taper_volume_plan *plan = to->plan;
    const taper_volume_axis *axis = plan->axis;
    *to->next++ =
        ((size_t)((d->steps - axis[TAPER_DEPTH].least) * axis[TAPER_DEPTH].step) + d->input_phase) * plan->slice +
        (h->input_phase * (size_t)axis[TAPER_WIDTH].step + w->input_phase) * plan->plane +
        (size_t)(h->steps - axis[TAPER_HEIGHT].least) * plan->pitch + (size_t)(w->steps - axis[TAPER_WIDTH].least);
}

// Makes the phases and their taps in one block of memory.
taper_result_phase *taper_volume_make_phases(taper_volume_plan *plan, const taper_run *run, size_t *bytes)
{
    const taper_volume_axis *axis = plan->axis;
    const size_t count = axis[TAPER_DEPTH].phases * axis[TAPER_HEIGHT].phases * axis[TAPER_WIDTH].phases;
    const size_t taps = axis[TAPER_DEPTH].tap_count * axis[TAPER_HEIGHT].tap_count * axis[TAPER_WIDTH].tap_count;
    *bytes = count * sizeof(taper_result_phase) +
             taps * sizeof(size_t); // *bytes cannot overflow: at most 8^3 phases and 128^3 taps
    taper_result_phase *phases = taper_heap_alloc(run->heap, *bytes);
    if (phases == NULL) {
        return NULL;
    }
    offsets_of to = {plan, (size_t *)(void *)(phases + count)};
    size_t at[TAPER_AXES], i = 0, weights = 0;
    for (at[TAPER_DEPTH] = 0; at[TAPER_DEPTH] < axis[TAPER_DEPTH].phases; at[TAPER_DEPTH]++) {
        for (at[TAPER_HEIGHT] = 0; at[TAPER_HEIGHT] < axis[TAPER_HEIGHT].phases; at[TAPER_HEIGHT]++) {
            for (at[TAPER_WIDTH] = 0; at[TAPER_WIDTH] < axis[TAPER_WIDTH].phases; at[TAPER_WIDTH]++, i++) {
                size_t *first = to.next;
                each_tap(axis, at, add_offset, &to);
                phases[i] = (taper_result_phase){(size_t)(to.next - first), first, weights};
                weights += plan->group_out * (1 + plan->group_in * phases[i].taps);
            }
        }
    }
    plan->group_floats = weights;
    plan->phases = phases;
    return phases;
}

typedef struct weights_of {
    const taper_tensor *weight;
    size_t rank;
    const float *from; // weight for the first output and the first input of a block
    size_t outputs, out_step;
    float *to;
} weights_of;

static void add_weights(void *argument, const taper_axis_tap *d, const taper_axis_tap *h, const taper_axis_tap *w)
{
    weights_of *to = argument;
    const size_t taps[TAPER_AXES] = {d->tap, h->tap, w->tap};
    const float *from = to->from;
    for (size_t i = 0; i < to->rank; i++) {
        from += taps[TAPER_AXES - to->rank + i] * (size_t)to->weight->strides[2 + i];
    }
    for (size_t o = 0; o < to->outputs; o++) {
        *to->to++ = from[o * to->out_step];
    }
}

void taper_volume_fill_weights(const taper_pack_request *request, void *data)
{
    const taper_volume_plan *plan = request->user;
    const taper_conv_args *a = plan->args;
    const taper_volume_axis *axis = plan->axis;
    const float *bias = a->bias != NULL ? taper_tensor_data(a->bias) : NULL;
    const bool transposed = a->params.transposed;
    // The weights of a transposed convolution have the inputs of all groups as first dimension, and the outputs of one
    // group as second dimension.
    const size_t out_step = (size_t)a->weight->strides[transposed ? 1 : 0];
    const size_t in_step = (size_t)a->weight->strides[transposed ? 0 : 1];
    weights_of to = {.weight = a->weight, .rank = a->params.rank, .out_step = out_step, .to = data};
    size_t at[TAPER_AXES];
    for (size_t g = 0; g < plan->groups; g++) {
        const float *own = (const float *)taper_tensor_data(a->weight) +
                           g * (transposed ? plan->group_in * in_step : plan->group_out * out_step);
        for (at[TAPER_DEPTH] = 0; at[TAPER_DEPTH] < axis[TAPER_DEPTH].phases; at[TAPER_DEPTH]++) {
            for (at[TAPER_HEIGHT] = 0; at[TAPER_HEIGHT] < axis[TAPER_HEIGHT].phases; at[TAPER_HEIGHT]++) {
                for (at[TAPER_WIDTH] = 0; at[TAPER_WIDTH] < axis[TAPER_WIDTH].phases; at[TAPER_WIDTH]++) {
                    for (size_t o = 0; o < plan->group_out; o += to.outputs) {
                        to.outputs = taper_min_size(plan->entry->block, plan->group_out - o);
                        for (size_t k = 0; k < to.outputs; k++) {
                            *to.to++ = bias != NULL ? bias[g * plan->group_out + o + k] : 0.0f;
                        }
                        for (size_t c = 0; c < plan->group_in; c++) {
                            to.from = own + o * out_step + c * in_step;
                            each_tap(axis, at, add_weights, &to);
                        }
                    }
                }
            }
        }
    }
}

// ---- pieces of work

bool taper_volume_lay_out(taper_volume_plan *plan)
{
    taper_volume_axis *deep = &plan->axis[TAPER_DEPTH], *tall = &plan->axis[TAPER_HEIGHT],
                      *wide = &plan->axis[TAPER_WIDTH];
    const double phases = (double)(deep->step * tall->step * wide->step);
    const int64_t reach_d = deep->most - deep->least, reach_h = tall->most - tall->least;
    const int64_t length = wide->positions + wide->most - wide->least;
    // Without a stride, the padding at the end of a row is also the padding before the next row.
    const int64_t shared = taper_min_i64(taper_min_i64(wide->begin[0], length - wide->end[0]), plan->entry->lanes);
    const double pitch = (double)(length - (wide->step == 1 ? shared : 0));
    const double row = (double)plan->group_in * phases * pitch;
    const double fit = LAID_OUT / (row * (double)(reach_d + 1)) - (double)reach_h;
    const int64_t least = taper_min_i64(LEAST_ROWS, tall->positions);
    plan->rows = fit >= (double)tall->positions ? tall->positions : fit > (double)least ? (int64_t)fit : least;
    plan->bands = (size_t)((tall->positions - 1) / plan->rows + 1);
    plan->rows = (tall->positions - 1) / (int64_t)plan->bands + 1;
    const double plane = (double)(plan->rows + reach_h) * pitch + plan->entry->lanes;
    const double slabs = LAID_OUT / (plane * (double)plan->group_in * phases) - (double)reach_d;
    plan->slab = slabs >= (double)deep->positions ? deep->positions : slabs > 1 ? (int64_t)slabs : 1;
    plan->slabs = (size_t)((deep->positions - 1) / plan->slab + 1);
    const double floats = plane * (double)plan->group_in * phases * (double)(plan->slab + reach_d) +
                          (double)plan->entry->block * (double)plan->rows * pitch + 2 * plan->entry->lanes;
    if (floats > MOST_FLOATS) {
        return false;
    }
    plan->pitch = (size_t)pitch;
    plan->plane = (size_t)plane;
    plan->slice = plan->plane * (size_t)(tall->step * wide->step);
    plan->channel = plan->slice * (size_t)((plan->slab + reach_d) * deep->step);
    plan->y_plane = (size_t)plan->rows * plan->pitch;
    plan->place_bytes = (size_t)floats * sizeof(float);
    return true;
}
