// SPDX-License-Identifier: BSD-2-Clause
// Pools planes. For maxima, a vector kernel first combines the rows of a window along the whole width, and then the
// window slides over the combined row. An element is read once for each row of windows that it is in, not once for each
// window. The index of a maximum is searched when its value is known, without a branch per element. Averages add one
// element after the other, as PyTorch does, for many windows at a time.
#include "ops/nn/pool_planes.h"

#include <math.h>

#include "base/checked.h"
#include "ops/call/parallel.h"
#include "ops/engine/reduce_vector.h"
#include "ops/kernels/kernel_select.h"

// SPAN: number of columns of a piece. NEAR: largest stride for which a window is computed at every position and some
// results are dropped. FEW: largest number of taps that are compared one by one. SEARCHED: number of elements between
// two checks of a search. BLOCK: number of neighbouring windows that are added together. FEW_TAPS: largest number of
// taps of neighbouring windows that are compared one by one. WHOLE_PLANE: largest number of elements of a plane that is
// pooled as a whole. APART: number of windows at any positions that are added together.
enum { SPAN = 1024, NEAR = 4, FEW = 8, SEARCHED = 32, BLOCK = 8, FEW_TAPS = 27, WHOLE_PLANE = 1 << 18, APART = 4 };

typedef struct place {
    taper_pool_window d, h;
    const float *plane;
} place;

static inline float greater(float m, float v)
{
    return ((v > m) | (v != v)) ? v : m;
}

// ---- windows along a row

// Sets out[o] to the maximum of `taps` elements, which are `step` apart, from t[o * stride] on. If the stride
// is 1, the elements for one tap are a row of n elements, the rows of the taps overlap in memory, and fold_rows takes
// the maximum of each column. If the stride is small, fold_rows computes the windows at every position, and every
// stride-th result is used.
static void slide(const taper_pool_planes *job, size_t n, const float *t, float *out, size_t stride, size_t taps,
                  size_t step)
{
    const taper_vector_entry *v = job->vector;
    const taper_reduction kind = TAPER_REDUCTION_MOST;
    if (n == 1 && step == 1 && taps > FEW) {
        *out = v->fold[kind](taps, t);
        return;
    }
    if (stride == 1 && n != 1) {
        v->fold_rows[kind](taps, n, t, step, out);
        return;
    }
    if (stride <= NEAR && n != 1) {
        float all[SPAN];
        v->fold_rows[kind](taps, (n - 1) * stride + 1, t, step, all);
        if (stride == 2) {
            v->every_second(n, all, out);
            return;
        }
        for (size_t o = 0; o < n; o++) {
            out[o] = all[o * stride];
        }
        return;
    }
    for (size_t o = 0; o < n && step == 1 && taps > FEW; o++) {
        out[o] = v->fold[kind](taps, t + o * stride);
    }
    for (size_t o = 0; o < n && (step != 1 || taps <= FEW); o++) {
        float value = t[o * stride];
        for (size_t k = 1; k < taps; k++) {
            value = greater(value, t[o * stride + k * step]);
        }
        out[o] = value;
    }
}

// Returns the maximum of the window whose first element is *first. This loop is used if few windows are next to each
// other, because a vector would be mostly empty.
static inline float greatest_one(const taper_volume *x, const place *at, const taper_pool_window *w, const float *first)
{
    float most = *first;
    for (int64_t i = 0; i < at->d.taps; i++) {
        const float *row = first + i * at->d.step * x->stride[0];
        for (int64_t j = 0; j < at->h.taps; j++, row += at->h.step * x->stride[1]) {
            for (int64_t k = 0; k < w->taps; k++) {
                most = greater(most, row[k * w->step]);
            }
        }
    }
    return most;
}

// ---- sums of windows

// Returns the sum of the window whose first element is *first.
static inline float add_one(const taper_volume *x, const place *at, const taper_pool_window *w, const float *first)
{
    float sum = 0.0f;
    for (int64_t i = 0; i < at->d.taps; i++) {
        const float *row = first + i * at->d.step * x->stride[0];
        for (int64_t j = 0; j < at->h.taps; j++, row += at->h.step * x->stride[1]) {
            for (int64_t k = 0; k < w->taps; k++) {
                sum += row[k * w->step];
            }
        }
    }
    return sum;
}

