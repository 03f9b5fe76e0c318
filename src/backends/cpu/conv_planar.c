// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of few channels, or of groups of few channels, over planes (ops/kernels/planar_f32.h). A piece of work
// computes some groups of channels in a band of rows. It copies the input rows of the groups into padded planes,
// computes the outputs of each group as planes, and copies the outputs into NHWC. All of this stays in the cache.
#include <math.h>
#include <stdint.h>

#include "backends/cpu/conv_cpu.h"

enum {
    MOST_TAPS = TAPER_PLANAR_TAPS,
    MOST_PLANES = 1024, // largest number of input planes in a group, in all phases of the stride
    // largest padding that the end of a row shares with the next row; fewer pixels than kernels may read after a plane
    MOST_SHARED = 32,
    BUNCH_CHANNELS = 16,    // number of channels of a piece of work; they fill whole cache lines
    BAND_FLOATS = 24 * 1024 // approximate number of floats of the planes of a piece of work
};

typedef struct planar_plan {
    taper_conv2d_plan head;
    const taper_planar_entry *entry;
    const taper_vector_entry *vector;
    // Numbers of input and output channels of a group; number of floats of a group's packed weights.
    size_t group_in, group_out, group_floats;
    size_t bunch, bunches; // number of groups of a piece of work; number of pieces for all groups
    size_t rows, bands;    // output rows of a band; number of bands
    // Number of floats of a row; number of rows of a plane; number of floats of a plane, including floats after it that
    // kernels may read.
    size_t pitch, plane_rows, plane;
    size_t y_plane, place_bytes;
    size_t taps, offsets[MOST_TAPS];
} planar_plan;

typedef struct planar_run {
    const planar_plan *plan;
    taper_places places;
} planar_run;

// ---- input planes

// Copies a row of some channels into the planes, separately for each phase of the stride along the row (every stride-th
// pixel). `row` is the number of the row in the padded image. Padding beside the image is zero from the start.
static void fill_row(const planar_plan *plan, size_t image, size_t channel, size_t channels, int64_t row, float *to)
{
    const taper_conv2d *job = plan->head.job;
    const taper_tensor *input = job->args.input;
    const size_t phases = job->stride_h * job->stride_w, x_plane = phases * plan->plane;
    const int64_t y = row - job->pad_top;
    const bool inside = y >= 0 && y < (int64_t)job->in_h, nhwc = taper_tensor_is_channels_last(input);
    const float *x = taper_tensor_data(input);
    for (size_t phase = 0; phase < job->stride_w; phase++, to += plan->plane) {
        // The pixels [begin, end) of this phase are inside the image.
        const int64_t before = job->pad_left - (int64_t)phase, step = (int64_t)job->stride_w;
        const size_t begin = taper_min_size(before > 0 ? (size_t)((before + step - 1) / step) : 0, plan->pitch);
        // left: number of pixels in the padded row from the phase's first pixel to the end of the image. all: number of
        // these pixels that belong to the phase.
        const int64_t left = (int64_t)job->in_w + before;
        const size_t all = left > 0 ? (size_t)((left + step - 1) / step) : 0;
        const size_t end = taper_min_size(all, plan->pitch);
        const size_t first = (size_t)((int64_t)(begin * job->stride_w) - before);
        if (begin >= end) {
            continue;
        }
        if (!inside) {
            for (size_t c = 0; c < channels; c++) {
                memset(to + c * x_plane + begin, 0, (end - begin) * sizeof *to);
            }
            continue;
        }
        if (nhwc) {
            const float *from = x + ((image * job->in_h + (size_t)y) * job->in_w + first) * job->in_c + channel;
            plan->vector->transpose(end - begin, channels, from, job->stride_w * job->in_c, to + begin, x_plane);
            continue;
        }
        for (size_t c = 0; c < channels; c++) {
            const float *from = x + ((image * job->in_c + channel + c) * job->in_h + (size_t)y) * job->in_w + first;
            float *line = to + c * x_plane;
            if (job->stride_w == 1) {
                memcpy(line + begin, from, (end - begin) * sizeof *from);
                continue;
            }
            if (job->stride_w == 2) {
                plan->vector->every_second(end - begin, from, line + begin);
                continue;
            }
            for (size_t i = begin; i < end; i++, from += job->stride_w) {
                line[i] = *from;
            }
        }
    }
}

static void fill_planes(const planar_plan *plan, size_t image, size_t channel, size_t channels, size_t first,
                        size_t rows, float *to)
{
    const taper_conv2d *job = plan->head.job;
    for (size_t phase = 0; phase < job->stride_h; phase++, to += job->stride_w * plan->plane) {
        for (size_t i = 0; i < rows; i++) {
            fill_row(plan, image, channel, channels, (int64_t)((first + i) * job->stride_h + phase),
                     to + i * plan->pitch);
        }
        // Clears the padding after the last row, and the floats after the padding that kernels may read.
        for (size_t i = 0; i < channels * job->stride_w; i++) {
            const size_t plane = i / job->stride_w * job->stride_h * job->stride_w + i % job->stride_w;
            memset(to + plane * plan->plane + rows * plan->pitch, 0, TAPER_PLANAR_SLACK * sizeof *to);
        }
    }
}

