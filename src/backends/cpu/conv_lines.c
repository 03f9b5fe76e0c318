// SPDX-License-Identifier: BSD-2-Clause
// 1-D convolutions of lines in PyTorch's order, by the kernel for planes: depthwise convolutions, convolutions that
// would otherwise run over planes (conv_planar.c), and 1x1 convolutions that are faster over lines than as a matrix
// product. A line is a plane of one row, so nothing is transposed: the result has the same order as the input. Pixels
// whose windows are inside the line are read in place. The ends of a line, and lines with a stride, are copied with
// their padding first. The copy is split into the phases of the stride: each phase contains every stride-th pixel. For
// a 1x1 convolution a whole image is one line.
#include <stdint.h>

#include "backends/cpu/conv_cpu.h"

enum {
    SEGMENT = 4096,       // largest number of positions of a line in one piece of work
    LEAST_SEGMENT = 256,  // smallest number of positions in a piece of work, and in a range that is read in place
    LAID_OUT = 16 * 1024, // approximate number of floats of the copied lines
    SHORT = 32,           // for lines up to this length several images are computed together
    MOST_REACH = 4096,
    MOST_INPUTS = 1024, // largest number of inputs in a group, if lines are copied
    FEW_CHANNELS = 8
};

typedef struct lines_plan {
    taper_conv2d_plan head;
    const taper_planar_entry *entry;
    const taper_vector_entry *vector;
    // Numbers of input and output channels of a group; number of floats of a group's packed weights.
    size_t group_in, group_out, group_floats;
    size_t segment, segments; // number of positions of a piece; number of pieces of a line
    // Number of images whose lines are computed together; number of floats from one of these lines to the next.
    size_t images, pitch;
    size_t reach; // distance from the first to the last pixel of a window
    // Number of floats of a copied line in one phase of the stride; number of bytes of scratch memory.
    size_t plane, place_bytes;
    // taps: number of taps. near: offsets of the taps in a line that is read in place. laid_out: offsets of the taps in
    // copied lines.
    size_t taps, near[TAPER_PLANAR_TAPS], laid_out[TAPER_PLANAR_TAPS];
} lines_plan;

typedef struct lines_run {
    const lines_plan *plan;
    taper_places places;
} lines_run;

// Copies the inputs of `count` positions from position `first` on, including padding, separately for each phase of the
// stride.
static void lay_out(const lines_plan *plan, const float *line, size_t first, size_t count, float *to)
{
    const taper_conv2d *job = plan->head.job;
    const int64_t step = (int64_t)job->stride_w, wide = (int64_t)job->in_w;
    const size_t all = count + plan->reach / job->stride_w + TAPER_PLANAR_SLACK;
    for (size_t phase = 0; phase < job->stride_w; phase++, to += plan->plane) {
        // The position in the line of the first element of this phase.
        const int64_t at = (int64_t)(first * job->stride_w + phase) - job->pad_left;
        const size_t before = at < 0 ? taper_min_size((size_t)((step - 1 - at) / step), all) : 0;
        const int64_t from = at + (int64_t)before * step;
        const size_t inside = from < wide ? taper_min_size((size_t)((wide - from - 1) / step) + 1, all - before) : 0;
        memset(to, 0, before * sizeof *to);
        if (step == 1) {
            memcpy(to + before, line + from, inside * sizeof *to);
        } else if (step == 2) {
            plan->vector->every_second(inside, line + from, to + before);
        } else {
            for (size_t i = 0; i < inside; i++) {
                to[before + i] = line[from + step * (int64_t)i];
            }
        }
        memset(to + before + inside, 0, (all - before - inside) * sizeof *to);
    }
}

// Computes the outputs of a group at `positions` positions of the line.
static void make_outputs(const lines_plan *plan, size_t group, taper_planar *p, float *y, size_t positions)
{
    const taper_conv2d *job = plan->head.job;
    p->w = plan->head.packed + group * plan->group_floats;
    for (size_t o = 0; o < plan->group_out; o += p->outputs) {
        p->outputs = taper_min_size(plan->entry->block, plan->group_out - o);
        p->y = y + o * job->out_w;
        plan->entry->run(p, positions);
        p->w += p->outputs * (1 + plan->group_in * plan->taps);
    }
    taper_epilogue_finish(&job->epilogue, plan->group_out, positions, y, job->out_w);
}