// Adds the elements of each of `count` windows, at most BLOCK, that start `stride` elements apart.
static inline void add_some(const taper_volume *x, const place *at, const taper_pool_window *w, const float *first,
                            const size_t stride, const size_t count, float *restrict out)
{
    float sums[BLOCK] = {0.0f};
    for (int64_t i = 0; i < at->d.taps; i++) {
        const float *row = first + i * at->d.step * x->stride[0];
        for (int64_t j = 0; j < at->h.taps; j++, row += at->h.step * x->stride[1]) {
            for (int64_t k = 0; k < w->taps; k++) {
                for (size_t c = 0; c < count; c++) {
                    sums[c] += row[k * w->step + (int64_t)(c * stride)];
                }
            }
        }
    }
    for (size_t c = 0; c < count; c++) {
        out[c] = sums[c];
    }
}

// Computes the sums of APART windows of equal size, which may start anywhere. These sums are independent, so the CPU
// overlaps them.
static void add_apart(const taper_volume *x, const place *at, const taper_pool_window *w, float *restrict out)
{
    const float *const first = at->plane + at->d.first * x->stride[0] + at->h.first * x->stride[1];
    float sums[APART] = {0.0f};
    for (int64_t i = 0; i < at->d.taps; i++) {
        const float *row = first + i * at->d.step * x->stride[0];
        for (int64_t j = 0; j < at->h.taps; j++, row += at->h.step * x->stride[1]) {
            for (int64_t k = 0; k < w->taps; k++) {
                for (size_t c = 0; c < APART; c++) {
                    sums[c] += row[w[c].first + k * w->step];
                }
            }
        }
    }
    for (size_t c = 0; c < APART; c++) {
        out[c] = sums[c];
    }
}

static bool are_alike(const taper_pool_window *w)
{
    for (size_t c = 1; c < APART; c++) {
        if (w[c].taps != w->taps || w[c].step != w->step) {
            return false;
        }
    }
    return true;
}

// Calls add_some with constants, so that the compiler vectorizes its loops.
static void add_block(const taper_volume *x, const place *at, const taper_pool_window *w, const float *first,
                      size_t stride, bool half, float *out)
{
    if (stride == 1 && half) {
        add_some(x, at, w, first, 1, BLOCK / 2, out);
    } else if (stride == 1) {
        add_some(x, at, w, first, 1, BLOCK, out);
    } else if (half) {
        add_some(x, at, w, first, 2, BLOCK / 2, out);
    } else {
        add_some(x, at, w, first, 2, BLOCK, out);
    }
}

// Adds the elements of each of n windows that start `stride` elements apart.
static void add_windows(const taper_pool_planes *job, const place *at, const taper_pool_window *w, size_t n,
                        size_t stride, float *out)
{
    const taper_volume *x = &job->x;
    const float *const first = at->plane + at->d.first * x->stride[0] + at->h.first * x->stride[1] + w->first;
    const bool half = n < BLOCK;
    const size_t block = half ? BLOCK / 2 : BLOCK;
    size_t o = 0;
    for (; n < block && o + 2 <= n; o += 2) { // two independent sums, which the CPU overlaps
        add_some(x, at, w, first + o * stride, stride, 2, out + o);
    }
    for (; stride <= 2 && n >= block && o < n; o += block) {
        o = taper_min_size(o, n - block); // the last block repeats some windows
        add_block(x, at, w, first + o * stride, stride, half, out + o);
    }
    for (; o < n; o++) {
        out[o] = add_one(x, at, w, first + o * stride);
    }
}

static void divide(const taper_pool_planes *job, const place *at, const taper_pool_window *w, size_t n, float *out)
{
    if (!job->adaptive) {
        const float divisor = taper_pool_divisor(job, &at->d, &at->h, w);
        for (size_t o = 0; o < n; o++) {
            out[o] /= divisor;
        }
        return;
    }
    const float deep = (float)at->d.taps, high = (float)at->h.taps, wide = (float)w->taps;
    for (size_t o = 0; o < n; o++) {
        out[o] = out[o] / deep / high / wide;
    }
}

