// SPDX-License-Identifier: BSD-2-Clause
// Gathers patches of the input for one element size: included by conv_run.c with NAME(x) and
//   ELEMENT, SIZE (its bytes), AT(pointer, index), MOVE(to, from)
// Two orders: channels outside (rows of positions) for channels-first inputs, channels inside for channels-last ones.

// column[(channel * taps + tap) * count + position]
static void NAME(rows)(const conv_job *job, const ELEMENT *x, int64_t first, int64_t count, ELEMENT *column)
{
    const int64_t width = job->out[2], x_step = job->x_space[2];
    for (int64_t channel = 0; channel < job->in_channels; channel++) {
        const ELEMENT *plane = AT(x, channel * job->x_channel);
        for (int64_t tap = 0; tap < job->taps; tap++) {
            if (tap % TAPS == 0 && !taper_run_goes_on(job->run, (uint64_t)count * 2 * TAPS)) {
                return;
            }
            const conv_tap at = tap_of(job, tap);
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
}

// column[(position * taps + tap) * channels + channel]
static void NAME(points)(const conv_job *job, const ELEMENT *x, int64_t first, int64_t count, ELEMENT *column)
{
    const int64_t width = job->out[2], channels = job->in_channels;
    for (int64_t p = first; p < first + count; p++) {
        const int64_t od = p / (job->out[1] * width), oh = p / width % job->out[1], ow = p % width;
        for (int64_t tap = 0; tap < job->taps; tap++, column = AT(column, channels)) {
            if (tap % TAPS == 0 && !taper_run_goes_on(job->run, (uint64_t)(channels + 10) * TAPS)) {
                return;
            }
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
