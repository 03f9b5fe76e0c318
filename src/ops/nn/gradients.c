// SPDX-License-Identifier: BSD-2-Clause
// The gradient operators among PyTorch's core operators, for programs that train or compute saliency. They compute in
// doubles, element by element, and are not optimized for speed.
#include <math.h>

#include "base/checked.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/engine/volume.h"

// largest number of inputs; number of inputs that may not be None: all but the weights
enum { MOST_INPUTS = 5, NEEDED = 4 };

// The contiguous inputs of a gradient operator.
typedef struct gradient {
    taper_call *call;
    taper_tensor *in[MOST_INPUTS]; // owned tensors; NULL for None
} gradient;

// Reads the call's tensor arguments at these positions. The function `end` releases them.
static taper_status begin(gradient *g, taper_call *call, size_t count, const uint8_t *positions)
{
    memset(g, 0, sizeof *g);
    g->call = call;
    for (size_t i = 0; i < count; i++) {
        taper_tensor *x;
        TAPER_TRY(i < NEEDED ? taper_arg_tensor(call, positions[i], &x)
                             : taper_arg_tensor_or_none(call, positions[i], &x));
        if (x != NULL) {
            TAPER_TRY(taper_run_contiguous(call->run, x, &g->in[i]));
        }
    }
    return TAPER_OK;
}

static taper_status end(gradient *g, taper_status status)
{
    for (size_t i = 0; i < MOST_INPUTS; i++) {
        taper_tensor_drop(g->in[i]);
    }
    return status;
}

static double at(const taper_tensor *x, int64_t i)
{
    return taper_number_load((taper_dtype)x->dtype, taper_tensor_data(x), i);
}

static taper_status sums_of(const gradient *g, int64_t count, double **sums)
{
    size_t bytes;
    if (!taper_mul_size((size_t)count, sizeof **sums, &bytes)) {
        return taper_fail_memory(g->call->run->error);
    }
    *sums = taper_heap_alloc(g->call->run->heap, bytes + 1);
    if (*sums == NULL) {
        return taper_fail_memory(g->call->run->error);
    }
    memset(*sums, 0, bytes);
    return TAPER_OK;
}

// Writes the sums to result `to`, and frees them.
static taper_status give(const gradient *g, size_t to, taper_dtype dtype, size_t rank, const int64_t *sizes,
                         double *sums)
{
    taper_tensor *y;
    taper_run *run = g->call->run;
    taper_status status = taper_ret_new(g->call, to, dtype, rank, sizes, NULL, &y);
    int64_t count = 1;
    for (size_t d = 0; d < rank; d++) {
        count *= sizes[d];
    }
    for (int64_t i = 0; status == TAPER_OK && i < count && taper_run_step(run, i, 10); i++) {
        taper_number_store(dtype, taper_tensor_mutable(y), i, sums[i]);
    }
    taper_heap_free(run->heap, sums, (size_t)count * sizeof *sums + 1);
    return status;
}

static taper_status refuse(const gradient *g, const char *what)
{
    return taper_fail(g->call->run->error, TAPER_ERROR_ARGUMENT, "%s", what);
}

static bool same_sizes(const taper_tensor *a, const taper_tensor *b)
{
    return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) == 0;
}

static bool floats(const gradient *g, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (g->in[i] == NULL || !taper_dtype_is_float((taper_dtype)g->in[i]->dtype)) {
            return false;
        }
    }
    return true;
}

static taper_status read_mask(const taper_call *call, size_t where, bool mask[3])
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, where, &list));
    for (size_t i = 0; i < 3; i++) {
        mask[i] = i < list->count && list->items[i].tag == TAPER_BOOLEAN && list->items[i].as.b;
    }
    return TAPER_OK;
}

// ---- gradient of embedding