// ---- rows of windows

// Combines columns [from, from + count) of the window's rows into one row of maxima. Returns that row, or the input row
// itself if the window has only one row.
static const float *join_rows(const taper_pool_planes *job, const place *at, int64_t from, size_t count, float *joined)
{
    const taper_vector_entry *v = job->vector;
    const taper_volume *x = &job->x;
    const float *first = at->plane + at->d.first * x->stride[0] + at->h.first * x->stride[1] + from;
    const taper_reduction kind = TAPER_REDUCTION_MOST;
    if (at->d.taps * at->h.taps == 1) {
        return first;
    }
    for (int64_t i = 0; i < at->d.taps; i++) {
        float more[SPAN];
        v->fold_rows[kind]((size_t)at->h.taps, count, first + i * at->d.step * x->stride[0],
                           (size_t)(at->h.step * x->stride[1]), i == 0 ? joined : more);
        for (size_t c = 0; c < count && i != 0; c++) {
            joined[c] = greater(joined[c], more[c]);
        }
    }
    return joined;
}

// Returns the position within the plane of the first element equal to m, or of the last NaN if m is a NaN.
static int64_t position_of(const taper_pool_planes *job, const place *at, const taper_pool_window *w, float m)
{
    const taper_volume *x = &job->x;
    int64_t found = -1;
    for (int64_t i = 0; i < at->d.taps; i++) {
        for (int64_t j = 0; j < at->h.taps && (found < 0 || m != m); j++) {
            const int64_t d = at->d.first + i * at->d.step, h = at->h.first + j * at->h.step;
            const float *row = at->plane + d * x->stride[0] + h * x->stride[1] + w->first;
            int64_t k = -1;
            for (int64_t b = 0; b < w->taps && k < 0; b += SEARCHED) {
                for (int64_t t = taper_min_i64(b + SEARCHED, w->taps) - 1; t >= b; t--) {
                    k = row[t * w->step] == m ? t : k;
                }
            }
            for (int64_t t = 0; t < w->taps && m != m; t++) {
                k = row[t * w->step] != row[t * w->step] ? t : k;
            }
            found = k >= 0 ? (d * x->size[1] + h) * x->size[2] + w->first + k * w->step : found;
        }
    }
    return found;
}

// TOGETHER is the number of windows whose taps find_tap searches together. With a constant count and stride the
// compiler vectorizes the loop.
enum { TOGETHER = 64 };

static inline void find_tap(const float *restrict row, const size_t stride, const float *restrict m, int32_t first,
                            size_t count, int32_t *restrict at)
{
    for (size_t o = 0; o < count; o++) {
        const int32_t here = -(int32_t)(row[o * stride] == m[o]);
        at[o] ^= (at[o] ^ (first + (int32_t)(o * stride))) & here;
    }
}

static void find_tap_of(const float *row, size_t stride, const float *m, int32_t first, size_t count, int32_t *at)
{
    if (count == TOGETHER && stride == 1) {
        find_tap(row, 1, m, first, TOGETHER, at);
    } else if (count == TOGETHER && stride == 2) {
        find_tap(row, 2, m, first, TOGETHER, at);
    } else {
        find_tap(row, stride, m, first, count, at);
    }
}

// Finds the positions of the maxima of `count` equal windows, which are `stride` apart. It compares the taps from the
// last to the first, without branches, because branches would be unpredictable. A position in a plane fits into 32
// bits.
static void positions_of(const taper_pool_planes *job, const place *at, const taper_pool_window *w, int64_t stride,
                         size_t count, const float *m, int64_t *restrict indices)
{
    const taper_volume *x = &job->x;
    for (size_t done = 0, some; done < count; done += some) {
        int32_t found[TOGETHER] = {0}; // each 0 is replaced, because some tap equals the maximum
        some = taper_min_size(count - done, TOGETHER);
        const int64_t before = (int64_t)done * stride;
        for (int64_t i = at->d.taps; i-- != 0;) {
            for (int64_t j = at->h.taps; j-- != 0;) {
                const int64_t d = at->d.first + i * at->d.step, h = at->h.first + j * at->h.step;
                const float *row = at->plane + d * x->stride[0] + h * x->stride[1];
                for (int64_t t = w->first + before + w->taps * w->step; (t -= w->step) >= w->first + before;) {
                    find_tap_of(row + t, (size_t)stride, m + done, (int32_t)((d * x->size[1] + h) * x->size[2] + t),
                                some, found);
                }
            }
        }
        for (size_t o = 0; o < some; o++) {
            indices[done + o] = found[o];
        }
    }
    for (size_t o = 0; o < count; o++) {
        if (m[o] != m[o]) {
            const taper_pool_window one = {w->first + (int64_t)o * stride, w->taps, w->step, w->padded};
            indices[o] = position_of(job, at, &one, m[o]);
        }
    }
}

