// SPDX-License-Identifier: BSD-2-Clause
// Histograms of points in any number of dimensions (histogram has one dimension). Bins are given by their edges, or by
// a count and a range. For a range the bin of a point is computed first, and then corrected by the neighbouring edges.
#include <math.h>

#include "base/half.h"
#include "base/single.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/create.h"

// The arguments of a histogram. The histogram has a dimension for each coordinate of a point, so points have at most
// TAPER_MAX_RANK coordinates.
typedef struct histogram {
    taper_tensor *points;  // points, contiguous rows of `count` numbers; owned
    taper_tensor *weights; // weights, contiguous, one number per point, or NULL for ones; owned
    size_t count;
    int64_t rows;
    taper_tensor *edges[TAPER_MAX_RANK]; // edges of each dimension, contiguous; owned
    bool even;                           // true if the edges are evenly spaced
    bool density;
} histogram;

static void histogram_end(histogram *h)
{
    taper_tensor_drop(h->points);
    taper_tensor_drop(h->weights);
    for (size_t d = 0; d < TAPER_MAX_RANK; d++) {
        taper_tensor_drop(h->edges[d]);
    }
}

// Reads the points and weights. If `flat` is set, each element is a point.
static taper_status arg_points(const taper_call *call, histogram *h, bool flat, size_t weight_at, size_t density_at)
{
    taper_run *run = call->run;
    taper_error *error = run->error;
    taper_tensor *x, *weights;
    memset(h, 0, sizeof *h);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor_or_none(call, weight_at, &weights));
    TAPER_TRY(taper_arg_bool(call, density_at, &h->density));
    if (x->dtype != TAPER_F32 && x->dtype != TAPER_F64 && x->dtype != TAPER_BF16) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "\"histogramdd\" not implemented for '%s'",
                          taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    if (!flat && x->rank < 2) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "input tensor should have at least 2 dimensions");
    }
    const int64_t width = flat ? 1 : x->sizes[x->rank - 1];
    if (width > TAPER_MAX_RANK) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "a histogram of %lld dimensions, more than %d",
                          (long long)width, TAPER_MAX_RANK);
    }
    h->count = (size_t)width;
    h->rows = flat ? taper_tensor_numel(x) : 1;
    for (size_t d = 0; d + 1 < x->rank && !flat; d++) {
        h->rows *= x->sizes[d];
    }
    if (weights != NULL) {
        bool fits = flat ? taper_tensor_numel(weights) == h->rows : weights->rank + 1 == x->rank;
        for (size_t d = 0; d + 1 < x->rank && fits && !flat; d++) {
            fits = weights->sizes[d] == x->sizes[d];
        }
        if (!fits || weights->dtype != x->dtype) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "argument 'weight': expected the input's dtype, and its sizes without the innermost");
        }
        TAPER_TRY(taper_run_contiguous(run, weights, &h->weights));
    }
    return taper_run_contiguous(run, x, &h->points);
}

static double at(const taper_tensor *x, int64_t index)
{
    return taper_load_double((taper_dtype)x->dtype, taper_tensor_data(x), index);
}

// ---- edges of bins

static taper_status no_bins(const taper_call *call, size_t d)
{
    return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "bins must be > 0 for dimension %zu", d);
}

static taper_status given_edges(const taper_call *call, histogram *h, size_t d, taper_tensor *edges)
{
    if (edges->dtype != h->points->dtype || edges->rank != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "argument 'bins': edges %zu are not one-dimensional or not of the input's dtype", d);
    }
    if (edges->sizes[0] < 2) {
        return no_bins(call, d);
    }
    return taper_view_clone(call->run, edges, TAPER_FORMAT_CONTIGUOUS, &h->edges[d]);
}

static float bf16(float x)
{
    return taper_bf16_to_float(taper_float_to_bf16(x));
}

// Finds the smallest and the largest coordinate of dimension d. Both are NaN if a coordinate is NaN.
static void extremes(taper_run *run, const histogram *h, size_t d, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t row = 0; row < h->rows && taper_run_step(run, row, 5); row++) {
        const double x = at(h->points, row * (int64_t)h->count + (int64_t)d);
        *low = x < *low || x != x ? x : *low;
        *high = x > *high || x != x ? x : *high;
        if (x != x) {
            return;
        }
    }
}