static taper_status embedding(const gradient *g)
{
    const taper_tensor *from = g->in[0], *indices = g->in[1];
    int64_t weights, padding, per_index = taper_tensor_numel(indices);
    bool by_frequency;
    double *sums, *counts;
    TAPER_TRY(taper_arg_int(g->call, 2, &weights));
    TAPER_TRY(taper_arg_int(g->call, 3, &padding));
    TAPER_TRY(taper_arg_bool(g->call, 4, &by_frequency));
    const int64_t width = from->rank != 0 ? from->sizes[from->rank - 1u] : 0;
    int64_t total;
    if (from->rank != indices->rank + 1u ||
        memcmp(from->sizes, indices->sizes, indices->rank * sizeof *indices->sizes) != 0 || weights < 0 ||
        !taper_dtype_is_integral((taper_dtype)indices->dtype) || !floats(g, 1) ||
        !taper_mul_i64(weights, width, &total)) {
        return refuse(g, "grad_output should have a row for each of the indices");
    }
    TAPER_TRY(sums_of(g, weights, &counts));
    for (int64_t i = 0; i < per_index; i++) {
        const double index = at(indices, i);
        if (index < 0 || index >= (double)weights) {
            taper_heap_free(g->call->run->heap, counts, (size_t)weights * sizeof *counts + 1);
            return refuse(g, "an index is out of range");
        }
        counts[(int64_t)index]++;
    }
    taper_status status = sums_of(g, total, &sums);
    for (int64_t i = 0;
         status == TAPER_OK && i < per_index && taper_run_step(g->call->run, i, 10 * (uint64_t)width + 10); i++) {
        const int64_t row = (int64_t)at(indices, i);
        const double share = by_frequency ? counts[row] : 1;
        for (int64_t k = 0; row != padding && k < width; k++) {
            sums[row * width + k] += at(from, i * width + k) / share;
        }
    }
    taper_heap_free(g->call->run->heap, counts, (size_t)weights * sizeof *counts + 1);
    TAPER_TRY(status);
    const int64_t sizes[] = {weights, width};
    return give(g, 0, (taper_dtype)from->dtype, 2, sizes, sums);
}

TAPER_KERNEL(taper_op_embedding_backward)
{
    static const uint8_t positions[] = {0, 1};
    gradient g;
    const taper_status status = begin(&g, call, 2, positions);
    return end(&g, status == TAPER_OK ? embedding(&g) : status);
}

// ---- gradients of pooling of images

typedef struct window {
    int64_t kernel[2], stride[2], padding[2], divisor;
    bool adaptive, counts_padding;
} window;

// Computes the range [*from, *to) of inputs that output o reads along a dimension. *whole is the size of the output's
// window including the padding.
static void bounds_of(const window *w, size_t d, int64_t o, int64_t inputs, int64_t outputs, int64_t *from, int64_t *to,
                      int64_t *whole)
{
    if (w->adaptive) {
        *from = o * inputs / outputs;
        *to = ((o + 1) * inputs + outputs - 1) / outputs;
        *whole = *to - *from;
        return;
    }
    const int64_t start = o * w->stride[d] - w->padding[d];
    const int64_t stop = taper_min_i64(start + w->kernel[d], inputs + w->padding[d]);
    *whole = stop - start;
    *from = taper_max_i64(start, 0);
    *to = taper_max_i64(taper_min_i64(stop, inputs), *from);
}

static taper_status spread_windows(const gradient *g, const window *w, double *sums)
{
    const taper_tensor *from = g->in[0], *x = g->in[1];
    const size_t r = x->rank;
    const int64_t height = x->sizes[r - 2], width = x->sizes[r - 1], rows = from->sizes[r - 2],
                  columns = from->sizes[r - 1];
    const int64_t planes = taper_tensor_numel(from) / (rows * columns);
    for (int64_t i = 0; i < planes * rows * columns && taper_run_step(g->call->run, i, 100); i++) {
        int64_t y0, y1, x0, x1, tall, wide;
        bounds_of(w, 0, i / columns % rows, height, rows, &y0, &y1, &tall);
        bounds_of(w, 1, i % columns, width, columns, &x0, &x1, &wide);
        const int64_t seen = (y1 - y0) * (x1 - x0);
        const double share = at(from, i) / (double)(w->divisor != 0     ? w->divisor
                                                    : w->counts_padding ? tall * wide
                                                                        : seen);
        double *plane = sums + i / (rows * columns) * height * width;
        for (int64_t row = y0; row < y1 && taper_run_goes_on(g->call->run, 2 * (uint64_t)(x1 - x0)); row++) {
            for (int64_t column = x0; column < x1; column++) {
                plane[row * width + column] += share;
            }
        }
    }
    return TAPER_OK;
}