// Finds the windows that are completely inside the input; such windows have equal shapes.
static void find_inner(taper_pool_planes *job)
{
    const taper_pool_axis *axis = &job->pooling->axis[2];
    const int64_t reach = (axis->kernel - 1) * axis->dilation;
    job->inner = job->outer = axis->output;
    if (!axis->adaptive) {
        job->inner = taper_min_i64((axis->padding + axis->stride - 1) / axis->stride, axis->output);
        const int64_t room = axis->input - 1 - reach + axis->padding;
        job->outer =
            room < 0 ? job->inner : taper_max_i64(job->inner, taper_min_i64(room / axis->stride + 1, axis->output));
    }
}

static bool plane_fits(const taper_volume *x) // returns true if positions in the plane fit into 32 bits
{
    return x->size[0] * x->size[1] * x->size[2] <= INT32_MAX;
}

// Computes the windows of a row.
static void run_row(const taper_pool_planes *job, const place *at, float *out, int64_t *indices)
{
    const taper_pool_axis *axis = &job->pooling->axis[2];
    float joined[SPAN];
    // True if one combined row is used by all windows.
    const bool once = job->max && axis->adaptive && axis->input <= SPAN;
    const float *whole = once ? join_rows(job, at, 0, (size_t)axis->input, joined) : NULL;
    for (int64_t o = 0; o < axis->output;) {
        const taper_pool_window w = job->windows[2][o];
        int64_t count = 1;
        size_t columns = (size_t)((w.taps - 1) * w.step + 1);
        if (o >= job->inner && o < job->outer) {
            count = job->outer - o;
            count = job->max ? taper_min_i64(count, (SPAN - (int64_t)columns) / axis->stride + 1) : count;
            columns += (size_t)((count - 1) * axis->stride);
        }
        if (job->max && !once && count * at->d.taps * at->h.taps * w.taps <= FEW_TAPS) {
            const float *first = at->plane + at->d.first * job->x.stride[0] + at->h.first * job->x.stride[1] + w.first;
            for (int64_t i = 0; i < count; i++) {
                out[o + i] = greatest_one(&job->x, at, &w, first + i * axis->stride);
            }
        } else if (!job->max && axis->adaptive && axis->output - o >= APART && are_alike(&job->windows[2][o])) {
            count = APART;
            add_apart(&job->x, at, &job->windows[2][o], out + o);
            divide(job, at, &w, APART, out + o);
        } else if (job->max) {
            const float *t = once ? whole + w.first : join_rows(job, at, w.first, columns, joined);
            slide(job, (size_t)count, t, out + o, (size_t)axis->stride, (size_t)w.taps, (size_t)w.step);
        } else {
            add_windows(job, at, &w, (size_t)count, (size_t)axis->stride, out + o);
            divide(job, at, &w, (size_t)count, out + o);
        }
        if (indices != NULL && (count == 1 || !plane_fits(&job->x) || at->d.taps * at->h.taps * w.taps > 2 * FEW)) {
            taper_pool_window one = w;
            for (int64_t i = 0; i < count; i++, one.first += axis->stride) {
                indices[o + i] = position_of(job, at, &one, out[o + i]);
            }
        } else if (indices != NULL) {
            positions_of(job, at, &w, axis->stride, (size_t)count, out + o, indices + o);
        }
        o += count;
    }
}

