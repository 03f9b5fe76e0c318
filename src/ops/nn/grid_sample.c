// SPDX-License-Identifier: BSD-2-Clause
// grid_sampler: reads an image at the positions of a grid. affine_grid.c makes such grids.
#include <math.h>

#include "base/single.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/volume.h"

enum { BILINEAR, NEAREST, BICUBIC }; // values of interpolation_mode
enum { ZEROS, BORDER, REFLECTION };  // values of padding_mode
enum { MOST_TAPS = 16 };

typedef struct grid_work {
    taper_volume x, y;
    int64_t grid_strides[5]; // strides for N, D, H, W and the coordinate, in elements
    const void *in, *grid;
    void *out;
    taper_dtype dtype;
    int64_t mode, padding;
    bool align_corners, volume, single, planes;
} grid_work;

// The inputs that one output position reads: their weights, and their offsets in elements from the sample's first
// channel. An offset of -1 is outside the image and counts as 0.
typedef struct grid_taps {
    int64_t count;
    int64_t offset[MOST_TAPS];
    double weight[MOST_TAPS];
} grid_taps;

// Rounds the result of one step of arithmetic to the tensor's precision.
static inline double step(const grid_work *work, double value)
{
    return taper_step(work->single, value);
}

// Converts a coordinate in [-1, 1] to an input position. PyTorch rounds differently for images and volumes, so this
// function does too.
static double unnormalize(const grid_work *work, double x, int64_t size)
{
    const double n = (double)size;
    if (!work->volume) {
        const double half = step(work, (work->align_corners ? n - 1.0 : n) / 2.0);
        const double scaled = step(work, step(work, x + 1.0) * half);
        return work->align_corners ? scaled : step(work, scaled - 0.5);
    }
    if (work->align_corners) {
        return step(work, step(work, x + 1.0) / 2.0 * (n - 1.0));
    }
    return step(work, step(work, step(work, x + 1.0) * n) - 1.0) / 2.0;
}

static double reflect(const grid_work *work, double x, int64_t size)
{
    const double low = work->align_corners ? 0.0 : -0.5, span = work->align_corners ? (double)size - 1.0 : (double)size;
    if (span <= 0.0) {
        return 0.0;
    }
    const double away = fabs(step(work, x - low));
    if (work->volume) {
        const double extra = fmod(away, span), flips = floor(step(work, away / span));
        // PyTorch keeps the number of reflections in an int. A number that overflows the int counts as even.
        const bool even = fmod(flips, 2.0) == 0.0 || !(flips < 2147483648.0);
        return even ? step(work, extra + low) : step(work, step(work, span - extra) + low);
    }
    const double twice = 2.0 * span;
    const double flips = trunc(step(work, away / twice));
    const double extra = step(work, away - step(work, flips * twice));
    const double other = step(work, twice - extra);
    return step(work, (extra < other ? extra : other) + low);
}

// Applies the padding mode to a position. If the mode clips, a NaN becomes 0 in an image and the last position in a
// volume.
static double place(const grid_work *work, double x, int64_t size)
{
    if (work->padding == ZEROS) {
        return x;
    }
    if (work->padding == REFLECTION) {
        x = reflect(work, x, size);
    }
    const double last = (double)(size - 1);
    if (work->volume && x != x) {
        return last;
    }
    return x > 0.0 ? (x < last ? x : last) : 0.0;
}

// Returns the position as an index, or -1 if it is outside the image.
static int64_t index_of(double x, int64_t size)
{
    return x >= 0.0 && x <= (double)(size - 1) ? (int64_t)x : -1;
}

static void add_tap(grid_taps *taps, double weight, const taper_volume *x, int64_t d, int64_t h, int64_t w)
{
    taps->weight[taps->count] = weight;
    taps->offset[taps->count] = d < 0 || h < 0 || w < 0 ? -1 : d * x->stride[0] + h * x->stride[1] + w * x->stride[2];
    taps->count++;
}

static void cubic(const grid_work *work, double t, double weights[4])
{
    const double a = -0.75;
    const double near[2] = {t, step(work, 1.0 - t)};
    for (int i = 0; i < 2; i++) {
        const double x = near[i], y = step(work, x + 1.0);
        weights[1 + i] = step(work, ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0);
        weights[3 * i] = step(work, ((a * y - 5.0 * a) * y + 8.0 * a) * y - 4.0 * a);
    }
}