static taper_status even_edges(const taper_call *call, histogram *h, size_t d, int64_t bins, const double *range)
{
    taper_error *error = call->run->error;
    const taper_dtype dtype = (taper_dtype)h->points->dtype;
    double low = 0, high = 1;
    if (bins <= 0 || bins == INT64_MAX) {
        return no_bins(call, d);
    }
    if (range != NULL) {
        low = taper_step(dtype == TAPER_F32, range[0]);
        high = taper_step(dtype == TAPER_F32, range[1]);
    } else if (dtype == TAPER_BF16) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED,
                          "\"histogramdd\" not implemented for 'BFloat16' without a range");
    } else if (h->rows != 0) {
        extremes(call->run, h, d, &low, &high);
    }
    if (!isfinite(low) || !isfinite(high)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "dimension %zu's range [%g, %g] is not finite", d, low, high);
    }
    if (low > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "min should not exceed max, but got min %g max %g for dimension %zu", low, high, d);
    }
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    const int64_t steps = bins + 1;
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, 1, &steps, NULL, &h->edges[d], error));
    void *data = taper_tensor_mutable(h->edges[d]);
    for (int64_t i = 0; i < steps && taper_run_step(call->run, i, 20); i++) {
        if (dtype == TAPER_F32) { // edges are computed from both ends as in linspace, with fused multiply-add
            const float a = (float)low, b = (float)high, step = (b - a) / (float)bins;
            ((float *)data)[i] = i < steps / 2 ? fmaf(step, (float)i, a) : fmaf(-step, (float)(bins - i), b);
        } else if (dtype == TAPER_BF16) {
            const float a = bf16((float)low), b = bf16((float)high), step = bf16(bf16(b - a) / bf16((float)bins));
            const float here =
                i < steps / 2 ? a + bf16(step * bf16((float)i)) : b - bf16(step * bf16((float)(bins - i)));
            taper_put_double(dtype, data, i, (double)here);
        } else {
            const double step = (high - low) / (double)bins;
            ((double *)data)[i] = i < steps / 2 ? fma(step, (double)i, low) : fma(-step, (double)(bins - i), high);
        }
    }
    h->even = true;
    return TAPER_OK;
}

// Makes the edges from counts of bins. range_at is the position of the argument float[]? with pairs of bounds.
static taper_status counted_edges(const taper_call *call, histogram *h, const int64_t *bins, size_t bin_count,
                                  size_t range_at)
{
    double range[2 * TAPER_MAX_RANK];
    size_t range_count = 2 * h->count;
    const bool ranged = !taper_arg_is_none(call, range_at);
    if (ranged) {
        TAPER_TRY(taper_arg_doubles(call, range_at, 2 * TAPER_MAX_RANK, range, &range_count));
    }
    if (range_count != 2 * h->count || bin_count != h->count) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "a %zu-dimensional histogram wants %zu bins and %zu numbers of range, not %zu and %zu",
                          h->count, h->count, 2 * h->count, bin_count, range_count);
    }
    for (size_t d = 0; d < h->count; d++) {
        TAPER_TRY(even_edges(call, h, d, bins[d], ranged ? range + 2 * d : NULL));
    }
    return TAPER_OK;
}

static taper_status listed_edges(const taper_call *call, histogram *h, size_t bins_at)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, bins_at, &list));
    if (list->count != h->count) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "expected %zu sequences of bin edges for a %zu-dimensional histogram but got %zu", h->count,
                          h->count, list->count);
    }
    for (size_t d = 0; d < h->count; d++) {
        taper_tensor *edges;
        TAPER_TRY(taper_arg_tensor_item(call, bins_at, d, false, &edges));
        TAPER_TRY(given_edges(call, h, d, edges));
    }
    return TAPER_OK;
}

// ---- counting points in bins

// Returns the number of edges in [first, last) that are not above x, plus first. The edges ascend.
static int64_t upper_bound(const taper_tensor *edges, int64_t first, int64_t last, double x)
{
    int64_t length = last - first;
    while (length > 0) {
        const int64_t half = length / 2;
        if (x < at(edges, first + half)) {
            length = half;
        } else {
            first += half + 1;
            length -= half + 1;
        }
    }
    return first;
}