static taper_status read_window(const taper_call *call, window *w)
{
    size_t count;
    w->divisor = 0;
    TAPER_TRY(taper_arg_ints(call, 2, 2, 2, w->kernel, &count));
    TAPER_TRY(taper_arg_ints(call, 3, 0, 2, w->stride, &count));
    if (count < 2) {
        w->stride[0] = count == 1 ? w->stride[0] : w->kernel[0];
        w->stride[1] = count == 1 ? w->stride[0] : w->kernel[1];
    }
    TAPER_TRY(taper_arg_ints(call, 4, 2, 2, w->padding, &count));
    TAPER_TRY(taper_arg_bool(call, 6, &w->counts_padding));
    return taper_arg_int_or(call, 7, 0, &w->divisor);
}

static taper_status average(const gradient *g, bool adaptive)
{
    const taper_tensor *from = g->in[0], *x = g->in[1];
    window w = {.adaptive = adaptive};
    double *sums;
    if (!adaptive) {
        TAPER_TRY(read_window(g->call, &w));
    }
    const bool images = floats(g, 2) && (x->rank == 3 || x->rank == 4) && from->rank == x->rank &&
                        taper_tensor_numel(from) > 0 && taper_tensor_numel(x) > 0 &&
                        memcmp(from->sizes, x->sizes, (x->rank - 2u) * 8u) == 0;
    bool fits = images;
    for (size_t d = 0; d < 2 && fits; d++) {
        const int64_t limit = INT32_MAX, in = x->sizes[x->rank - 2u + d], out = from->sizes[x->rank - 2u + d];
        fits = in <= limit && out <= limit &&
               (adaptive || (w.kernel[d] >= 1 && w.kernel[d] <= limit && w.stride[d] >= 1 && w.stride[d] <= limit &&
                             w.padding[d] >= 0 && w.padding[d] <= w.kernel[d] / 2 &&
                             (out - 1) * w.stride[d] - w.padding[d] < in + w.padding[d]));
    }
    if (!fits) {
        return refuse(g, "grad_output does not fit the image and its windows");
    }
    TAPER_TRY(sums_of(g, taper_tensor_numel(x), &sums));
    TAPER_TRY(spread_windows(g, &w, sums));
    return give(g, 0, (taper_dtype)x->dtype, x->rank, x->sizes, sums);
}

static taper_status run_average(taper_call *call, bool adaptive)
{
    static const uint8_t positions[] = {0, 1};
    gradient g;
    const taper_status status = begin(&g, call, 2, positions);
    return end(&g, status == TAPER_OK ? average(&g, adaptive) : status);
}

TAPER_KERNEL(taper_op_avg_pool_backward)
{
    return run_average(call, false);
}

TAPER_KERNEL(taper_op_adaptive_avg_pool_backward)
{
    return run_average(call, true);
}

static taper_status maximum(const gradient *g)
{
    const taper_tensor *from = g->in[0], *x = g->in[1], *indices = g->in[2];
    double *sums;
    if (!floats(g, 2) || (x->rank != 3 && x->rank != 4) || !same_sizes(from, indices) || indices->dtype != TAPER_I64 ||
        from->rank != x->rank || memcmp(from->sizes, x->sizes, (x->rank - 2u) * 8u) != 0) {
        return refuse(g, "grad_output and indices do not fit the image");
    }
    const bool any = taper_tensor_numel(from) != 0; // a tensor without elements may have any sizes
    const int64_t plane = any ? x->sizes[x->rank - 2u] * x->sizes[x->rank - 1u] : 0;
    const int64_t outputs = any ? from->sizes[x->rank - 2u] * from->sizes[x->rank - 1u] : 1;
    const int64_t *index = taper_tensor_data(indices);
    TAPER_TRY(sums_of(g, taper_tensor_numel(x), &sums));
    for (int64_t i = 0; i < taper_tensor_numel(from) && taper_run_step(g->call->run, i, 10); i++) {
        if (index[i] < 0 || index[i] >= plane) {
            taper_heap_free(g->call->run->heap, sums, (size_t)taper_tensor_numel(x) * sizeof *sums + 1);
            return refuse(g, "an index is out of range");
        }
        sums[i / outputs * plane + index[i]] += at(from, i);
    }
    return give(g, 0, (taper_dtype)x->dtype, x->rank, x->sizes, sums);
}

