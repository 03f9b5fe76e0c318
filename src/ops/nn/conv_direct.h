// SPDX-License-Identifier: BSD-2-Clause
// Convolutions without a matrix product, for one arithmetic type. conv_run.c includes this file with ELEMENT, the type,
// and NAME(x), a unique name.

// Adds the convolution of one input channel with one kernel to the plane y. Taps of the kernel are w_tap elements
// apart.
static void NAME(depthwise_plane)(const conv_job *job, const ELEMENT *x, const ELEMENT *weight, int64_t w_tap,
                                  ELEMENT *y)
{
    for (int64_t od = 0; od < job->out[0]; od++) {
        for (int64_t oh = 0; oh < job->out[1]; oh++) {
            ELEMENT *to = y + od * job->y_space[0] + oh * job->y_space[1];
            for (int64_t tap = 0; tap < job->taps; tap++) {
                if (tap % TAPS == 0 && !taper_run_goes_on(job->run, (uint64_t)(job->out[2] + 10) * TAPS)) {
                    return;
                }
                const conv_tap at = tap_of(job, tap);
                const int64_t d = od * job->stride[0] + at.shift[0], h = oh * job->stride[1] + at.shift[1];
                if (d < 0 || d >= job->in[0] || h < 0 || h >= job->in[1]) {
                    continue;
                }
                const ELEMENT factor = weight[tap * w_tap];
                const conv_range inside = range_inside(at.shift[2], job->stride[2], job->in[2], job->out[2]);
                const ELEMENT *line = x + d * job->x_space[0] + h * job->x_space[1];
                const int64_t shift = at.shift[2], step = job->stride[2], x_step = job->x_space[2],
                              y_step = job->y_space[2];
                if (step == 1 && x_step == 1 && y_step == 1) {
                    for (int64_t i = inside.first; i < inside.end; i++) {
                        to[i] += factor * line[i + shift];
                    }
                } else {
                    for (int64_t i = inside.first; i < inside.end; i++) {
                        to[i * y_step] += factor * line[(i * step + shift) * x_step];
                    }
                }
            }
        }
    }
}

// Adds a depthwise convolution for all channels of a pixel together. Channels are contiguous in x, in y, and in
// weight[tap * channels + channel].
static void NAME(depthwise_points)(const conv_job *job, const ELEMENT *x, const ELEMENT *weight, int64_t channels,
                                   ELEMENT *y)
{
    for (int64_t od = 0; od < job->out[0]; od++) {
        for (int64_t oh = 0; oh < job->out[1]; oh++) {
            for (int64_t ow = 0; ow < job->out[2]; ow++) {
                ELEMENT *to = y + od * job->y_space[0] + oh * job->y_space[1] + ow * job->y_space[2];
                for (int64_t tap = 0; tap < job->taps; tap++) {
                    if (tap % TAPS == 0 && !taper_run_goes_on(job->run, (uint64_t)(channels + 10) * TAPS)) {
                        return;
                    }
                    const conv_tap at = tap_of(job, tap);
                    const int64_t d = od * job->stride[0] + at.shift[0], h = oh * job->stride[1] + at.shift[1];
                    const int64_t w = ow * job->stride[2] + at.shift[2];
                    if (d < 0 || d >= job->in[0] || h < 0 || h >= job->in[1] || w < 0 || w >= job->in[2]) {
                        continue;
                    }
                    const ELEMENT *from = x + d * job->x_space[0] + h * job->x_space[1] + w * job->x_space[2];
                    const ELEMENT *factor = weight + tap * channels;
                    for (int64_t c = 0; c < channels; c++) {
                        to[c] += factor[c] * from[c];
                    }
                }
            }
        }
    }
}

// Adds the products of a transposed convolution to the elements of y that they contribute to. column[(channel * taps +
// tap) * count + position] contains the products of input positions [first, first + count).
static void NAME(scatter)(const conv_job *job, const ELEMENT *column, int64_t first, int64_t count, ELEMENT *y)
{
    const int64_t width = job->in[2];
    for (int64_t channel = 0; channel < job->out_channels; channel++) {
        ELEMENT *plane = y + channel * job->y_channel;
        for (int64_t tap = 0; tap < job->taps; tap++, column += count) {
            if (tap % TAPS == 0 && !taper_run_goes_on(job->run, (uint64_t)count * 2 * TAPS)) {
                return;
            }
            const conv_tap at = tap_of(job, tap);
            // The range of an input row's columns whose products with this tap belong to columns of the result.
            const conv_range whole = range_inside(at.shift[2], job->stride[2], job->out[2], width);
            int64_t id = first / (job->in[1] * width), ih = first / width % job->in[1], iw = first % width;
            for (int64_t p = 0; p < count;) {
                const int64_t run = taper_min_i64(count - p, width - iw);
                const int64_t d = id * job->stride[0] + at.shift[0], h = ih * job->stride[1] + at.shift[1];
                if (d >= 0 && d < job->out[0] && h >= 0 && h < job->out[1]) {
                    ELEMENT *line = plane + d * job->y_space[0] + h * job->y_space[1];
                    const int64_t w = iw * job->stride[2] + at.shift[2];
                    const conv_range inside = run == width ? whole : range_inside(w, job->stride[2], job->out[2], run);
                    for (int64_t i = inside.first; i < inside.end; i++) {
                        line[(w + i * job->stride[2]) * job->y_space[2]] += column[p + i];
                    }
                }
                p += run;
                iw = 0;
                if (++ih == job->in[1]) {
                    ih = 0;
                    id++;
                }
            }
        }
    }
}

static void NAME(clamp_row)(ELEMENT *y, int64_t step, int64_t count, double low, double high)
{
    const ELEMENT min = (ELEMENT)low, max = (ELEMENT)high;
    for (int64_t i = 0; i < count; i++) {
        const ELEMENT v = y[i * step];
        y[i * step] = v < min ? min : v > max ? max : v;
    }
}
