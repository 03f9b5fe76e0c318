// SPDX-License-Identifier: BSD-2-Clause
// Differences of neighbours along a dimension: diff, and gradient with its seven overloads.
#include <math.h>

#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"

// ---- diff

static taper_status check_part(const taper_call *call, size_t at, const taper_tensor *x, size_t dim,
                               taper_tensor **part)
{
    TAPER_TRY(taper_arg_tensor_or_none(call, at, part));
    if (*part == NULL) {
        return TAPER_OK;
    }
    if ((*part)->rank != x->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "diff expects prepend or append to be the same dimension as input");
    }
    for (size_t i = 0; i < x->rank; i++) {
        if (i != dim && (*part)->sizes[i] != x->sizes[i]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "diff expects the shape of tensor to prepend or append to match that of input except along the "
                       "differencing "
                       "dimension; input.size(%zu) = %lld, but got %lld",
                       i, (long long)x->sizes[i], (long long)(*part)->sizes[i]);
        }
    }
    return TAPER_OK;
}

// Computes one round of differences: each element's right neighbour minus the element. For bools the result is true if
// the two elements differ.
static taper_tensor *differ(taper_compose *c, taper_tensor *x, size_t dim)
{
    taper_tensor *right = taper_compose_slice(c, x, dim, 1, INT64_MAX), *left = taper_compose_slice(c, x, dim, 0, -1);
    if (x != NULL && x->dtype == TAPER_BOOL) {
        return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_logical_xor, taper_compose_arg(right),
                             taper_compose_arg(left));
    }
    return taper_compose_sub(c, right, left);
}

TAPER_KERNEL(taper_op_diff)
{
    taper_tensor *x, *parts[3];
    size_t dim;
    int64_t n;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &n));
    if (x->rank == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "diff expects input to be at least one-dimensional");
    }
    TAPER_TRY(taper_arg_dim(call, 2, x->rank, &dim));
    TAPER_TRY(check_part(call, 3, x, dim, &parts[0]));
    TAPER_TRY(check_part(call, 4, x, dim, &parts[2]));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    parts[1] = x;
    if (n != 0 && (parts[0] != NULL || parts[2] != NULL)) {
        x = taper_compose_cat(&c, 3, parts, dim);
    }
    if (n <= 0 &&
        c.status == TAPER_OK) { // like order 0, a negative order returns x, but only order 0 ignores prepend and append
        taper_tensor *copy;
        taper_compose_fail(&c, taper_view_clone(call->run, x, TAPER_FORMAT_PRESERVE, &copy));
        return taper_compose_ret(&c, call, 0, c.status == TAPER_OK ? taper_compose_keep(&c, copy) : NULL);
    }
    int64_t rounds = c.status == TAPER_OK ? taper_min_i64(n, x->sizes[dim]) : 0;
    if (rounds > 1 && taper_tensor_numel(x) == 0) { // further rounds would only change a size
        x = taper_compose_slice(&c, x, dim, rounds - 1, INT64_MAX);
        rounds = 1;
    }
    for (; rounds > 0 && c.status == TAPER_OK; rounds--) {
        taper_compose step;
        taper_compose_begin(&step, call->run);
        taper_tensor *result = differ(&step, x, dim);
        if (result != NULL) {
            taper_obj_retain(&result->head);
        }
        taper_compose_fail(&c, taper_compose_end(&step));
        while (c.count > 0) { // releases the tensors of the previous round
            taper_val_release(c.values[--c.count]);
        }
        x = taper_compose_keep(&c, result);
    }
    return taper_compose_ret(&c, call, 0, x);
}

// ---- gradient

typedef struct gradient {
    taper_tensor *x;
    size_t count; // number of dimensions
    int64_t dims[TAPER_MAX_RANK];
    int64_t edge_order;
    taper_list *list; // distances, or coordinates of the elements; if NULL, `distance` applies to all dimensions
    taper_scalar distance;
} gradient;