TAPER_KERNEL(taper_op_max_pool_backward)
{
    static const uint8_t positions[] = {0, 1, 7};
    gradient g;
    const taper_status status = begin(&g, call, 3, positions);
    return end(&g, status == TAPER_OK ? maximum(&g) : status);
}

// ---- gradients of layer norm and group norm

// Rows that have one mean and one inverse deviation each. The weight of an element has the index row % groups *
// (weights / groups) + element / together.
typedef struct norm_rows {
    int64_t rows, width, groups, weights, together;
    size_t rank;
    const int64_t *weight_sizes;
} norm_rows;

// Computes the gradients of layer norm or group norm that `mask` names. g->in contains the gradient, x, the means, the
// inverse deviations and the weights.
static taper_status norm(const gradient *g, const norm_rows *n, const bool mask[3])
{
    const taper_tensor *from = g->in[0], *x = g->in[1], *weight = g->in[4];
    double *sums[3];
    if (!same_sizes(from, x) || taper_tensor_numel(g->in[2]) != n->rows || taper_tensor_numel(g->in[3]) != n->rows ||
        (double)n->rows * (double)n->width != (double)taper_tensor_numel(x) ||
        (weight != NULL && taper_tensor_numel(weight) != n->weights)) {
        return refuse(g, "grad_out, input, mean, rstd and weight do not fit each other");
    }
    const int64_t counts[3] = {taper_tensor_numel(x), n->weights, n->weights};
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < 3; i++) {
        sums[i] = NULL;
        status = status == TAPER_OK ? sums_of(g, counts[i], &sums[i]) : status;
    }
    for (int64_t r = 0;
         status == TAPER_OK && r < n->rows && taper_run_goes_on(g->call->run, 40 * (uint64_t)n->width + 40); r++) {
        const double mean = at(g->in[2], r), inverse = at(g->in[3], r);
        const int64_t first = r % n->groups * (n->weights / n->groups);
        double all = 0, along = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t k = 0; k < n->width; k++) {
                const int64_t i = r * n->width + k, w = first + k / n->together;
                const double d = at(from, i), normal = (at(x, i) - mean) * inverse;
                const double scaled = weight != NULL ? d * at(weight, w) : d;
                if (pass == 0) {
                    all += scaled;
                    along += scaled * normal;
                    sums[1][w] += d * normal;
                    sums[2][w] += d;
                } else {
                    sums[0][i] = inverse * (scaled - (all + normal * along) / (double)n->width);
                }
            }
        }
    }
    for (size_t i = 0; i < 3; i++) {
        const taper_dtype dtype = (taper_dtype)(i != 0 && weight != NULL ? weight->dtype : x->dtype);
        if (status == TAPER_OK && mask[i]) {
            status = give(g, i, dtype, i == 0 ? x->rank : n->rank, i == 0 ? x->sizes : n->weight_sizes, sums[i]);
        } else if (sums[i] != NULL) {
            taper_heap_free(g->call->run->heap, sums[i], (size_t)counts[i] * sizeof(double) + 1);
        }
    }
    return status;
}

static taper_status layer(const gradient *g)
{
    const taper_tensor *x = g->in[1];
    int64_t shape[TAPER_MAX_RANK];
    bool mask[3];
    norm_rows n = {.rows = 1, .width = 1, .groups = 1, .together = 1, .weight_sizes = shape};
    TAPER_TRY(taper_arg_ints(g->call, 2, 0, TAPER_MAX_RANK, shape, &n.rank));
    TAPER_TRY(read_mask(g->call, 7, mask));
    if (!floats(g, 4) || n.rank < 1 || n.rank > x->rank ||
        memcmp(shape, x->sizes + x->rank - n.rank, n.rank * sizeof *shape) != 0) {
        return refuse(g, "normalized_shape does not match the last dimensions of the input");
    }
    for (size_t d = 0; d < x->rank; d++) {
        int64_t *product = d + n.rank < x->rank ? &n.rows : &n.width;
        if (!taper_mul_i64(*product, x->sizes[d], product)) {
            return refuse(g, "the input is too large");
        }
    }
    n.weights = n.width;
    return norm(g, &n, mask);
}

