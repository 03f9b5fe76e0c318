// SPDX-License-Identifier: BSD-2-Clause
// The loops of batch, instance and group normalization. They add floats over short stretches, which the compiler
// vectorizes, and add the stretches as doubles.
#include "ops/call/parallel.h"
#include "ops/engine/doubles.h"
#include "ops/engine/reduce_vector.h"
#include "ops/engine/rows.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/op_features.h"
#include "ops/nn/norm.h"
#include "ops/nn/norm_neighbours.h"
#include "ops/nn/pool.h"

enum { TILE = 128, STRETCH = 16, LINE = 1 << 16 };

double taper_sum_squares_f32(taper_run *run, const float *x, int64_t count, float mean)
{
    // Equal to the constants of taper_sum_f32 (pool.c), which explains them.
    enum { LANES = 16, LEVEL = 256, BLOCK = 1024 };
    double total = 0.0;
    while (count > 0 && (count <= BLOCK || taper_run_goes_on(run, BLOCK / 2))) {
        const int64_t n = count < BLOCK ? count : BLOCK;
        float sums[LANES] = {0.0f};
        for (int64_t i = 0; i < n;) {
            const int64_t end = taper_min_i64(n, i + LEVEL);
            float lanes[LANES] = {0.0f};
            for (; i + LANES <= end; i += LANES) {
                for (int64_t j = 0; j < LANES; j++) {
                    const float d = x[i + j] - mean;
                    lanes[j] += d * d;
                }
            }
            for (int64_t j = 0; i < end; i++, j++) {
                const float d = x[i] - mean;
                lanes[j] += d * d;
            }
            for (int64_t j = 0; j < LANES; j++) {
                sums[j] += lanes[j];
            }
        }
        for (int64_t j = 0; j < LANES; j++) {
            total += (double)sums[j];
        }
        x += n;
        count -= n;
    }
    return total;
}