// Returns true if no line is copied: the kernel is 1x1 without stride and padding, and a line has at least one vector
// of pixels.
static bool reads_all(const taper_conv2d *job, const taper_planar_entry *entry)
{
    return job->kernel_w == 1 && job->stride_w == 1 && job->pad_left == 0 && job->in_w >= entry->lanes;
}

// Computes pixels of a line from the input in place. The last vector repeats some pixels, so that nothing after the
// line is read.
static void make_pixels(const lines_plan *plan, size_t group, const float *x, size_t first, size_t end, float *y)
{
    const taper_conv2d *job = plan->head.job;
    taper_planar p = {.inputs = plan->group_in,
                      .taps = 1,
                      .x_plane = job->in_w,
                      .offsets = plan->near,
                      .y_plane = job->out_w,
                      .min = job->epilogue.min,
                      .max = job->epilogue.max};
    const size_t lanes = plan->entry->lanes, whole = (end - first) / lanes * lanes;
    if (whole != 0) {
        p.x = x + first;
        make_outputs(plan, group, &p, y + first, whole);
    }
    if (first + whole != end) {
        p.x = x + end - lanes;
        make_outputs(plan, group, &p, y + end - lanes, lanes);
    }
}

// Computes output positions [first, end) of one group of an image.
static void make_segment(const lines_plan *plan, size_t image, size_t group, size_t first, size_t end, float *place)
{
    const taper_conv2d *job = plan->head.job;
    const float *x =
        (const float *)taper_tensor_data(job->args.input) + (image * job->in_c + group * plan->group_in) * job->in_w;
    float *y = job->y + (image * job->out_c + group * plan->group_out) * job->out_w;
    if (reads_all(job, plan->entry)) {
        make_pixels(plan, group, x, first, end, y);
        return;
    }
    taper_planar p = {.inputs = plan->group_in,
                      .taps = plan->taps,
                      .y_plane = job->out_w,
                      .min = job->epilogue.min,
                      .max = job->epilogue.max};
    // Positions from pad to near_end read only elements of the line, even though the kernel reads past the last input
    // that it uses.
    const size_t pad = (size_t)job->pad_left, beyond = plan->reach + TAPER_PLANAR_SLACK;
    const size_t near_end =
        taper_min_size(job->stride_w == 1 && job->in_w > beyond ? job->in_w + pad - beyond : 0, end);
    const size_t near_begin = taper_min_size(taper_max_size(first, taper_round_up(pad, TAPER_PLANAR_SLACK)), end);
    const bool near = near_begin + LEAST_SEGMENT <= near_end;
    while (first < end) {
        size_t stop = end;
        if (near && first < near_begin) {
            stop = near_begin;
        } else if (near && first < near_end) {
            stop = near_end;
            p.x = x + (first - pad);
            p.x_plane = job->in_w;
            p.offsets = plan->near;
            make_outputs(plan, group, &p, y + first, stop - first);
            first = stop;
            continue;
        }
        for (size_t i = 0; i < plan->group_in; i++) {
            lay_out(plan, x + i * job->in_w, first, stop - first, place + i * job->stride_w * plan->plane);
        }
        p.x = place;
        p.x_plane = job->stride_w * plan->plane;
        p.offsets = plan->laid_out;
        make_outputs(plan, group, &p, y + first, stop - first);
        first = stop;
    }
}

