// SPDX-License-Identifier: BSD-2-Clause
// What conv_volume.c works by: the taps along each axis, the phases of the result, how a piece of work is laid out.
#ifndef TAPER_CPU_CONV_VOLUME_PLAN_H
#define TAPER_CPU_CONV_VOLUME_PLAN_H

#include "backends/cpu/epilogue.h"
#include "ops/call/pack_request.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/conv.h"

enum {
    TAPER_DEPTH,
    TAPER_HEIGHT,
    TAPER_WIDTH,
    TAPER_AXES,
    TAPER_VOLUME_KERNEL = 128, // taps along an axis
    TAPER_VOLUME_STRIDE = 8    // phases of an axis
};

// A tap sees element (position * step + phase of the input) + steps * step.
typedef struct taper_axis_tap {
    size_t tap, result_phase, input_phase;
    int64_t steps;
} taper_axis_tap;

typedef struct taper_volume_axis {
    int64_t in, out;
    int64_t step;                                                 // of the input from one position to the next
    size_t phases;                                                // of the result
    int64_t positions;                                            // of the first phase, which has most
    int64_t least, most;                                          // steps of any tap
    bool used[TAPER_VOLUME_STRIDE];                               // phases of the input
    int64_t begin[TAPER_VOLUME_STRIDE], end[TAPER_VOLUME_STRIDE]; // what lies in the input, of a padded row of each
    size_t tap_count;
    taper_axis_tap taps[TAPER_VOLUME_KERNEL];
} taper_volume_axis;

typedef struct taper_result_phase {
    size_t taps;
    const size_t *offsets;
    size_t weights_at; // floats into a group's
} taper_result_phase;

typedef struct taper_volume_plan {
    const taper_conv_args *args;
    const taper_planar_entry *entry;
    const taper_vector_entry *vector;
    taper_epilogue epilogue;
    taper_volume_axis axis[TAPER_AXES];
    size_t batch, groups, group_in, group_out, group_floats;
    int64_t slab, rows;    // positions of a piece
    size_t slabs, bands;   // pieces of a group of an image
    size_t pitch, plane;   // floats of a row, and of a plane of one phase of the input
    size_t slice, channel; // of all phases, of all slices
    size_t y_plane, place_bytes;
    const taper_result_phase *phases; // [depth][height][width]
    const float *packed, *x;
    float *y;
    int64_t x_batch, x_channel, x_axis[TAPER_AXES];
    size_t y_slice, y_channel;
} taper_volume_plan;

// Of phase r of the result; the others have fewer at most by one.
static inline int64_t taper_volume_positions(const taper_volume_axis *axis, size_t r)
{
    return (axis->out - (int64_t)r + (int64_t)axis->phases - 1) / (int64_t)axis->phases;
}

// Fills the axis, whose `in` and `out` are there, for spatial dimension i of params.
void taper_volume_find_taps(taper_volume_axis *axis, const taper_conv_params *params, size_t i, int64_t kernel);
// Of the rows and slices of a piece, once the axes are known; false: more than fits anywhere.
bool taper_volume_lay_out(taper_volume_plan *plan);
// The phases, with their taps behind them, on the heap of the run; NULL: there is no memory.
taper_result_phase *taper_volume_make_phases(taper_volume_plan *plan, const taper_run *run, size_t *bytes);
// Of a pack whose user is the plan.
void taper_volume_fill_weights(const taper_pack_request *request, void *data);

#endif