// ---- computing the output and copying it into the result

static void make_group(const planar_plan *plan, size_t group, size_t positions, const float *x, float *y)
{
    const taper_conv2d *job = plan->head.job;
    const float *w = plan->head.packed + group * plan->group_floats;
    taper_planar p = {.inputs = plan->group_in,
                      .taps = plan->taps,
                      .x = x,
                      .x_plane = job->stride_h * job->stride_w * plan->plane,
                      .offsets = plan->offsets,
                      .y_plane = plan->y_plane,
                      .min = job->epilogue.min,
                      .max = job->epilogue.max};
    for (size_t o = 0; o < plan->group_out; o += p.outputs) {
        p.outputs = taper_min_size(plan->entry->block, plan->group_out - o);
        p.w = w;
        p.y = y + o * plan->y_plane;
        plan->entry->run(&p, positions);
        w += p.outputs * (1 + plan->group_in * plan->taps);
    }
}

static void run_pieces(void *argument, size_t begin, size_t end)
{
    const planar_run *r = argument;
    const planar_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t phases = job->stride_h * job->stride_w;
    float *x = taper_place_take(&r->places, begin, job->batch * plan->bunches * plan->bands);
    const size_t x_floats = plan->bunch * plan->group_in * phases * plan->plane;
    float *y = x + x_floats;
    memset(x, 0, x_floats * sizeof *x);
    for (size_t piece = begin; piece < end; piece++) {
        const size_t first = piece % plan->bands * plan->rows, rows = taper_min_size(plan->rows, job->out_h - first);
        const size_t group = piece / plan->bands % plan->bunches * plan->bunch;
        const size_t groups = taper_min_size(plan->bunch, job->groups - group);
        const size_t image = piece / plan->bands / plan->bunches;
        const size_t channels = groups * plan->group_out, channel = group * plan->group_out;
        fill_planes(plan, image, group * plan->group_in, groups * plan->group_in, first,
                    rows + plan->plane_rows - plan->rows, x);
        for (size_t g = 0; g < groups; g++) {
            make_group(plan, group + g, (rows - 1) * plan->pitch + job->out_w,
                       x + g * plan->group_in * phases * plan->plane, y + g * plan->group_out * plan->y_plane);
        }
        float *to = job->y + ((image * job->out_h + first) * job->out_w) * job->out_c + channel;
        for (size_t i = 0; i < rows; i++, to += job->out_w * job->out_c) {
            taper_epilogue_finish(&job->epilogue, channels, job->out_w, y + i * plan->pitch, plan->y_plane);
            plan->vector->transpose(channels, job->out_w, y + i * plan->pitch, plan->y_plane, to, job->out_c);
        }
    }
    taper_place_leave(x);
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const planar_plan *plan = (const planar_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    const size_t pieces = head->job->batch * plan->bunches * plan->bands;
    planar_run r = {.plan = plan};
    if (!taper_places_open(run, plan->place_bytes, pieces, &r.places)) {
        return taper_fail_memory(run->error);
    }
    const taper_status status = taper_run_range(run, run_pieces, &r, pieces, 1, head->work);
    taper_places_close(run, &r.places);
    return status;
}

// ---- packing of weights, and the plan

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const taper_planar_entry *entry = request->kind;
    const taper_tensor *t = job->args.weight;
    const size_t group_in = job->in_c / job->groups, group_out = job->out_c / job->groups;
    const size_t taps = job->kernel_h * job->kernel_w;
    const size_t tap_stride = (size_t)(job->kernel_w > 1 ? t->strides[3] : t->strides[2]);
    taper_conv2d_fold(job);
    const float *bias = taper_conv2d_bias(job);
    float *w = data;
    for (size_t n = 0; n < job->out_c;) {
        const size_t outputs = taper_min_size(entry->block, group_out - n % group_out);
        for (size_t o = 0; o < outputs; o++) {
            *w++ = bias != NULL ? bias[n + o] : 0.0f;
        }
        const float *from = (const float *)taper_tensor_data(t) + n * (size_t)t->strides[0];
        for (size_t i = 0; i < group_in * taps; i++) {
            for (size_t o = 0; o < outputs; o++) {
                *w++ = from[o * (size_t)t->strides[0] + i / taps * (size_t)t->strides[1] + i % taps * tap_stride] *
                       (job->scale != NULL ? job->scale[n + o] : 1.0f);
            }
        }
        n += outputs;
    }
}

bool taper_conv2d_planar_pack(taper_conv2d *job, const taper_planar_entry *entry, size_t *group_floats,
                              taper_pack_request *request)
{
    const size_t weights = 1 + job->in_c / job->groups * job->kernel_h * job->kernel_w;
    *group_floats = job->out_c / job->groups * weights;
    taper_conv2d_pack_key(job, entry, request);
    request->layout = "convolution of planes";
    request->kernel = entry->name;
    request->numbers[3] = 2; // marks this layout of weights in the key, because other algorithms have other layouts
    request->bytes = *group_floats * job->groups * sizeof(float);
    request->fill = fill_weights;
    return *group_floats <= SIZE_MAX / sizeof(float) / job->groups;
}

