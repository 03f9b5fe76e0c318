// SPDX-License-Identifier: BSD-2-Clause
// Computes, for each channel of a contiguous NHWC tensor of floats, the mean and the sum of squared distances from the
// mean (the moments), by the vector kernels. The pixels of a sample are divided into stretches, independently of the
// number of threads. A stretch is read once: a block of pixels is added, centred in the cache, and added again. The
// moments of the block are then joined with the moments of the stretch (Chan, Golub, LeVeque: Updating formulae and a
// pairwise algorithm for computing sample variances, 1979).
#include <math.h>

#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_features.h"
#include "ops/nn/norm.h"
#include "ops/nn/norm_neighbours.h"
#include "ops/nn/pool.h"

enum { PIXELS = 64, CHANNELS = 128, STRETCH = 16 * PIXELS };

typedef struct moments {
    double mean, squares;
} moments;

typedef struct channels_job {
    const taper_norm *norm;
    const taper_vector_entry *vector;
    size_t stretches; // number of stretches of a sample
    moments *made;    // moments of channel c of stretch i at [i * channels + c]; stretches are counted over all samples
} channels_job;

static void join(moments *all, double have, double mean, double squares, double count)
{
    const double apart = mean - all->mean, total = have + count;
    all->mean += apart * (count / total);
    all->squares += squares + apart * apart * (have / total * count);
}

// Adds a block of pixels and channels to *all, which contains the moments of `have` earlier pixels.
static void add_block(const channels_job *job, const float *x, size_t pixels, size_t channels, double have,
                      moments *all)
{
    const size_t step = (size_t)job->norm->x.stride[2];
    float sums[CHANNELS], minus[CHANNELS], centred[PIXELS * CHANNELS];
    job->vector->fold_rows[TAPER_REDUCTION_SUM](pixels, channels, x, step, sums);
    for (size_t c = 0; c < channels; c++) {
        minus[c] = -sums[c] / (float)pixels;
    }
    job->vector->channels(pixels, channels, x, step, NULL, minus, centred, channels, -INFINITY, INFINITY);
    float squares[CHANNELS], off[CHANNELS];
    job->vector->fold_rows[TAPER_REDUCTION_SQUARES](pixels, channels, centred, channels, squares);
    job->vector->fold_rows[TAPER_REDUCTION_SUM](pixels, channels, centred, channels, off);
    for (size_t c = 0; c < channels; c++) {
        // The mean was rounded to a float, so the centred elements do not add up to 0. Their mean is this rounding
        // error.
        const double rest = (double)off[c] / (double)pixels, least = (double)squares[c] - rest * (double)off[c];
        join(&all[c], have, rest - (double)minus[c], least < 0.0 ? 0.0 : least, (double)pixels);
    }
}

static void stretches_range(void *argument, size_t begin, size_t end)
{
    const channels_job *job = argument;
    const taper_volume *x = &job->norm->x;
    const size_t channels = (size_t)x->c, width = (size_t)x->size[2], spatial = (size_t)job->norm->spatial;
    for (; begin < end; begin++) {
        moments *all = job->made + begin * channels;
        const float *sample = (const float *)job->norm->in + (int64_t)(begin / job->stretches) * x->stride_n;
        const size_t first = begin % job->stretches * STRETCH, last = taper_min_size(first + STRETCH, spatial);
        memset(all, 0, channels * sizeof *all);
        for (size_t at = first, count; at < last; at += count) {
            const int64_t line = (int64_t)(at / width), d = line / x->size[1], h = line % x->size[1];
            const float *pixel = sample + d * x->stride[0] + h * x->stride[1] + (int64_t)(at % width) * x->stride[2];
            count = taper_min_size(taper_min_size(PIXELS, last - at), width - at % width);
            for (size_t c = 0; c < channels; c += CHANNELS) {
                add_block(job, pixel + c, count, taper_min_size(CHANNELS, channels - c), (double)(at - first), all + c);
            }
        }
    }
}

taper_status taper_norm_channels(const taper_norm *norm, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    taper_run *run = norm->run;
    const size_t channels = (size_t)x->c, spatial = (size_t)norm->spatial;
    channels_job job = {
        .norm = norm, .vector = taper_vector_f32_select(run->cpu), .stretches = (spatial + STRETCH - 1) / STRETCH};
    size_t bytes;
    if (run->portable || norm->dtype != TAPER_F32 || !taper_volume_channels_inner(x) || x->stride[2] < 0 ||
        spatial == 0 || channels == 0 || job.vector->channels == NULL ||
        job.vector->fold_rows[TAPER_REDUCTION_SUM] == NULL || job.vector->fold_rows[TAPER_REDUCTION_SQUARES] == NULL ||
        !taper_mul_size((size_t)x->n * job.stretches, channels * sizeof *job.made, &bytes)) {
        return TAPER_DECLINED;
    }
    job.made = taper_heap_alloc(run->heap, bytes);
    if (job.made == NULL) {
        return taper_fail_memory(run->error);
    }
    const taper_status status = taper_run_floats(run, stretches_range, &job, (size_t)x->n * job.stretches,
                                                 3.0 * (double)taper_min_size(STRETCH, spatial) * (double)channels);
    for (size_t n = 0; status == TAPER_OK && n < (size_t)x->n; n++) {
        for (size_t c = 0; c < channels; c++) {
            moments all = {0, 0};
            for (size_t i = 0; i < job.stretches; i++) {
                const moments *part = &job.made[(n * job.stretches + i) * channels + c];
                join(&all, (double)(i * STRETCH), part->mean, part->squares,
                     (double)taper_min_size(STRETCH, spatial - i * STRETCH));
            }
            mean[n * channels + c] = all.mean;
            squares[n * channels + c] = all.squares;
        }
    }
    taper_heap_free(run->heap, job.made, bytes);
    return status;
}