// Returns the bin of x along dimension d, or -1 if x is outside.
static int64_t bin_of(const histogram *h, size_t d, double x)
{
    const taper_tensor *edges = h->edges[d];
    const int64_t count = edges->sizes[0];
    const double low = at(edges, 0), high = at(edges, count - 1);
    if (x < low || high < x ||
        (h->even && x != x)) { // a NaN sorts above all given edges; for evenly spaced edges PyTorch has no bin for it
        return -1;
    }
    int64_t first = 0, last = count;
    if (h->even) {
        const double place = edges->dtype == TAPER_F32
                                 ? (double)(((float)x - (float)low) / ((float)high - (float)low) * (float)(count - 1))
                                 : (x - low) / (high - low) * (double)(count - 1);
        // `place` may overflow for a huge range; the guess is then 0.
        const int64_t guess = place >= 0 && place < (double)count ? (int64_t)place : 0;
        first = taper_max_i64(0, guess - 1);
        last = taper_min_i64(guess + 2, count);
    }
    const int64_t bin = upper_bound(edges, first, last, x) - 1;
    return bin == count - 1 ? bin - 1 : bin;
}

static void divide(taper_run *run, const histogram *h, taper_tensor *hist)
{
    const taper_dtype dtype = (taper_dtype)hist->dtype;
    void *data = taper_tensor_mutable(hist);
    const int64_t cells = taper_tensor_numel(hist);
    double sum = 0;
    for (int64_t i = 0; i < cells && taper_run_step(run, i, 5); i++) {
        sum += taper_load_double(dtype, data, i);
    }
    for (int64_t i = 0; i < cells && taper_run_step(run, i, 60); i++) {
        double value = taper_load_double(dtype, data, i) / sum;
        int64_t rest = i;
        for (size_t d = h->count; d-- > 0;) {
            const int64_t bin = rest % hist->sizes[d];
            rest /= hist->sizes[d];
            value /= at(h->edges[d], bin + 1) - at(h->edges[d], bin);
        }
        taper_put_double(dtype, data, i, value);
    }
}

#include "ops/tensor/histogram_floats.h"

static taper_status count_points(taper_run *run, const histogram *h, taper_tensor **hist)
{
    int64_t sizes[TAPER_MAX_RANK];
    for (size_t d = 0; d < h->count; d++) {
        sizes[d] = h->edges[d]->sizes[0] - 1;
    }
    TAPER_TRY(taper_run_zeros(run, (taper_dtype)h->points->dtype, h->count, sizes, hist));
    const taper_dtype dtype = (taper_dtype)(*hist)->dtype;
    void *data = taper_tensor_mutable(*hist);
    const bool floats = are_floats(h, dtype);
    if (floats) {
        count_floats(run, h, data);
    }
    for (int64_t row = 0; row < h->rows && !floats && h->count != 0 && taper_run_step(run, row, 100 * h->count);
         row++) {
        int64_t cell = 0, bin = 0;
        for (size_t d = 0; d < h->count && bin >= 0; d++) {
            bin = bin_of(h, d, at(h->points, row * (int64_t)h->count + (int64_t)d));
            cell = cell * sizes[d] + bin;
        }
        if (bin >= 0) {
            const double weight = h->weights != NULL ? at(h->weights, row) : 1;
            taper_put_double(dtype, data, cell, taper_load_double(dtype, data, cell) + weight);
        }
    }
    if (h->density) {
        divide(run, h, *hist);
    }
    return TAPER_OK;
}

// ---- the operators for histograms

static taper_status ret_hist(taper_call *call, const histogram *h)
{
    taper_tensor *hist;
    const taper_tensor *target = taper_ret_target(call, 0);
    if (target != NULL && target->dtype != h->points->dtype) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "the hist tensor must have the input's dtype");
    }
    TAPER_TRY(count_points(call->run, h, &hist));
    return taper_ret_tensor(call, 0, hist);
}