// Computes one group of `count` images. The short lines of the images are copied one after the other and computed as
// one line.
static void make_images(const lines_plan *plan, size_t image, size_t count, size_t group, float *place)
{
    const taper_conv2d *job = plan->head.job;
    const float *x =
        (const float *)taper_tensor_data(job->args.input) + (image * job->in_c + group * plan->group_in) * job->in_w;
    float *y = job->y + (image * job->out_c + group * plan->group_out) * job->out_w;
    const size_t lines = plan->group_in * job->stride_w, positions = count * plan->pitch;
    float *made = place + lines * plan->plane;
    for (size_t i = 0; i < plan->group_in; i++) {
        for (size_t k = 0; k < count; k++) {
            lay_out(plan, x + (k * job->in_c + i) * job->in_w, 0, job->out_w,
                    place + i * job->stride_w * plan->plane + k * plan->pitch);
        }
    }
    taper_planar p = {.inputs = plan->group_in,
                      .taps = plan->taps,
                      .x = place,
                      .x_plane = job->stride_w * plan->plane,
                      .offsets = plan->laid_out,
                      .w = plan->head.packed + group * plan->group_floats,
                      .y = made,
                      .y_plane = plan->images * plan->pitch,
                      .min = job->epilogue.min,
                      .max = job->epilogue.max};
    for (size_t o = 0; o < plan->group_out; o += p.outputs) {
        p.outputs = taper_min_size(plan->entry->block, plan->group_out - o);
        p.y = made + o * p.y_plane;
        plan->entry->run(&p, positions);
        p.w += p.outputs * (1 + plan->group_in * plan->taps);
    }
    taper_epilogue_finish(&job->epilogue, plan->group_out, positions, made, p.y_plane);
    for (size_t k = 0; k < count; k++) {
        for (size_t o = 0; o < plan->group_out; o++) {
            const float *from = made + o * p.y_plane + k * plan->pitch;
            float *to = y + (k * job->out_c + o) * job->out_w;
            for (size_t i = 0; i < job->out_w; i++) {
                to[i] = from[i];
            }
        }
    }
}

static void run_images(void *argument, size_t begin, size_t end)
{
    const lines_run *r = argument;
    const lines_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t bunches = (job->batch - 1) / plan->images + 1;
    float *place = taper_place_take(&r->places, begin, job->groups * bunches);
    for (size_t piece = begin; piece < end; piece++) {
        const size_t image = piece / job->groups * plan->images;
        make_images(plan, image, taper_min_size(plan->images, job->batch - image), piece % job->groups, place);
    }
    taper_place_leave(place);
}

