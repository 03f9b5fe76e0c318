// SPDX-License-Identifier: BSD-2-Clause
// The plan of conv_volume.c: the taps along each axis, the phases of the result, and the layout of a piece of work. A
// phase of the input is every stride-th element along an axis. A phase of the result of a transposed convolution is
// every stride-th element of the result.
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
    TAPER_VOLUME_KERNEL = 128, // largest number of taps along an axis
    TAPER_VOLUME_STRIDE = 8    // largest number of phases in an axis
};

// A tap of the kernel along an axis. For an output position it reads input element (position + steps) * step +
// input_phase, where the second `step` is that of taper_volume_axis.
typedef struct taper_axis_tap {
    size_t tap, result_phase, input_phase;
    int64_t steps;
} taper_axis_tap;

typedef struct taper_volume_axis {
    int64_t in, out;
    int64_t step; // distance in the input, in elements, from one output position to the next
    // number of phases: the stride of a transposed convolution, otherwise 1. The output positions of a phase use the
    // same taps
    size_t phases;
    int64_t positions;              // number of positions of the first phase, which is the longest one
    int64_t least, most;            // smallest and largest `steps` of all taps
    bool used[TAPER_VOLUME_STRIDE]; // true for each phase of the input that a tap reads
    // For each phase of the input, the range of a padded row that is inside the input.
    int64_t begin[TAPER_VOLUME_STRIDE], end[TAPER_VOLUME_STRIDE];
    size_t tap_count;
    taper_axis_tap taps[TAPER_VOLUME_KERNEL];
} taper_volume_axis;

typedef struct taper_result_phase {
    size_t taps;
    const size_t *offsets;
    size_t weights_at; // index of the phase's first float among the weights of a group
} taper_result_phase;

typedef struct taper_volume_plan {
    const taper_conv_args *args;
    const taper_planar_entry *entry;
    const taper_vector_entry *vector;
    taper_epilogue epilogue;
    taper_volume_axis axis[TAPER_AXES];
    size_t batch, groups, group_in, group_out, group_floats;
    // number of slices (positions along the depth) in a piece of work; number of rows in a piece of work
    int64_t slab, rows;
    size_t slabs, bands;   // number of pieces along the slices, and along the rows, for one group and one image
    size_t pitch, plane;   // number of floats in a row, and in the plane of one input phase
    size_t slice, channel; // number of floats in a slice, with all phases; and in a channel, with all slices
    size_t y_plane, place_bytes;
    const taper_result_phase *phases; // phases of the result, [depth][height][width]
    const float *packed, *x;
    float *y;
    int64_t x_batch, x_channel, x_axis[TAPER_AXES];
    size_t y_slice, y_channel;
} taper_volume_plan;

// Returns the number of positions along the axis in phase r of the result. The numbers of two phases differ by at most
// one.
static inline int64_t taper_volume_positions(const taper_volume_axis *axis, size_t r)
{
    return (axis->out - (int64_t)r + (int64_t)axis->phases - 1) / (int64_t)axis->phases;
}

// Fills the axis for spatial dimension `i` of `params`. The caller has set `in` and `out`.
void taper_volume_find_taps(taper_volume_axis *axis, const taper_conv_params *params, size_t i, int64_t kernel);
// Chooses the number of rows and slices of a piece. The axes must be complete. Returns false if a piece would be too
// large.
bool taper_volume_lay_out(taper_volume_plan *plan);
// Makes the phases and their taps in one block on the heap of the run. Returns NULL if memory is missing.
taper_result_phase *taper_volume_make_phases(taper_volume_plan *plan, const taper_run *run, size_t *bytes);
// Fills a pack of weights. request->user is the plan.
void taper_volume_fill_weights(const taper_pack_request *request, void *data);

#endif