static taper_status read_dims(const taper_call *call, size_t at, bool many, gradient *g)
{
    if (many) {
        TAPER_TRY(taper_arg_ints(call, at, 0, TAPER_MAX_RANK, g->dims, &g->count));
    } else if (taper_arg_is_none(call, at)) {
        g->count = g->x->rank;
        for (size_t i = 0; i < g->count; i++) {
            g->dims[i] = (int64_t)i;
        }
    } else {
        g->count = 1;
        TAPER_TRY(taper_arg_int(call, at, &g->dims[0]));
    }
    bool seen[TAPER_MAX_RANK] = {false};
    for (size_t i = 0; i < g->count; i++) {
        size_t dim;
        TAPER_TRY(taper_wrap_dim_or_fail(g->dims[i], g->x->rank, &dim, call->run->error));
        if (seen[dim]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "dim %zu appears multiple times in the list of dims",
                       dim);
        }
        seen[dim] = true;
        g->dims[i] = (int64_t)dim;
    }
    return TAPER_OK;
}

static taper_status check_gradient(const taper_call *call, const gradient *g)
{
    taper_error *error = call->run->error;
    if (g->x->dtype == TAPER_U8) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "torch.gradient does not support uint8 input.");
    }
    if (g->list != NULL && g->list->count != g->count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "argument 'spacing': torch.gradient expected spacing to be unspecified, a scalar, or a list of "
                   "length %zu, but got a "
                   "list of length %zu",
                   g->count, g->list->count);
    }
    if (g->edge_order != 1 && g->edge_order != 2) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "argument 'edge_order': torch.gradient only supports edge_order=1 and edge_order=2.");
    }
    for (size_t i = 0; i < g->count; i++) {
        if (g->x->rank == 0 || g->x->sizes[g->dims[i]] < g->edge_order + 1) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "torch.gradient expected each dimension size to be at least edge_order+1");
        }
    }
    return TAPER_OK;
}

static taper_tensor *over(taper_compose *c, taper_tensor *a, const taper_scalar *distance)
{
    const taper_val number =
        distance->kind == TAPER_SCALAR_INT ? taper_val_int(distance->i) : taper_val_double(distance->f);
    return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_div, taper_compose_arg(a), number);
}

// Returns a x[0] + b x[1] + d x[2], added from the left.
static taper_tensor *weighted(taper_compose *c, taper_tensor *const x[3], double a, double b, double d)
{
    taper_tensor *first = taper_compose_mul_number(c, x[0], a);
    taper_tensor *second =
        TAPER_COMPOSE(c, taper_op_binary, &taper_ew_mul, taper_compose_arg(x[1]), taper_val_int((int64_t)fabs(b)));
    taper_tensor *third = taper_compose_mul_number(c, x[2], fabs(d));
    taper_tensor *sum = b < 0 ? taper_compose_sub(c, first, second) : taper_compose_add(c, first, second);
    return d < 0 ? taper_compose_sub(c, sum, third) : taper_compose_add(c, sum, third);
}

static void three(taper_compose *c, taper_tensor *x, size_t dim, bool end, taper_tensor *at[3])
{
    for (int64_t i = 0; i < 3; i++) {
        const int64_t from = end ? i - 3 : i;
        at[i] = taper_compose_slice(c, x, dim, from, from == -1 ? INT64_MAX : from + 1);
    }
}

static taper_tensor *joined(taper_compose *c, taper_tensor *before, taper_tensor *middle, taper_tensor *after,
                            size_t dim)
{
    taper_tensor *parts[3] = {before, middle, after};
    return taper_compose_cat(c, 3, parts, dim);
}

static taper_tensor *evenly(taper_compose *c, const gradient *g, size_t dim, const taper_scalar *distance)
{
    taper_tensor *x = g->x, *before, *after;
    taper_tensor *ahead = taper_compose_slice(c, x, dim, 2, INT64_MAX), *behind = taper_compose_slice(c, x, dim, 0, -2);
    taper_tensor *middle = over(c, taper_compose_sub(c, ahead, behind), distance);
    if (g->edge_order == 1) {
        before = taper_compose_sub(c, taper_compose_slice(c, x, dim, 1, 2), taper_compose_slice(c, x, dim, 0, 1));
        after =
            taper_compose_sub(c, taper_compose_slice(c, x, dim, -1, INT64_MAX), taper_compose_slice(c, x, dim, -2, -1));
    } else {
        taper_tensor *at[3];
        three(c, x, dim, false, at);
        before = weighted(c, at, -1.5, 2, -0.5);
        three(c, x, dim, true, at);
        after = weighted(c, at, 0.5, -2, 1.5);
    }
    before = over(c, before, distance);
    after = over(c, after, distance);
    const taper_scalar two = taper_scalar_int(2);
    return joined(c, before, over(c, middle, &two), after, dim);
}