static void run_pieces(void *argument, size_t begin, size_t end)
{
    const lines_run *r = argument;
    const lines_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    float *place = taper_place_take(&r->places, begin, job->batch * job->groups * plan->segments);
    for (size_t piece = begin; piece < end; piece++) {
        const size_t segment = piece % plan->segments, first = segment * plan->segment, line = piece / plan->segments;
        make_segment(plan, line / job->groups, line % job->groups, first,
                     segment + 1 == plan->segments ? job->out_w : first + plan->segment, place);
    }
    taper_place_leave(place);
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const lines_plan *plan = (const lines_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    const size_t bunches = (head->job->batch - 1) / plan->images + 1;
    const size_t pieces = bunches * head->job->groups * plan->segments;
    lines_run r = {.plan = plan};
    if (!taper_places_open(run, plan->place_bytes, pieces, &r.places)) {
        return taper_fail_memory(run->error);
    }
    const taper_status status =
        taper_run_range(run, plan->images != 1 ? run_images : run_pieces, &r, pieces, 1, head->work);
    taper_places_close(run, &r.places);
    return status;
}

// Returns true if the input is read as lines. An image of one channel is both contiguous and channels-last. Such an
// image is read as a line if there are few output channels. With many output channels, NHWC is better for the following
// layers.
static bool lies_as_line(const taper_conv2d *job)
{
    enum { FEW = 4 };
    return !taper_tensor_is_channels_last(job->args.input) ||
           (job->in_c == 1 && (job->out_c <= FEW || taper_ret_leaves(job->call)));
}

static bool is_lines(const taper_conv2d *job)
{
    const taper_tensor *x = job->args.input;
    const bool copies = !reads_all(job, taper_planar_f32_select(job->call->run->cpu));
    const bool depthwise = job->groups > 1 && job->groups == job->in_c && job->groups == job->out_c;
    return job->in_h == 1 && job->out_h == 1 && job->kernel_h == 1 && job->pad_top == 0 && job->pad_left >= 0 &&
           job->in_w > 1 && job->kernel_w <= TAPER_PLANAR_TAPS && job->stride_w <= 4 &&
           job->dilation_w <= MOST_REACH / job->kernel_w && job->epilogue.add == NULL &&
           taper_tensor_is_contiguous(x) && !x->hidden_nhwc && lies_as_line(job) && !job->args.out_channels_last &&
           (depthwise || taper_conv2d_is_planar(job) ||
            (job->kernel_w == 1 && (!copies || job->in_c / job->groups <= MOST_INPUTS) && taper_conv2d_lines_pay(job)));
}

bool taper_conv2d_as_lines(taper_conv2d *job)
{
    if (job->kernel_h != 1 || job->kernel_w != 1 || job->stride_h != 1 || job->stride_w != 1 || job->pad_top != 0 ||
        job->pad_left != 0 || job->in_h != job->out_h || job->in_w != job->out_w) {
        return is_lines(job);
    }
    // The layers that follow read NHWC. A result that they read should therefore be NHWC, unless it has few channels.
    const bool few = taper_ret_leaves(job->call) || job->out_c <= FEW_CHANNELS || 2 * job->out_c <= job->in_c;
    if (!few && job->groups == 1 && job->in_h != 1 && job->args.params.rank == 2) {
        return false;
    }
    taper_conv2d line = *job;
    line.in_w = line.out_w = job->in_h * job->in_w;
    line.in_h = line.out_h = 1;
    if (!is_lines(&line)) {
        return false;
    }
    *job = line;
    return true;
}

taper_status taper_conv2d_lines(taper_conv2d *job)
{
    lines_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                       .entry = taper_planar_f32_select(job->call->run->cpu),
                       .vector = taper_vector_f32_select(job->call->run->cpu),
                       .group_in = job->in_c / job->groups,
                       .group_out = job->out_c / job->groups,
                       .reach = (job->kernel_w - 1) * job->dilation_w,
                       .taps = job->kernel_w};
    const size_t lines = plan.group_in * job->stride_w;
    const bool copies = !reads_all(job, plan.entry);
    plan.segment = taper_min_size(SEGMENT, taper_max_size(LAID_OUT / lines, LEAST_SEGMENT));
    // If lines are not copied, their number of segments is rounded down, so that no segment is shorter than a vector.
    plan.segments = copies ? (job->out_w - 1) / plan.segment + 1 : taper_max_size(job->out_w / plan.segment, 1);
    plan.segment = taper_min_size(plan.segment, job->out_w);
    plan.pitch = plan.segment + plan.reach / job->stride_w;
    plan.images = 1;
    if (job->out_w <= SHORT && copies) {
        const size_t floats = (lines + plan.group_out) * plan.pitch;
        plan.images = taper_min_size(taper_max_size(LAID_OUT / floats, 1), job->batch);
    }
    plan.plane = plan.images * plan.pitch + TAPER_PLANAR_SLACK;
    plan.place_bytes =
        copies ? lines * plan.plane * sizeof(float) : 0; // cannot overflow: at most 1,024 lines of 9,000 floats
    plan.place_bytes += plan.images != 1 ? plan.group_out * plan.images * plan.pitch * sizeof(float) : 0;
    for (size_t tap = 0; tap < plan.taps; tap++) {
        const size_t x = tap * job->dilation_w;
        plan.near[tap] = x;
        plan.laid_out[tap] = x % job->stride_w * plan.plane + x / job->stride_w;
    }
    plan.head.name = plan.entry->name;
    plan.head.flops =
        2.0 * (double)(job->batch * job->out_w) * (double)job->out_c * (double)(plan.taps * plan.group_in);
    plan.head.work = plan.head.flops / (4.0 * plan.entry->lanes);
    taper_pack_request request;
    if (!taper_conv2d_planar_pack(job, plan.entry, &plan.group_floats, &request)) {
        return TAPER_DECLINED;
    }
    return taper_conv2d_do(&plan.head, &request);
}