void taper_norm_merge(taper_norm *norm)
{
    taper_volume *x = &norm->x, *y = &norm->y;
    norm->spatial = x->size[0] * x->size[1] * x->size[2];
    // Drops dimensions of one element, then merges neighbours that are contiguous in both tensors.
    int64_t size[3], sx[3], sy[3];
    size_t kept = 0;
    for (size_t i = 0; i < 3; i++) {
        if (x->size[i] == 1) {
            continue;
        }
        if (kept > 0 && sx[kept - 1] == x->size[i] * x->stride[i] && sy[kept - 1] == y->size[i] * y->stride[i]) {
            size[kept - 1] *= x->size[i];
            sx[kept - 1] = x->stride[i];
            sy[kept - 1] = y->stride[i];
        } else {
            size[kept] = x->size[i];
            sx[kept] = x->stride[i];
            sy[kept] = y->stride[i];
            kept++;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        const bool used = i + kept >= 3;
        x->size[i] = y->size[i] = used ? size[i + kept - 3] : 1;
        x->stride[i] = used ? sx[i + kept - 3] : 1;
        y->stride[i] = used ? sy[i + kept - 3] : 1;
    }
}

// Adds each channel of a run of pixels to its total. The summand is x, or (x - mean)² if mean is not NULL.
static void channels_sum(taper_run *run, const float *pixel, int64_t step, int64_t count, int64_t channels,
                         const double *mean, double *totals)
{
    float part[TILE];
    float center[TILE];
    for (int64_t c = 0; mean != NULL && c < channels; c++) {
        center[c] = (float)mean[c];
    }
    while (count > 0) {
        const int64_t stretch = count < STRETCH ? count : STRETCH;
        if (!taper_run_goes_on(run, (uint64_t)(stretch * channels))) {
            return;
        }
        for (int64_t c = 0; c < channels; c++) {
            part[c] = 0.0f;
        }
        for (int64_t i = 0; i < stretch; i++, pixel += step) {
            if (mean == NULL) {
                for (int64_t c = 0; c < channels; c++) {
                    part[c] += pixel[c];
                }
            } else {
                for (int64_t c = 0; c < channels; c++) {
                    const float d = pixel[c] - center[c];
                    part[c] += d * d;
                }
            }
        }
        for (int64_t c = 0; c < channels; c++) {
            totals[c] += (double)part[c];
        }
        count -= stretch;
    }
}

// Returns Σ (x - mean)², from `squares`, which is Σ (x - m)² around the rounded mean m and is too large by count · (m -
// mean)².
static double correct(double squares, double mean, float rounded, int64_t count)
{
    const double off = mean - (double)rounded;
    const double corrected = squares - off * off * (double)count;
    return corrected >= 0.0 ? corrected : (corrected < 0.0 ? 0.0 : corrected); // keeps a NaN
}

static void planes_channels_f32(const taper_norm *norm, const float *sample, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    for (int64_t c0 = 0; c0 < x->c; c0 += TILE) {
        const int64_t n = taper_min_i64(x->c - c0, TILE);
        for (int pass = 0; pass < 2; pass++) {
            double *totals = pass == 0 ? mean + c0 : squares + c0;
            memset(totals, 0, (size_t)n * sizeof *totals);
            for (int64_t d = 0; d < x->size[0]; d++) {
                for (int64_t h = 0; h < x->size[1]; h++) {
                    channels_sum(norm->run, sample + c0 + d * x->stride[0] + h * x->stride[1], x->stride[2], x->size[2],
                                 n, pass == 0 ? NULL : mean + c0, totals);
                }
            }
            for (int64_t c = 0; c < n; c++) {
                if (pass == 0) {
                    totals[c] /= (double)norm->spatial;
                } else {
                    totals[c] = correct(totals[c], mean[c0 + c], (float)mean[c0 + c], norm->spatial);
                }
            }
        }
    }
}

static void plane_f32(const taper_norm *norm, const float *plane, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    double sum = 0.0, total = 0.0;
    for (int64_t d = 0; d < x->size[0]; d++) {
        for (int64_t h = 0; h < x->size[1]; h++) {
            sum += taper_sum_f32(norm->run, plane + d * x->stride[0] + h * x->stride[1], x->size[2]);
        }
    }
    *mean = sum / (double)norm->spatial;
    const float center = (float)*mean;
    for (int64_t d = 0; d < x->size[0]; d++) {
        for (int64_t h = 0; h < x->size[1]; h++) {
            total += taper_sum_squares_f32(norm->run, plane + d * x->stride[0] + h * x->stride[1], x->size[2], center);
        }
    }
    *squares = correct(total, *mean, center, norm->spatial);
}

// Returns true if the elements are doubles that are contiguous along a line in both tensors.
static bool are_doubles(const taper_norm *norm)
{
    return norm->dtype == TAPER_F64 && norm->x.stride[2] == 1 && norm->y.stride[2] == 1 &&
           taper_doubles_are_fast(norm->run);
}

static void plane_f64(const taper_norm *norm, const double *plane, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    double center = 0;
    for (int pass = 0; pass < 2; pass++) {
        double total = 0;
        for (int64_t d = 0; d < x->size[0]; d++) {
            for (int64_t h = 0; h < x->size[1]; h++) {
                const double *line = plane + d * x->stride[0] + h * x->stride[1];
                for (int64_t at = 0; at < x->size[2]; at += LINE) {
                    const size_t n = (size_t)taper_min_i64(LINE, x->size[2] - at);
                    if (!taper_run_goes_on(norm->run, n)) {
                        return;
                    }
                    total += pass == 0 ? taper_doubles_sum(norm->run, n, line + at)
                                       : taper_doubles_deviations(norm->run, n, line + at, center);
                }
            }
        }
        if (pass == 0) {
            center = total / (double)norm->spatial;
        }
        *squares = total;
    }
    *mean = center;
}

static void plane_any(const taper_norm *norm, int64_t base, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    double total = 0.0, center = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        total = 0.0;
        for (int64_t d = 0; d < x->size[0]; d++) {
            for (int64_t h = 0; h < x->size[1]; h++) {
                for (int64_t w = 0; w < x->size[2]; w++) {
                    if (!taper_run_step(norm->run, w, 6)) {
                        return;
                    }
                    const double v = taper_number_load(norm->dtype, norm->in,
                                                       base + d * x->stride[0] + h * x->stride[1] + w * x->stride[2]);
                    total += pass == 0 ? v : (v - center) * (v - center);
                }
            }
        }
        if (pass == 0) {
            center = total / (double)norm->spatial;
        }
    }
    *mean = center;
    *squares = total;
}

// ---- contiguous planes, on all threads

typedef struct planes_job {
    const taper_norm *norm;
    taper_reduce_vector sum;
    double *mean, *squares;
} planes_job;