// Sets result `ret` to the edges, as a list of tensors.
static taper_status ret_edges(taper_call *call, size_t ret, const histogram *h)
{
    taper_list *list;
    TAPER_TRY(taper_ret_tensor_list(call, ret, h->count, &list));
    for (size_t d = 0; d < h->count; d++) {
        taper_obj_retain(&h->edges[d]->head);
        TAPER_TRY(taper_tensor_list_add(call, list, h->edges[d]));
    }
    return TAPER_OK;
}

static taper_status ret_pair(taper_call *call, const histogram *h)
{
    TAPER_TRY(ret_hist(call, h));
    taper_obj_retain(&h->edges[0]->head);
    return taper_ret_tensor(call, 1, h->edges[0]);
}

// Reads (self, bins, *, weight, density), where bins contains the edges, and sets both results.
TAPER_KERNEL(taper_op_histogram_edges)
{
    histogram h;
    taper_tensor *bins;
    TAPER_TRY(taper_arg_tensor(call, 1, &bins));
    taper_status status = arg_points(call, &h, true, 2, 3);
    status = status == TAPER_OK ? given_edges(call, &h, 0, bins) : status;
    status = status == TAPER_OK ? ret_pair(call, &h) : status;
    histogram_end(&h);
    return status;
}

// Reads (self, bins, *, range, weight, density), where bins is the number of bins, and sets both results.
TAPER_KERNEL(taper_op_histogram_count)
{
    histogram h;
    int64_t bins;
    TAPER_TRY(taper_arg_int(call, 1, &bins));
    taper_status status = arg_points(call, &h, true, 3, 4);
    status = status == TAPER_OK ? counted_edges(call, &h, &bins, 1, 2) : status;
    status = status == TAPER_OK ? ret_pair(call, &h) : status;
    histogram_end(&h);
    return status;
}

typedef enum wanted { HIST = 1, EDGES = 2, BOTH = 3 } wanted;

static taper_status ret_wanted(taper_call *call, const histogram *h, wanted what)
{
    if ((what & HIST) != 0) {
        TAPER_TRY(ret_hist(call, h));
    }
    return (what & EDGES) != 0 ? ret_edges(call, what == BOTH ? 1 : 0, h) : TAPER_OK;
}

// Reads (self, int[] bins, range, weight, density) and sets the wanted result.
static taper_status by_counts(taper_call *call, wanted what)
{
    histogram h;
    int64_t bins[TAPER_MAX_RANK];
    size_t bin_count;
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, bins, &bin_count));
    taper_status status = arg_points(call, &h, false, 3, 4);
    status = status == TAPER_OK ? counted_edges(call, &h, bins, bin_count, 2) : status;
    status = status == TAPER_OK ? ret_wanted(call, &h, what) : status;
    histogram_end(&h);
    return status;
}

TAPER_KERNEL(taper_op_histogramdd_counts)
{
    return by_counts(call, BOTH);
}
TAPER_KERNEL(taper_op_histogramdd_from_counts)
{
    return by_counts(call, HIST);
}
TAPER_KERNEL(taper_op_histogramdd_bin_edges)
{
    return by_counts(call, EDGES);
}

// Reads (self, int bins, range, weight, density); each dimension has that number of bins.
TAPER_KERNEL(taper_op_histogramdd_count)
{
    histogram h;
    int64_t one, bins[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_int(call, 1, &one));
    for (size_t d = 0; d < TAPER_MAX_RANK; d++) {
        bins[d] = one;
    }
    taper_status status = arg_points(call, &h, false, 3, 4);
    status = status == TAPER_OK ? counted_edges(call, &h, bins, h.count, 2) : status;
    status = status == TAPER_OK ? ret_wanted(call, &h, BOTH) : status;
    histogram_end(&h);
    return status;
}

static taper_status by_edges(taper_call *call, wanted what, size_t weight_at)
{
    histogram h;
    taper_status status = arg_points(call, &h, false, weight_at, weight_at + 1);
    status = status == TAPER_OK ? listed_edges(call, &h, 1) : status;
    status = status == TAPER_OK ? ret_wanted(call, &h, what) : status;
    histogram_end(&h);
    return status;
}

TAPER_KERNEL(taper_op_histogramdd_edges)
{
    return by_edges(call, BOTH, 3);
}
TAPER_KERNEL(taper_op_histogramdd_from_edges)
{
    return by_edges(call, HIST, 2);
}