static void find_taps(const grid_work *work, double px, double py, double pz, grid_taps *taps)
{
    const taper_volume *v = &work->x;
    taps->count = 0;
    double x = unnormalize(work, px, v->size[2]), y = unnormalize(work, py, v->size[1]), z = 0.0;
    if (work->mode == BICUBIC) {
        double wx[4], wy[4];
        const double fx = floor(x), fy = floor(y);
        cubic(work, step(work, x - fx), wx);
        cubic(work, step(work, y - fy), wy);
        for (int j = 0; j < 4; j++) {
            const int64_t h = index_of(place(work, step(work, fy + (double)(j - 1)), v->size[1]), v->size[1]);
            for (int i = 0; i < 4; i++) {
                const int64_t w = index_of(place(work, step(work, fx + (double)(i - 1)), v->size[2]), v->size[2]);
                add_tap(taps, wx[i] * wy[j], v, 0, h, w);
            }
        }
        return;
    }
    x = place(work, x, v->size[2]);
    y = place(work, y, v->size[1]);
    if (work->volume) {
        z = place(work, unnormalize(work, pz, v->size[0]), v->size[0]);
    }
    if (work->mode == NEAREST) {
        add_tap(taps, 1.0, v, index_of(rint(z), v->size[0]), index_of(rint(y), v->size[1]),
                index_of(rint(x), v->size[2]));
        return;
    }
    const double fx = floor(x), fy = floor(y), fz = floor(z);
    const double ax = step(work, x - fx), ay = step(work, y - fy), az = step(work, z - fz);
    const double wx[2] = {step(work, 1.0 - ax), ax}, wy[2] = {step(work, 1.0 - ay), ay},
                 wz[2] = {step(work, 1.0 - az), az};
    for (int k = 0; k < (work->volume ? 2 : 1); k++) {
        const int64_t d = work->volume ? index_of(fz + (double)k, v->size[0]) : 0;
        for (int j = 0; j < 2; j++) {
            const int64_t h = index_of(fy + (double)j, v->size[1]);
            for (int i = 0; i < 2; i++) {
                const int64_t w = index_of(fx + (double)i, v->size[2]);
                const double weight = step(work, wx[i] * wy[j]);
                add_tap(taps, work->volume ? step(work, weight * wz[k]) : weight, v, d, h, w);
            }
        }
    }
}

// Removes taps outside the image. Returns true if the sum must be NaN, because in an image a removed tap has a weight
// that is not finite.
static bool drop_outside(const grid_work *work, grid_taps *taps)
{
    int64_t kept = 0;
    bool spoiled = false;
    for (int64_t t = 0; t < taps->count; t++) {
        if (taps->offset[t] < 0) {
            spoiled = spoiled || (!work->volume && work->mode != NEAREST && !isfinite(taps->weight[t]));
            continue;
        }
        taps->offset[kept] = taps->offset[t];
        taps->weight[kept++] = taps->weight[t];
    }
    taps->count = kept;
    return spoiled;
}

static void sample(const grid_work *work, const grid_taps *taps, bool spoiled, int64_t in_at, int64_t out_at)
{
    const taper_volume *x = &work->x, *y = &work->y;
    if (work->dtype != TAPER_F32) {
        for (int64_t c = 0; c < x->c; c++) {
            double sum = spoiled ? (double)NAN : 0.0;
            for (int64_t t = 0; t < taps->count; t++) {
                sum += taper_number_load(work->dtype, work->in, in_at + c * x->stride_c + taps->offset[t]) *
                       taps->weight[t];
            }
            taper_number_store(work->dtype, work->out, out_at + c * y->stride_c, sum);
        }
        return;
    }
    const float *in = (const float *)work->in + in_at;
    float *out = (float *)work->out + out_at;
    if (taper_volume_channels_inner(x) && taper_volume_channels_inner(y)) {
        for (int64_t c = 0; c < x->c; c++) {
            out[c] = spoiled ? NAN : 0.0f;
        }
        for (int64_t t = 0; t < taps->count; t++) {
            const float *restrict from = in + taps->offset[t];
            float *restrict to = out;
            const float weight = (float)taps->weight[t];
            for (int64_t c = 0; c < x->c; c++) {
                to[c] += from[c] * weight;
            }
        }
        return;
    }
    for (int64_t c = 0; c < x->c; c++) {
        float sum = spoiled ? NAN : 0.0f;
        for (int64_t t = 0; t < taps->count; t++) {
            sum += in[c * x->stride_c + taps->offset[t]] * (float)taps->weight[t];
        }
        out[c * y->stride_c] = sum;
    }
}