static void planes_range(void *argument, size_t begin, size_t end)
{
    const planes_job *job = argument;
    const taper_volume *x = &job->norm->x;
    // SHORT: up to this many elements a kernel call takes longer than a loop. MOST: largest number of elements per
    // call, for which a mean has as small an error as in PyTorch's sums. This matters if all elements are equal,
    // because the deviations are then only the mean's error.
    enum { SHORT = 8, MOST = 512 };
    const size_t count = (size_t)x->size[2], block = taper_min_size(job->sum.block, MOST);
    for (size_t i = begin; i < end; i++) {
        const float *plane =
            (const float *)job->norm->in + (int64_t)i / x->c * x->stride_n + (int64_t)i % x->c * x->stride_c;
        double sum = 0, squares = 0;
        if (count <= SHORT) {
            for (size_t k = 0; k < count; k++) {
                sum += (double)plane[k];
            }
            job->mean[i] = sum / (double)count;
            for (size_t k = 0; k < count; k++) {
                squares += ((double)plane[k] - job->mean[i]) * ((double)plane[k] - job->mean[i]);
            }
            job->squares[i] = squares;
            continue;
        }
        for (size_t at = 0; at < count; at += block) {
            const size_t n = taper_min_size(block, count - at);
            if (!taper_reduce_vector_fold(&job->sum, &sum, plane + at, n)) {
                for (size_t k = 0; k < n; k++) { // a float cannot represent the sum, so doubles are added
                    sum += (double)plane[at + k];
                }
            }
        }
        const double mean = sum / (double)count;
        for (size_t at = 0; at < count; at += block) {
            squares += (double)job->sum.vector->deviations(taper_min_size(block, count - at), plane + at, (float)mean);
        }
        job->mean[i] = mean;
        job->squares[i] = correct(squares, mean, (float)mean, (int64_t)count);
    }
}

static taper_status planes_vector(const taper_norm *norm, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    planes_job job = {.norm = norm, .mean = mean, .squares = squares};
    if (!TAPER_MEASURES || norm->dtype != TAPER_F32 || x->size[0] != 1 || x->size[1] != 1 || x->stride[2] != 1 ||
        taper_volume_channels_inner(x) || !taper_reduce_vector_find(&job.sum, norm->run, TAPER_REDUCTION_SUM)) {
        return TAPER_DECLINED;
    }
    return taper_run_floats(norm->run, planes_range, &job, (size_t)(x->n * x->c), 2 * (double)x->size[2]);
}

taper_status taper_norm_planes(const taper_norm *norm, double *mean, double *squares)
{
    const taper_volume *x = &norm->x;
    taper_status status = planes_vector(norm, mean, squares);
    if (status == TAPER_DECLINED) {
        status = taper_norm_channels(norm, mean, squares);
    }
    if (status != TAPER_DECLINED) {
        return status;
    }
    for (int64_t n = 0; n < x->n; n++) {
        double *means = mean + n * x->c, *square = squares + n * x->c;
        if (norm->dtype == TAPER_F32 && taper_volume_channels_inner(x)) {
            planes_channels_f32(norm, (const float *)norm->in + n * x->stride_n, means, square);
            continue;
        }
        for (int64_t c = 0; c < x->c; c++) {
            const int64_t base = n * x->stride_n + c * x->stride_c;
            if (norm->dtype == TAPER_F32 && x->stride[2] == 1) {
                plane_f32(norm, (const float *)norm->in + base, &means[c], &square[c]);
            } else if (are_doubles(norm)) {
                plane_f64(norm, (const double *)norm->in + base, &means[c], &square[c]);
            } else {
                plane_any(norm, base, &means[c], &square[c]);
            }
        }
    }
    return TAPER_OK;
}

static void affine_channels_f32(const taper_norm *norm, const float *in, float *out, const float *restrict scale,
                                const float *restrict shift)
{
    const taper_volume *x = &norm->x, *y = &norm->y;
    for (int64_t d = 0; d < x->size[0]; d++) {
        for (int64_t h = 0; h < x->size[1]; h++) {
            const float *pixel = in + d * x->stride[0] + h * x->stride[1];
            float *to = out + d * y->stride[0] + h * y->stride[1];
            if (!taper_run_goes_on(norm->run, (uint64_t)(x->size[2] * x->c))) {
                return;
            }
            for (int64_t w = 0; w < x->size[2]; w++, pixel += x->stride[2], to += y->stride[2]) {
                const float *restrict p = pixel;
                float *restrict t = to;
                for (int64_t c = 0; c < x->c; c++) {
                    t[c] = p[c] * scale[c] + shift[c];
                }
            }
        }
    }
}