// Computes the maxima of BLOCK windows. The first window starts at *first, and each next window `apart` elements later.
static void most_some(const taper_volume *x, const place *at, const taper_pool_window *w, const float *first,
                      size_t apart, float *restrict out)
{
    float most[BLOCK];
    for (size_t c = 0; c < BLOCK; c++) {
        most[c] = first[c * apart];
    }
    for (int64_t i = 0; i < at->d.taps; i++) {
        const float *row = first + i * at->d.step * x->stride[0];
        for (int64_t j = 0; j < at->h.taps; j++, row += at->h.step * x->stride[1]) {
            for (int64_t k = 0; k < w->taps; k++) {
                float value[BLOCK];
                for (size_t c = 0; c < BLOCK; c++) {
                    value[c] = row[k * w->step + (int64_t)(c * apart)];
                }
                for (size_t c = 0; c < BLOCK; c++) { // the loop has no branch, because a branch would be unpredictable
                    uint32_t a, b;
                    memcpy(&a, &most[c], sizeof a);
                    memcpy(&b, &value[c], sizeof b);
                    a ^= (a ^ b) & (0 - (uint32_t)((value[c] > most[c]) | (value[c] != value[c])));
                    memcpy(&most[c], &a, sizeof a);
                }
            }
        }
    }
    memcpy(out, most, sizeof most);
}

#include "ops/nn/pool_beside.h"

// Computes BLOCK rows for which are_beside is true. The rows are independent, so the CPU overlaps
// them.
static void run_beside(const taper_pool_planes *job, const place *at, int64_t h, float *out)
{
    const taper_volume *x = &job->x;
    const int64_t apart = (job->windows[1][h + 1].first - at->h.first) * x->stride[1];
    const float *const first = at->plane + at->d.first * x->stride[0] + at->h.first * x->stride[1];
    for (int64_t o = 0; o < job->pooling->axis[2].output; o++) {
        const taper_pool_window *w = &job->windows[2][o];
        float made[BLOCK];
        if (job->max) {
            most_some(x, at, w, first + w->first, (size_t)apart, made);
        } else {
            add_some(x, at, w, first + w->first, (size_t)apart, BLOCK, made);
            divide(job, at, w, BLOCK, made);
        }
        for (int64_t c = 0; c < BLOCK; c++) {
            out[c * job->y.stride[1] + o] = made[c];
        }
    }
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    const taper_pool_planes *job = argument;
    const taper_pool_axis *axis = job->pooling->axis;
    const taper_volume *x = &job->x, *y = &job->y, *to = &job->where;
    const int64_t above = (int64_t)begin / axis[1].output, plane = above / axis[0].output;
    int64_t h = (int64_t)begin % axis[1].output, d = above % axis[0].output, n = plane / x->c, c = plane % x->c;
    for (size_t i = begin; i < end; i++) {
        const place at = {
            .d = job->windows[0][d], .h = job->windows[1][h], .plane = job->in + n * x->stride_n + c * x->stride_c};
        float *const out = job->out + n * y->stride_n + c * y->stride_c + d * y->stride[0] + h * y->stride[1];
        if (end - i >= BLOCK && are_beside(job, h)) {
            run_beside(job, &at, h, out);
            i += BLOCK - 1;
            h += BLOCK - 1;
        } else {
            run_row(job, &at, out,
                    job->indices == NULL
                        ? NULL
                        : job->indices + n * to->stride_n + c * to->stride_c + d * to->stride[0] + h * to->stride[1]);
        }
        if (++h == axis[1].output) {
            h = 0;
            d = d + 1 == axis[0].output ? 0 : d + 1;
            c += d == 0;
        }
        if (c == x->c) {
            c = 0;
            n++;
        }
    }
}

// ---- planes with a result of one element

// Pools planes of one element: copies the elements. An average adds 0 to them, because its sum starts with 0, so that
// -0 becomes 0.
static void copy_range(void *argument, size_t begin, size_t end)
{
    const taper_pool_planes *job = argument;
    const float *restrict x = job->in;
    float *restrict y = job->out;
    const float zero = job->max ? -0.0f : 0.0f;
    for (size_t i = begin; i < end; i++) {
        y[i] = x[i] + zero;
    }
}