// Returns the distance of rows in a plane, in pixels. Without a stride, the padding at the end of a row is also the
// padding before the next row.
static size_t pitch_of(const taper_conv2d *job)
{
    const size_t reach = (job->kernel_w - 1) * job->dilation_w;
    if (job->stride_w != 1) {
        return job->out_w + reach / job->stride_w;
    }
    const int64_t behind = (int64_t)(job->out_w + reach) - job->pad_left - (int64_t)job->in_w;
    const int64_t shared = taper_min_i64(taper_min_i64(behind, job->pad_left), MOST_SHARED);
    return job->out_w + reach - taper_min_size(shared > 0 ? (size_t)shared : 0, reach);
}

// Returns false if the planes would consist mostly of padding.
static bool planes_are_small(const taper_conv2d *job)
{
    const double rows = (double)(job->out_h + (job->kernel_h - 1) * job->dilation_h / job->stride_h);
    const double pixels = (double)job->in_h * (double)job->in_w + (double)job->out_h * (double)job->out_w;
    return rows * (double)pitch_of(job) * (double)(job->stride_h * job->stride_w) <= 4 * pixels + 4096;
}

bool taper_conv2d_is_planar(const taper_conv2d *job)
{
    const taper_tensor *x = job->args.input;
    const size_t taps = job->kernel_h * job->kernel_w, group_in = job->in_c / job->groups;
    return taps > 1 && job->kernel_h <= MOST_TAPS && job->kernel_w <= MOST_TAPS && taps <= MOST_TAPS &&
           job->epilogue.add == NULL && job->pad_top >= 0 && job->pad_left >= 0 && job->stride_h <= 4 &&
           job->stride_w <= 4 && group_in * job->stride_h * job->stride_w <= MOST_PLANES && job->dilation_w <= 64 &&
           job->dilation_h <= 64 &&
           (taper_tensor_is_channels_last(x) || (taper_tensor_is_contiguous(x) && !x->hidden_nhwc)) &&
           planes_are_small(job) && taper_conv2d_planar_pays(job);
}

taper_status taper_conv2d_planar(taper_conv2d *job)
{
    const taper_run *run = job->call->run;
    planar_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                        .entry = taper_planar_f32_select(run->cpu),
                        .vector = taper_vector_f32_select(run->cpu),
                        .group_in = job->in_c / job->groups,
                        .group_out = job->out_c / job->groups,
                        .taps = job->kernel_h * job->kernel_w,
                        .pitch = pitch_of(job)};
    const size_t phases = job->stride_h * job->stride_w;
    const size_t reach = (job->kernel_h - 1) * job->dilation_h / job->stride_h;
    plan.bunch =
        taper_min_size(taper_max_size(BUNCH_CHANNELS / taper_max_size(plan.group_in, plan.group_out), 1), job->groups);
    plan.bunches = (job->groups - 1) / plan.bunch + 1;
    // This product may overflow a 32-bit size_t, so it is computed in double.
    const double row_floats = (double)(plan.bunch * (plan.group_in * phases + plan.group_out)) * (double)plan.pitch;
    plan.rows = taper_min_size(taper_max_size((size_t)(BAND_FLOATS / row_floats), taper_min_size(2 * reach + 1, 8)),
                               job->out_h);
    plan.bands = (job->out_h - 1) / plan.rows + 1;
    plan.rows = (job->out_h - 1) / plan.bands + 1;
    plan.plane_rows = plan.rows + reach;
    plan.plane = plan.plane_rows * plan.pitch + TAPER_PLANAR_SLACK;
    plan.y_plane = plan.rows * plan.pitch;
    taper_pack_request request;
    size_t floats;
    if (!taper_mul_size(plan.bunch * (plan.group_in * phases + plan.group_out), plan.plane, &floats) ||
        floats > SIZE_MAX / sizeof(float) || !taper_conv2d_planar_pack(job, plan.entry, &plan.group_floats, &request)) {
        return TAPER_DECLINED;
    }
    plan.place_bytes = floats * sizeof(float);
    for (size_t tap = 0; tap < plan.taps; tap++) {
        const size_t y = tap / job->kernel_w * job->dilation_h, x = tap % job->kernel_w * job->dilation_w;
        plan.offsets[tap] = (y % job->stride_h * job->stride_w + x % job->stride_w) * plan.plane +
                            y / job->stride_h * plan.pitch + x / job->stride_w;
    }
    plan.head.name = plan.entry->name;
    plan.head.flops =
        2.0 * (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c * (double)(plan.taps * plan.group_in);
    plan.head.work = plan.head.flops / (4.0 * plan.entry->lanes);
    return taper_conv2d_do(&plan.head, &request);
}