// Returns the slope at the first of three points, whose distances are h and k. The weights of the points are
// -(2h+k)/(h(h+k)), (h+k)/(hk), -h/(k(h+k)). If h and k are exchanged, this is the slope at the last point.
static taper_tensor *at_edge(taper_compose *c, taper_tensor *const x[3], taper_tensor *h, taper_tensor *k, bool end)
{
    taper_tensor *sum = taper_compose_add(c, h, k);
    taper_tensor *wide = taper_compose_add(c, taper_compose_mul_number(c, h, 2), k);
    taper_tensor *first = taper_compose_div(c, wide, taper_compose_mul(c, h, sum));
    taper_tensor *second = taper_compose_div(c, sum, taper_compose_mul(c, h, k));
    taper_tensor *third = taper_compose_div(c, h, taper_compose_mul(c, k, sum));
    taper_tensor *near = taper_compose_mul(c, first, x[end ? 2 : 0]), *centre = taper_compose_mul(c, second, x[1]);
    taper_tensor *far = taper_compose_mul(c, third, x[end ? 0 : 2]);
    return end ? taper_compose_add(c, taper_compose_sub(c, far, centre), near)
               : taper_compose_sub(c, taper_compose_sub(c, centre, near), far);
}

static taper_tensor *along_dim(taper_compose *c, taper_tensor *weights, const gradient *g, size_t dim)
{
    int64_t sizes[TAPER_MAX_RANK];
    if (weights == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < g->x->rank; i++) {
        sizes[i] = i == dim ? weights->sizes[0] : 1;
    }
    return taper_compose_reshape(c, weights, g->x->rank, sizes);
}

// Returns the slopes at inner points, whose distances to the neighbours are `near` and `far`.
static taper_tensor *between(taper_compose *c, const gradient *g, size_t dim, taper_tensor *near, taper_tensor *far)
{
    taper_tensor *x = g->x, *sum = taper_compose_add(c, near, far);
    taper_tensor *minus = TAPER_COMPOSE(c, taper_op_unary, &taper_ew_neg, taper_compose_arg(far));
    taper_tensor *a = taper_compose_div(c, minus, taper_compose_mul(c, near, sum));
    taper_tensor *b = taper_compose_div(c, taper_compose_sub(c, far, near), taper_compose_mul(c, near, far));
    taper_tensor *d = taper_compose_div(c, near, taper_compose_mul(c, far, sum));
    taper_tensor *first = taper_compose_mul(c, along_dim(c, a, g, dim), taper_compose_slice(c, x, dim, 0, -2));
    taper_tensor *second = taper_compose_mul(c, along_dim(c, b, g, dim), taper_compose_slice(c, x, dim, 1, -1));
    taper_tensor *third = taper_compose_mul(c, along_dim(c, d, g, dim), taper_compose_slice(c, x, dim, 2, INT64_MAX));
    return taper_compose_add(c, taper_compose_add(c, first, second), third);
}

static taper_tensor *unevenly(taper_compose *c, const gradient *g, size_t dim, taper_tensor *points)
{
    taper_tensor *x = g->x, *before, *after;
    if (points->rank != 1) {
        taper_compose_fail(
            c, taper_fail(c->run->error, TAPER_ERROR_ARGUMENT,
                          "argument 'spacing': torch.gradient expected each element of spacing to have one dimension, "
                          "but got an element with %u dimensions!",
                          points->rank));
        return NULL;
    }
    taper_tensor *h = differ(c, points, 0);
    taper_tensor *middle =
        between(c, g, dim, taper_compose_slice(c, h, 0, 0, -1), taper_compose_slice(c, h, 0, 1, INT64_MAX));
    taper_tensor *first = taper_compose_select(c, h, 0, 0), *last = taper_compose_select(c, h, 0, -1);
    if (g->edge_order == 1) {
        before = taper_compose_sub(c, taper_compose_slice(c, x, dim, 1, 2), taper_compose_slice(c, x, dim, 0, 1));
        before = taper_compose_div(c, before, first);
        after =
            taper_compose_sub(c, taper_compose_slice(c, x, dim, -1, INT64_MAX), taper_compose_slice(c, x, dim, -2, -1));
        after = taper_compose_div(c, after, last);
    } else {
        taper_tensor *at[3];
        three(c, x, dim, false, at);
        before = at_edge(c, at, first, taper_compose_select(c, h, 0, 1), false);
        three(c, x, dim, true, at);
        after = at_edge(c, at, last, taper_compose_select(c, h, 0, -2), true);
    }
    return joined(c, before, middle, after, dim);
}