static bool are_elements(const taper_pool_planes *job)
{
    const taper_volume *x = &job->x, *y = &job->y;
    return x->size[0] * x->size[1] * x->size[2] == 1 && job->indices == NULL && job->divisor <= 1 &&
           job->divisor >= 0 && x->stride_c == 1 && y->stride_c == 1 && (x->n == 1 || x->stride_n == x->c) &&
           (y->n == 1 || y->stride_n == x->c);
}

static void whole_range(void *argument, size_t begin, size_t end)
{
    const taper_pool_planes *job = argument;
    const taper_volume *x = &job->x, *y = &job->y, *to = &job->where;
    const size_t count = (size_t)(x->size[0] * x->size[1] * x->size[2]);
    const taper_reduction kind = job->max ? TAPER_REDUCTION_MOST : TAPER_REDUCTION_SUM;
    enum { LINES = 64 };
    const bool lines = !job->max && taper_reduce_vector_has_lines(&job->adder, count, SIZE_MAX);
    float sums[LINES];
    size_t summed = begin, first = begin; // planes [first, summed) have their sums in `sums`
    int64_t n = (int64_t)begin / x->c, c = (int64_t)begin % x->c - 1;
    for (size_t i = begin; i < end; i++) {
        if (++c == x->c) {
            c = 0;
            n++;
        }
        const float *plane = job->in + n * x->stride_n + c * x->stride_c;
        float *out = job->out + n * y->stride_n + c * y->stride_c;
        double sum = 0;
        if (lines && i == summed) {
            first = i;
            summed += taper_min_size(taper_min_size(LINES, end - i), (size_t)(x->c - c));
            job->vector->fold_lines[TAPER_REDUCTION_SUM](summed - i, count, plane, (size_t)x->stride_c, sums);
        }
        const float folded = lines                                   ? sums[i - first]
                             : job->max || count <= job->adder.block ? job->vector->fold[kind](count, plane)
                                                                     : INFINITY;
        const bool all = fabsf(folded) < INFINITY;
        for (size_t at = 0; at < count && !job->max && !all; at += job->adder.block) {
            const size_t some = taper_min_size(count - at, job->adder.block);
            if (!taper_reduce_vector_fold(&job->adder, &sum, plane + at, some)) {
                for (size_t k = 0; k < some; k++) {
                    sum += (double)plane[at + k];
                }
            }
        }
        *out = job->max
                   ? folded
                   : (float)((all ? (double)folded : sum) / (job->divisor != 0 ? (double)job->divisor : (double)count));
        if (job->indices != NULL) {
            const taper_pool_axis *axis = job->pooling->axis;
            const place at = {taper_pool_window_at(&axis[0], 0), taper_pool_window_at(&axis[1], 0), plane};
            const taper_pool_window w = taper_pool_window_at(&axis[2], 0);
            job->indices[n * to->stride_n + c * to->stride_c] = position_of(job, &at, &w, *out);
        }
    }
}

// Returns true if every window is its whole plane, and the plane's elements are contiguous.
static bool is_whole(const taper_pool_planes *job)
{
    const taper_volume *x = &job->x;
    int64_t count = 1;
    for (size_t a = 3; a-- != 0;) {
        const taper_pool_axis *axis = &job->pooling->axis[a];
        const taper_pool_window w = axis->output == 1 ? taper_pool_window_at(axis, 0) : (taper_pool_window){0};
        if (w.taps != x->size[a] || w.padded != w.taps || (x->size[a] != 1 && x->stride[a] != count) ||
            (w.step != 1 && w.taps != 1)) {
            return false;
        }
        count *= x->size[a];
    }
    return count <= WHOLE_PLANE;
}

// Replaces adaptive windows that divide the input evenly by regular windows.
static taper_pooling regular(const taper_pooling *pooling)
{
    taper_pooling made = *pooling;
    for (size_t a = 0; a < 3; a++) {
        taper_pool_axis *axis = &made.axis[a];
        if (axis->adaptive && axis->output > 0 && axis->input % axis->output == 0) {
            axis->kernel = axis->stride = axis->input / axis->output;
            axis->padding = 0;
            axis->dilation = 1;
            axis->adaptive = false;
        }
    }
    return made;
}