static void sample_at(const grid_work *work, int64_t n, int64_t d, int64_t h, int64_t w)
{
    const taper_volume *y = &work->y;
    const int64_t *strides = work->grid_strides;
    const int64_t at = n * strides[0] + d * strides[1] + h * strides[2] + w * strides[3];
    double position[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < (work->volume ? 3 : 2); i++) {
        position[i] = taper_number_load(work->dtype, work->grid, at + i * strides[4]);
    }
    grid_taps taps;
    find_taps(work, position[0], position[1], position[2], &taps);
    const bool spoiled = drop_outside(work, &taps);
    sample(work, &taps, spoiled, n * work->x.stride_n,
           n * y->stride_n + d * y->stride[0] + h * y->stride[1] + w * y->stride[2]);
}

// ---- planes of floats, many positions at a time

enum { POSITIONS = 64 };

#include "ops/nn/grid_sample_planes.h"

static void positions_range(void *argument, size_t begin, size_t end)
{
    const grid_work *work = argument;
    const int64_t *size = work->y.size;
    int64_t count;
    for (int64_t at = (int64_t)begin; at < (int64_t)end; at += count) {
        const int64_t w = at % size[2], line = at / size[2], h = line % size[1], d = line / size[1] % size[0];
        count = taper_min_i64(taper_min_i64((int64_t)end - at, size[2] - w), POSITIONS);
        if (work->planes) {
            sample_planes(work, line / size[1] / size[0], d, h, w, count);
            continue;
        }
        for (int64_t p = 0; p < count; p++) {
            sample_at(work, line / size[1] / size[0], d, h, w + p);
        }
    }
}

static taper_status run_grid(taper_run *run, grid_work *work)
{
    taper_volume *y = &work->y;
    int64_t *strides = work->grid_strides;
    for (int d = 1; d >= 0; d--) { // merges dimensions that are contiguous with each other
        if ((d == 1 || y->size[1] == 1) && y->stride[d] == y->size[2] * y->stride[2] &&
            strides[d + 1] == y->size[2] * strides[3]) {
            y->size[2] *= y->size[d];
            y->size[d] = 1;
        }
    }
    work->planes = !run->portable && has_planes(work);
    // The product cannot overflow, because it is at most the number of elements of the result.
    const int64_t positions = y->n * y->size[0] * y->size[1] * y->size[2];
    const double each = (double)work->x.c * (work->mode == BICUBIC ? 32 : work->volume ? 16 : 8) + 100;
    return taper_run_range(run, positions_range, work, (size_t)positions, POSITIONS, (double)positions * each / 4);
}

TAPER_KERNEL(taper_op_grid_sampler)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *grid, *y;
    grid_work work;
    memset(&work, 0, sizeof work);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &grid));
    TAPER_TRY(taper_arg_int(call, 2, &work.mode));
    TAPER_TRY(taper_arg_int(call, 3, &work.padding));
    TAPER_TRY(taper_arg_bool(call, 4, &work.align_corners));
    if ((x->rank != 4 && x->rank != 5) || grid->rank != x->rank) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the input and the grid must both have 4 or 5 dimensions, but have %u and %u", (unsigned)x->rank,
                   (unsigned)grid->rank);
    }
    const size_t spatial = x->rank - 2u;
    TAPER_TRY(taper_volume_check(call, x, spatial, false));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (!taper_dtype_is_float(dtype) || grid->dtype != x->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the input and the grid must be floating-point tensors of the same dtype");
    }
    if (grid->sizes[0] != x->sizes[0] || grid->sizes[spatial + 1] != (int64_t)spatial) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the grid must have the batch size of the input and %zu coordinates per position", spatial);
    }
    if (work.mode < BILINEAR || work.mode > BICUBIC || work.padding < ZEROS || work.padding > REFLECTION) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no such interpolation or padding mode: %lld, %lld",
                   (long long)work.mode, (long long)work.padding);
    }
    if (spatial == 3 && work.mode == BICUBIC) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "bicubic interpolation needs an input of 4 dimensions");
    }
    int64_t size[3] = {1, 1, 1};
    for (size_t i = 0; i < spatial; i++) {
        size[3 - spatial + i] = grid->sizes[1 + i];
    }
    TAPER_TRY(taper_volume_result(call, 0, x, dtype, spatial, size, false, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    work.x = taper_volume_of(x, spatial);
    work.y = taper_volume_of(y, spatial);
    work.volume = spatial == 3;
    work.dtype = dtype;
    work.single = dtype != TAPER_F64;
    work.grid_strides[0] = grid->strides[0];
    for (size_t i = 0; i <= spatial; i++) {
        work.grid_strides[4 - spatial + i] = grid->strides[1 + i];
    }
    work.in = taper_tensor_data(x);
    work.grid = taper_tensor_data(grid);
    work.out = taper_tensor_mutable(y);
    return run_grid(call->run, &work);
}
