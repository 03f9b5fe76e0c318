// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_depthwise.c: dilated kernels, computed one phase at a time. A phase contains every dilation-th row and
// pixel.
#ifndef TAPER_BACKENDS_CPU_CONV_DILATED_H
#define TAPER_BACKENDS_CPU_CONV_DILATED_H

// A convolution with a dilation is split into phases without a dilation: each phase contains every dilation-th row and
// pixel. This function computes rows [first, first + count) of the phase whose first row is `phase`.
static void run_phase(const depthwise_plan *plan, size_t image, size_t phase, size_t first, size_t count)
{
    const taper_conv2d *job = plan->head.job;
    const int64_t down = (int64_t)job->dilation_h, across = (int64_t)job->dilation_w;
    const float *rows[MOST_ROWS];
    const size_t row = job->in_w * job->in_c, out_row = job->out_w * job->out_c;
    const int64_t top = (int64_t)phase + (int64_t)first * down - job->pad_top;
    float *out = job->y + (image * job->out_h + phase + first * job->dilation_h) * out_row;
    for (size_t column = 0; column < taper_min_size(job->dilation_w, job->out_w); column++) {
        // Padding left of the phase's first column; less than the dilation.
        const int64_t left = (int64_t)column - job->pad_left;
        const int64_t skipped = left < 0 ? (-left - 1) / across + 1 : 0, begin = left + skipped * across;
        for (size_t i = 0; i < count - 1 + job->kernel_h; i++) {
            const int64_t y = top + (int64_t)i * down;
            const bool inside = y >= 0 && y < (int64_t)job->in_h && begin < (int64_t)job->in_w;
            rows[i] = inside ? job->x + (image * job->in_h + (size_t)y) * row + (size_t)begin * job->in_c : NULL;
        }
        for (size_t c = 0; c < job->out_c; c += plan->chunk) {
            const size_t width = begin < (int64_t)job->in_w ? (job->in_w - (size_t)begin - 1) / job->dilation_w + 1 : 1;
            const taper_dwconv_rows work = {.rows = rows,
                                            .channel_offset = c,
                                            .channels = taper_min_size(plan->chunk, job->out_c - c),
                                            .in_width = width,
                                            .in_stride = job->in_c * job->dilation_w,
                                            .pad_left = (size_t)skipped,
                                            .out_rows = count,
                                            .out_width = (job->out_w - column - 1) / job->dilation_w + 1,
                                            .out_stride = job->out_c * job->dilation_w,
                                            .out_row_stride = out_row * job->dilation_h,
                                            .w = plan->head.packed + c * (plan->taps + 1),
                                            .out = out + column * job->out_c + c,
                                            .min = job->epilogue.min,
                                            .max = job->epilogue.max};
            plan->rows->run(&work);
        }
    }
    for (size_t i = 0; i < count; i++) {
        taper_epilogue_finish(&job->epilogue, 1, out_row, out + i * out_row * job->dilation_h, 0);
    }
}

static void run_phases(void *argument, size_t begin, size_t end)
{
    const depthwise_plan *plan = argument;
    const taper_conv2d *job = plan->head.job;
    while (begin < end) {
        const size_t phase = begin / plan->pairs % job->dilation_h, image = begin / plan->pairs / job->dilation_h;
        const size_t first = 2 * (begin % plan->pairs);
        const size_t pairs =
            taper_min_size(taper_min_size(end - begin, plan->pairs - begin % plan->pairs), plan->most_pairs);
        const size_t rows = phase < job->out_h ? (job->out_h - phase - 1) / job->dilation_h + 1 : 0;
        if (first < rows) {
            run_phase(plan, image, phase, first, taper_min_size(2 * pairs, rows - first));
        }
        begin += pairs;
    }
}

// Returns true if the convolution should be computed phase by phase. A dilation that exceeds the height or width of the
// result is excluded: every phase would have at most one row or column, and the number of empty phases would not be
// bounded.
static bool is_dilated(const taper_conv2d *job)
{
    return job->stride_h == 1 && (job->dilation_h != 1 || job->dilation_w != 1) && job->dilation_h <= job->out_h &&
           job->dilation_w <= job->out_w;
}

#endif
