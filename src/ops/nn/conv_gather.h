// SPDX-License-Identifier: BSD-2-Clause
// Gathers patches of the input for one element size. conv_run.c includes this file with NAME(x), ELEMENT, SIZE (its
// bytes), AT(pointer, index) and MOVE(to, from).
//
// Columns are ordered by channels, then by positions, for channels-first inputs. They are ordered by positions, then by
// channels, for channels-last inputs.

// Gathers patches as column[(channel * taps + tap) * count + position], for the rows [begin, end) of the column matrix.
// The positions start at `first`.
static void NAME(rows)(const conv_job *job, const ELEMENT *x, int64_t first, int64_t count, int64_t begin, int64_t end,
                       ELEMENT *column)
{
    const int64_t width = job->out[2], x_step = job->x_space[2];
    column = AT(column, begin * count);
    for (int64_t row = begin; row < end; row++) {
        const ELEMENT *plane = AT(x, row / job->taps * job->x_channel);
        const conv_tap at = tap_of(job, row % job->taps);
        int64_t od = first / (job->out[1] * width), oh = first / width % job->out[1], ow = first % width;
        for (int64_t p = 0; p < count;) {
            const int64_t run = taper_min_i64(count - p, width - ow);
            const int64_t d = od * job->stride[0] + at.shift[0], h = oh * job->stride[1] + at.shift[1];
            if (d < 0 || d >= job->in[0] || h < 0 || h >= job->in[1]) {
                memset(AT(column, p), 0, (size_t)run * SIZE);
            } else {
                const ELEMENT *line = AT(plane, d * job->x_space[0] + h * job->x_space[1]);
                const int64_t w = ow * job->stride[2] + at.shift[2];
                const conv_range inside = range_inside(w, job->stride[2], job->in[2], run);
                int64_t i = 0;
                for (; i < inside.first; i++) {
                    memset(AT(column, p + i), 0, SIZE);
                }
                if (job->stride[2] == 1 && x_step == 1) {
                    memcpy(AT(column, p + i), AT(line, w + i), (size_t)(inside.end - i) * SIZE);
                    i = inside.end;
                }
                for (; i < inside.end; i++) {
                    MOVE(AT(column, p + i), AT(line, (w + i * job->stride[2]) * x_step));
                }
                for (; i < run; i++) {
                    memset(AT(column, p + i), 0, SIZE);
                }
            }
            p += run;
            ow = 0;
            if (++oh == job->out[1]) {
                oh = 0;
                od++;
            }
        }
        column = AT(column, count);
    }
}

// Gathers patches as column[(position * taps + tap) * channels + channel], for the positions first + [begin, end).
static void NAME(points)(const conv_job *job, const ELEMENT *x, int64_t first, int64_t begin, int64_t end,
                         ELEMENT *column)
{
    const int64_t width = job->out[2], channels = job->in_channels;
    column = AT(column, begin * job->taps * channels);
    for (int64_t p = first + begin; p < first + end; p++) {
        const int64_t od = p / (job->out[1] * width), oh = p / width % job->out[1], ow = p % width;
        for (int64_t tap = 0; tap < job->taps; tap++, column = AT(column, channels)) {
            const conv_tap at = tap_of(job, tap);
            const int64_t d = od * job->stride[0] + at.shift[0], h = oh * job->stride[1] + at.shift[1];
            const int64_t w = ow * job->stride[2] + at.shift[2];
            if (d < 0 || d >= job->in[0] || h < 0 || h >= job->in[1] || w < 0 || w >= job->in[2]) {
                memset(column, 0, (size_t)channels * SIZE);
            } else {
                const ELEMENT *from = AT(x, d * job->x_space[0] + h * job->x_space[1] + w * job->x_space[2]);
                memcpy(column, from, (size_t)channels * SIZE);
            }
        }
    }
}