static taper_status add_slope(taper_call *call, const gradient *g, size_t i, bool points, taper_list *slopes)
{
    taper_compose c;
    taper_compose_begin(&c, call->run);
    const size_t dim = (size_t)g->dims[i];
    taper_tensor *slope;
    if (points) {
        taper_tensor *item;
        taper_status status = taper_arg_tensor_item(call, 1, i, false, &item);
        if (status != TAPER_OK) {
            return status;
        }
        slope = unevenly(&c, g, dim, item);
    } else {
        taper_scalar distance = g->distance;
        if (g->list != NULL) {
            taper_call one = {.run = call->run, .args = &g->list->items[i], .arg_count = 1};
            TAPER_TRY(taper_arg_scalar(&one, 0, &distance));
        }
        slope = evenly(&c, g, dim, &distance);
    }
    if (slope != NULL && c.status == TAPER_OK) {
        taper_obj_retain(&slope->head);
        c.status = taper_list_append(slopes, TAPER_VAL(slope), call->run->error);
    }
    return taper_compose_end(&c);
}

// Sets result 0 to the list of the slopes along each dimension.
static taper_status run_gradient(taper_call *call, gradient *g, bool points)
{
    TAPER_TRY(check_gradient(call, g));
    taper_list *slopes = taper_list_new(call->run->heap, &taper_type_tensor, g->count);
    if (slopes == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(slopes));
    for (size_t i = 0; i < g->count; i++) {
        TAPER_TRY(add_slope(call, g, i, points, slopes));
    }
    return TAPER_OK;
}

// Reads a single spacing (none if spacing_at is 0), then dim at dim_at: an int?, or if `many` is set an int[].
static taper_status spaced_evenly(taper_call *call, size_t spacing_at, size_t dim_at, bool many)
{
    gradient g = {.distance = taper_scalar_int(1)};
    TAPER_TRY(taper_arg_tensor(call, 0, &g.x));
    if (spacing_at != 0 && !taper_arg_is_none(call, spacing_at)) {
        TAPER_TRY(taper_arg_scalar(call, spacing_at, &g.distance));
    }
    TAPER_TRY(read_dims(call, dim_at, many, &g));
    TAPER_TRY(taper_arg_int(call, dim_at + 1, &g.edge_order));
    return run_gradient(call, &g, false);
}

static taper_status spaced_by_list(taper_call *call, bool many, bool points)
{
    gradient g = {.distance = taper_scalar_int(1)};
    TAPER_TRY(taper_arg_tensor(call, 0, &g.x));
    TAPER_TRY(taper_arg_list(call, 1, &g.list));
    TAPER_TRY(read_dims(call, 2, many, &g));
    TAPER_TRY(taper_arg_int(call, 3, &g.edge_order));
    return run_gradient(call, &g, points);
}

TAPER_KERNEL(taper_op_gradient_scalarint)
{
    return spaced_evenly(call, 1, 2, false);
}
TAPER_KERNEL(taper_op_gradient_scalararray)
{
    return spaced_evenly(call, 1, 2, true);
}
TAPER_KERNEL(taper_op_gradient_array)
{
    return spaced_evenly(call, 0, 1, true);
}
TAPER_KERNEL(taper_op_gradient_scalarrayint)
{
    return spaced_by_list(call, false, false);
}
TAPER_KERNEL(taper_op_gradient_scalarrayarray)
{
    return spaced_by_list(call, true, false);
}
TAPER_KERNEL(taper_op_gradient_tensorarrayint)
{
    return spaced_by_list(call, false, true);
}
TAPER_KERNEL(taper_op_gradient_tensorarray)
{
    return spaced_by_list(call, true, true);
}