// Computes the windows of all axes into `windows`, which has space for all of them. Returns TAPER_DECLINED if a window
// has no element or is too large.
static taper_status find_windows(taper_pool_planes *job, taper_pool_window *windows)
{
    const taper_pool_axis *axis = job->pooling->axis;
    int64_t taps = 1, widest = 1;
    for (size_t a = 0; a < 3; a++) {
        int64_t most = 0;
        job->windows[a] = windows;
        for (int64_t o = 0; o < axis[a].output; o++, windows++) {
            *windows = taper_pool_window_at(&axis[a], o);
            if (windows->taps <= 0 || windows->padded <= 0) {
                return TAPER_DECLINED;
            }
            most = taper_max_i64(most, windows->taps);
        }
        widest = a == 2 ? most : widest;
        taps = most > TAPER_LONG_WINDOW ? TAPER_LONG_WINDOW + 1 : taper_min_i64(taps * most, TAPER_LONG_WINDOW + 1);
    }
    find_inner(job);
    return (widest - 1) * (axis[2].adaptive ? 1 : axis[2].dilation) >= SPAN || taps > TAPER_LONG_WINDOW ? TAPER_DECLINED
                                                                                                        : TAPER_OK;
}

static taper_status run_rows(taper_run *run, taper_pool_planes *job)
{
    const taper_pool_axis *axis = job->pooling->axis;
    const int64_t rows = job->x.n * job->x.c * axis[0].output * axis[1].output;
    size_t bytes;
    if (rows == 0 || axis[2].output == 0) {
        return TAPER_OK;
    }
    if (!taper_mul_size((size_t)axis[0].output + (size_t)axis[1].output + (size_t)axis[2].output,
                        sizeof(taper_pool_window), &bytes)) {
        return TAPER_DECLINED;
    }
    taper_pool_window *const windows = taper_heap_alloc(run->heap, bytes);
    if (windows == NULL) {
        return TAPER_DECLINED; // memory is missing: other loops, which need none, compute the pool
    }
    taper_status status = find_windows(job, windows);
    if (status == TAPER_OK) {
        run->kernel = job->vector->name;
    }
    if (status == TAPER_OK && taper_pool_is_narrow(job)) {
        status = taper_pool_narrow_run(run, job);
    } else if (status == TAPER_OK) {
        const int64_t taps = job->windows[0]->taps * job->windows[1]->taps * job->windows[2]->taps;
        status = taper_run_floats(run, rows_range, job, (size_t)rows,
                                  (double)axis[2].output * (double)(taps * (job->indices != NULL ? 2 : 1) + 2));
    }
    taper_heap_free(run->heap, windows, bytes);
    return status;
}

taper_status taper_pool_planes_run(taper_run *run, const taper_pool_planes *given)
{
    const taper_pooling pooling = regular(given->pooling);
    taper_pool_planes job = *given;
    // PyTorch allows any stride for a dimension with one element. The loops compute the address after the last row, so
    // they do not accept strides that are very large.
    const bool far = ((uint64_t)job.x.stride[0] | (uint64_t)job.x.stride[1]) >> 28 != 0;
    if (!TAPER_REDUCES || run->portable || far || job.x.stride[2] != 1 || job.y.stride[2] != 1 ||
        (job.indices != NULL && job.where.stride[2] != 1)) {
        return TAPER_DECLINED;
    }
    const taper_vector_entry *v = taper_vector_f32_select(run->cpu);
    job.pooling = &pooling;
    job.vector = v;
    // True if the plane has too few elements to fill a vector.
    const bool few = job.max && job.x.size[0] * job.x.size[1] * job.x.size[2] <= FEW_TAPS;
    if (is_whole(&job) && are_elements(&job)) {
        return taper_run_floats(run, copy_range, &job, (size_t)(job.x.n * job.x.c), 1);
    }
    if (!few && is_whole(&job) && taper_reduce_vector_find(&job.adder, run, TAPER_REDUCTION_SUM)) {
        run->kernel = v->name;
        const double floats = (double)(job.x.size[0] * job.x.size[1] * job.x.size[2]);
        return taper_run_floats(run, whole_range, &job, (size_t)(job.x.n * job.x.c),
                                floats * (job.indices != NULL ? 2 : 1));
    }
    return run_rows(run, &job);
}
