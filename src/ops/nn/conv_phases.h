// SPDX-License-Identifier: BSD-2-Clause
// Transposed convolutions of floats in which each channel has a separate kernel (included by conv_run.c). They are
// computed a row of the result at a time. If pixels are contiguous, the elements of a row that are `stride` apart form
// a phase. A phase is a sum of whole input rows, which vector kernels add; then the phases are interleaved. If channels
// are contiguous, the products are added pixel by pixel.
#ifndef TAPER_OPS_CONV_PHASES_H
#define TAPER_OPS_CONV_PHASES_H

enum { PHASE_FLOATS = 2048 };

typedef struct phase_work {
    const conv_job *job;
    bool points;   // true if channels are contiguous
    int64_t width; // number of floats of a phase
    const taper_vector_entry *vector;
} phase_work;

// Returns the input row that contributes to row `out` of the result through this tap, or -1.
static int64_t phase_row(const conv_job *job, size_t axis, int64_t out, int64_t tap)
{
    const int64_t at = out + job->pad[axis] - tap * job->dilation[axis];
    return at >= 0 && at % job->stride[axis] == 0 && at / job->stride[axis] < job->in[axis] ? at / job->stride[axis]
                                                                                            : -1;
}

static void phase_pixels(const conv_job *job, const float *x, const float *weight, float *y)
{
    const int64_t channels = job->groups, stride = job->stride[2];
    for (int64_t k = 0; k < job->kernel[2]; k++, weight += channels) {
        const int64_t shift = k * job->dilation[2] - job->pad[2];
        const conv_range inside = range_inside(shift, stride, job->out[2], job->in[2]);
        for (int64_t i = inside.first; i < inside.end; i++) {
            const float *from = x + i * job->x_space[2];
            float *to = y + (i * stride + shift) * job->y_space[2];
            for (int64_t c = 0; c < channels; c++) {
                to[c] += weight[c] * from[c];
            }
        }
    }
}

static void phase_line(const phase_work *work, const float *x, const float *weight, float *phases)
{
    const conv_job *job = work->job;
    const int64_t stride = job->stride[2];
    for (int64_t k = 0; k < job->kernel[2]; k++) {
        const int64_t shift = k * job->dilation[2] - job->pad[2];
        const int64_t behind = shift >= 0 ? shift / stride : -((-shift - 1) / stride + 1),
                      phase = shift - behind * stride;
        const conv_range inside = range_inside(shift, stride, job->out[2], job->in[2]);
        float *to = phases + phase * work->width + behind + inside.first;
        if (inside.first < inside.end) {
            work->vector->blend((size_t)(inside.end - inside.first), to, x + inside.first, 1, weight[k], to);
        }
    }
}

static void phase_rows(void *argument, size_t begin, size_t end)
{
    const phase_work *work = argument;
    const conv_job *job = work->job;
    const int64_t planes = work->points ? 1 : job->groups, stride = job->stride[2], width = work->width;
    for (size_t r = begin; r < end; r++) {
        const int64_t h = (int64_t)r % job->out[1], above = (int64_t)r / job->out[1], d = above % job->out[0];
        const int64_t plane = above / job->out[0], n = plane / planes, c = plane % planes;
        const float *x = (const float *)(const void *)job->x + n * job->x_batch + c * job->x_channel;
        float *y =
            (float *)(void *)job->y + n * job->y_batch + c * job->y_channel + d * job->y_space[0] + h * job->y_space[1];
        float phases[PHASE_FLOATS];
        memset(phases, 0, work->points ? 0 : (size_t)(stride * width) * sizeof *phases);
        for (int64_t i = 0; i < job->kernel[0] * job->kernel[1]; i++) {
            const int64_t from_d = phase_row(job, 0, d, i / job->kernel[1]),
                          from_h = phase_row(job, 1, h, i % job->kernel[1]);
            const float *row = x + from_d * job->x_space[0] + from_h * job->x_space[1];
            const float *weight = (const float *)(const void *)job->w;
            if (from_d < 0 || from_h < 0) {
                continue;
            }
            if (work->points) {
                phase_pixels(job, row, weight + i * job->kernel[2] * job->groups, y);
            } else {
                phase_line(work, row, weight + c * job->taps + i * job->kernel[2], phases);
            }
        }
        for (int64_t p = 0; p < stride && !work->points; p++) {
            for (int64_t i = 0; i * stride + p < job->out[2]; i++) {
                y[i * stride + p] += phases[p * width + i];
            }
        }
    }
}

// Returns true if run_phases can compute the convolution. *points receives true if channels are contiguous; the weights
// must then be ordered tap by tap.
static bool phases_fit(const conv_job *job, bool transposed, bool *points)
{
    const int64_t width = (job->out[2] - 1) / job->stride[2] + 1;
    *points = job->x_channel == 1 && job->y_channel == 1 && job->groups > 1;
    return transposed && !job->run->portable && job->dtype == TAPER_F32 && job->in_channels == 1 &&
           job->out_channels == 1 && job->groups > 1 &&
           (*points || (job->x_space[2] == 1 && job->y_space[2] == 1 && job->stride[2] <= PHASE_FLOATS / width));
}

static taper_status run_phases(const conv_job *job, bool points)
{
    phase_work work = {.job = job,
                       .points = points,
                       .width = (job->out[2] - 1) / job->stride[2] + 1,
                       .vector = taper_vector_f32_select(job->run->cpu)};
    const int64_t rows = job->batch * (points ? 1 : job->groups) * job->out[0] * job->out[1];
    const double pixels = (double)job->out[2] * (points ? (double)job->groups : 1);
    return taper_run_floats(
        job->run, phase_rows, &work, (size_t)rows,
        pixels * ((double)job->taps / (double)job->stride[0] / (double)job->stride[1] / (double)job->stride[2] + 2));
}

#endif