static void affine_plane(const taper_norm *norm, int64_t from, int64_t to, double scale, double shift)
{
    const taper_volume *x = &norm->x, *y = &norm->y;
    const int64_t a = x->stride[2], b = y->stride[2];
    const float scale_f32 = (float)scale, shift_f32 = (float)shift;
    for (int64_t d = 0; d < x->size[0]; d++) {
        for (int64_t h = 0; h < x->size[1]; h++) {
            const int64_t in_at = from + d * x->stride[0] + h * x->stride[1];
            if (!taper_run_goes_on(norm->run, (uint64_t)x->size[2] * 2 + 10)) {
                return;
            }
            const int64_t out_at = to + d * y->stride[0] + h * y->stride[1];
            if (norm->dtype == TAPER_F32) {
                const float *restrict in = (const float *)norm->in + in_at;
                float *restrict out = (float *)norm->out + out_at;
                if (a == 1 && b == 1) {
                    for (int64_t w = 0; w < x->size[2]; w++) {
                        out[w] = in[w] * scale_f32 + shift_f32;
                    }
                } else {
                    for (int64_t w = 0; w < x->size[2]; w++) {
                        out[w * b] = in[w * a] * scale_f32 + shift_f32;
                    }
                }
                continue;
            }
            if (are_doubles(norm)) {
                const double *in = (const double *)norm->in + in_at;
                taper_doubles_apply(norm->run, TAPER_NATIVE_AFFINE, (size_t)x->size[2], in, in, in,
                                    (double *)norm->out + out_at, &(taper_native_numbers){{0, scale, shift}, {0}});
                continue;
            }
            for (int64_t w = 0; w < x->size[2]; w++) {
                const double v = taper_number_load(norm->dtype, norm->in, in_at + w * a);
                taper_number_store(norm->dtype, norm->out, out_at + w * b, v * scale + shift);
            }
        }
    }
}

// Normalizes one sample by the vector kernels. Either channels are contiguous, or the planes are handled one after the
// other.
static taper_status affine_vector(taper_run *run, const taper_norm *norm, int64_t sample, const float *scale,
                                  const float *shift)
{
    const taper_volume *x = &norm->x, *y = &norm->y;
    if (run->portable || norm->dtype != TAPER_F32 || x->size[0] != 1 || x->size[1] != 1 || x->stride[2] < 0) {
        return TAPER_DECLINED;
    }
    const float *in = (const float *)norm->in + sample * x->stride_n;
    float *out = (float *)norm->out + sample * y->stride_n;
    const size_t channels = (size_t)x->c, count = (size_t)x->size[2];
    if (taper_volume_channels_inner(x) && taper_volume_channels_inner(y)) {
        return taper_rows_channels(run, count, channels, in, (size_t)x->stride[2], scale, shift, out,
                                   (size_t)y->stride[2]);
    }
    const bool whole = x->stride[2] == 1 && y->stride[2] == 1 && x->stride_c == x->size[2] && y->stride_c == y->size[2];
    return whole ? taper_rows_planes(run, channels, count, in, scale, shift, out) : TAPER_DECLINED;
}

taper_status taper_norm_affine(taper_run *run, const taper_norm *norm, const void *scale, const void *shift,
                               int64_t per_sample)
{
    const taper_volume *x = &norm->x, *y = &norm->y;
    const bool f32 = norm->dtype == TAPER_F32;
    for (int64_t n = 0; n < x->n; n++) {
        const int64_t first = n * per_sample;
        const taper_status status =
            affine_vector(run, norm, n, (const float *)scale + first, (const float *)shift + first);
        if (status == TAPER_OK) {
            continue;
        }
        if (status != TAPER_DECLINED) {
            return status;
        }
        if (f32 && taper_volume_channels_inner(x) && taper_volume_channels_inner(y)) {
            affine_channels_f32(norm, (const float *)norm->in + n * x->stride_n, (float *)norm->out + n * y->stride_n,
                                (const float *)scale + first, (const float *)shift + first);
            continue;
        }
        for (int64_t c = 0; c < x->c; c++) {
            const double a = f32 ? (double)((const float *)scale)[first + c] : ((const double *)scale)[first + c];
            const double b = f32 ? (double)((const float *)shift)[first + c] : ((const double *)shift)[first + c];
            affine_plane(norm, n * x->stride_n + c * x->stride_c, n * y->stride_n + c * y->stride_c, a, b);
        }
    }
    return TAPER_OK;
}