TAPER_KERNEL(taper_op_layer_norm_backward)
{
    static const uint8_t positions[] = {0, 1, 3, 4, 5};
    gradient g;
    const taper_status status = begin(&g, call, 5, positions);
    return end(&g, status == TAPER_OK ? layer(&g) : status);
}

static taper_status group(const gradient *g)
{
    int64_t samples, channels, pixels, groups;
    bool mask[3];
    TAPER_TRY(taper_arg_int(g->call, 5, &samples));
    TAPER_TRY(taper_arg_int(g->call, 6, &channels));
    TAPER_TRY(taper_arg_int(g->call, 7, &pixels));
    TAPER_TRY(taper_arg_int(g->call, 8, &groups));
    TAPER_TRY(read_mask(g->call, 9, mask));
    const int64_t most = INT32_MAX;
    if (!floats(g, 4) || groups < 1 || samples < 1 || channels < 1 || pixels < 1 || samples > most || channels > most ||
        pixels > most || channels % groups != 0 ||
        (double)samples * (double)channels * (double)pixels != (double)taper_tensor_numel(g->in[1])) {
        return refuse(g, "N, C, HxW and group do not fit the input");
    }
    const norm_rows n = {.rows = samples * groups,
                         .width = channels / groups * pixels,
                         .groups = groups,
                         .weights = channels,
                         .together = pixels,
                         .rank = 1,
                         .weight_sizes = &channels};
    return norm(g, &n, mask);
}

TAPER_KERNEL(taper_op_group_norm_backward)
{
    static const uint8_t positions[] = {0, 1, 2, 3, 4};
    gradient g;
    const taper_status status = begin(&g, call, 5, positions);
    return end(&g, status == TAPER_OK ? group(&g) : status);
}

// ---- gradient of softmax

// Computes the gradient from (grad_output, output, dim, input_dtype): y (g - sum(g y)) for softmax, g - exp(y) sum(g)
// for log_softmax.
static taper_status softmax(const gradient *g, bool logarithm)
{
    const taper_tensor *from = g->in[0], *y = g->in[1];
    size_t dim;
    double *results;
    if (!floats(g, 2) || !same_sizes(from, y) || from->dtype != y->dtype) {
        return refuse(g, "grad_output and output should be floats of one dtype and of the same sizes");
    }
    TAPER_TRY(taper_arg_dim(g->call, 2, y->rank, &dim));
    int64_t inner = 1;
    for (size_t d = dim + 1; d < y->rank; d++) {
        inner *= y->sizes[d];
    }
    const int64_t count = taper_tensor_numel(y), size = y->rank != 0 ? y->sizes[dim] : 1, line = size * inner;
    TAPER_TRY(sums_of(g, count, &results));
    // i is the index of the first element of each line.
    for (int64_t i = 0; i < count; i += (i + 1) % inner == 0 ? line - inner + 1 : 1) {
        double sum = 0;
        for (int64_t k = i; k < i + line && taper_run_step(g->call->run, k, 20); k += inner) {
            sum += logarithm ? at(from, k) : at(from, k) * at(y, k);
        }
        for (int64_t k = i; k < i + line && taper_run_step(g->call->run, k, 30); k += inner) {
            results[k] = logarithm ? at(from, k) - exp(at(y, k)) * sum : at(y, k) * (at(from, k) - sum);
        }
    }
    return give(g, 0, (taper_dtype)from->dtype, y->rank, y->sizes, results);
}

static taper_status run_softmax(taper_call *call, bool logarithm)
{
    static const uint8_t positions[] = {0, 1};
    gradient g;
    const taper_status status = begin(&g, call, 2, positions);
    return end(&g, status == TAPER_OK ? softmax(&g, logarithm) : status);
}

TAPER_KERNEL(taper_op_softmax_backward)
{
    return run_softmax(call, false);
}
TAPER_KERNEL(taper_op_log_softmax_backward)
{
    return run_softmax(call, true);
}
