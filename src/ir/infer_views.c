// SPDX-License-Identifier: BSD-2-Clause
// Infers the shapes of views, of joined and split tensors, and of new tensors.
#include "base/checked.h"
#include "ir/infer.h"

static bool add(int64_t *sum, int64_t size)
{
    if (*sum == TAPER_UNKNOWN || size == TAPER_UNKNOWN || !taper_add_i64(*sum, size, sum)) {
        *sum = TAPER_UNKNOWN;
    }
    return *sum != TAPER_UNKNOWN;
}

static int64_t product(const int64_t *sizes, int from, int to)
{
    int64_t all = 1;
    for (int d = from; d < to; d++) {
        if (sizes[d] == TAPER_UNKNOWN || sizes[d] < 0 || !taper_mul_i64(all, sizes[d], &all)) {
            return TAPER_UNKNOWN;
        }
    }
    return all;
}

// Returns the shape x with another size inserted before dimension `at`.
static taper_shape inserted(taper_shape x, int at, int64_t size)
{
    if (x.rank == TAPER_MAX_RANK) {
        return taper_shape_unknown();
    }
    memmove(x.sizes + at + 1, x.sizes + at, (size_t)(x.rank - at) * sizeof *x.sizes);
    x.sizes[at] = size;
    x.rank++;
    return x;
}

static taper_shape removed(taper_shape x, int at)
{
    x.rank--;
    memmove(x.sizes + at, x.sizes + at + 1, (size_t)(x.rank - at) * sizeof *x.sizes);
    return x;
}

// ---- results whose sizes are in an argument

static const taper_known *ints_at(const taper_infer_call *call, size_t at)
{
    const bool is = at < call->count && call->args[at].kind == TAPER_KNOWN_INTS;
    return is && call->args[at].count <= TAPER_MAX_RANK ? &call->args[at] : NULL;
}

// Computes the size that was given as -1: the number of all elements divided by the product of the other sizes. Returns
// TAPER_UNKNOWN if a number is unknown, or if the division has a remainder, which the operator will refuse.
static int64_t left(int64_t all, int64_t others)
{
    const bool known = all != TAPER_UNKNOWN && others != TAPER_UNKNOWN && others != 0 && all % others == 0;
    return known ? all / others : TAPER_UNKNOWN;
}

// Returns the sizes in an argument. One of them may be -1, which stands for the remaining elements.
static taper_shape given(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *sizes = ints_at(call, 1);
    if (sizes == NULL) {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = (int)sizes->count};
    int rest = -1;
    for (int d = 0; d < shape.rank; d++) {
        shape.sizes[d] = sizes->ints[d];
        rest = sizes->ints[d] == -1 ? d : rest;
    }
    if (rest >= 0) {
        const int64_t all = x.rank >= 0 ? product(x.sizes, 0, x.rank) : TAPER_UNKNOWN;
        shape.sizes[rest] = 1;
        const int64_t others = product(shape.sizes, 0, shape.rank);
        shape.sizes[rest] = left(all, others);
    }
    return shape;
}

static taper_shape created(const taper_infer_call *call)
{
    const taper_known *sizes = ints_at(call, 0);
    if (sizes == NULL) {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = (int)sizes->count};
    memcpy(shape.sizes, sizes->ints, sizes->count * sizeof *shape.sizes);
    return shape;
}

// Returns the sizes in an argument, where -1 keeps the size of x.
static taper_shape expanded(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *sizes = ints_at(call, 1);
    if (sizes == NULL) {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = (int)sizes->count};
    for (int d = 0; d < shape.rank; d++) {
        const int from = d - (shape.rank - x.rank);
        shape.sizes[d] = sizes->ints[d] != -1       ? sizes->ints[d]
                         : x.rank >= 0 && from >= 0 ? x.sizes[from]
                                                    : TAPER_UNKNOWN;
    }
    return shape;
}

static taper_shape repeated(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *times = ints_at(call, 1);
    if (times == NULL || x.rank > (int)times->count) {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = (int)times->count};
    for (int d = 0; d < shape.rank; d++) {
        const int from = d - (shape.rank - x.rank);
        const int64_t size = x.rank < 0 ? TAPER_UNKNOWN : from >= 0 ? x.sizes[from] : 1;
        if (size == TAPER_UNKNOWN || times->ints[d] == TAPER_UNKNOWN ||
            !taper_mul_i64(size, times->ints[d], &shape.sizes[d])) {
            shape.sizes[d] = TAPER_UNKNOWN;
        }
    }
    return shape;
}

// ---- views that move, drop or add dimensions

static taper_shape flattened(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const int from = taper_infer_dim(call, "start_dim", x.rank), to = taper_infer_dim(call, "end_dim", x.rank);
    if (x.rank < 0) {
        const bool rows = taper_infer_int(call, "start_dim", TAPER_UNKNOWN) == 1 &&
                          taper_infer_int(call, "end_dim", TAPER_UNKNOWN) == -1;
        // The result is a matrix: all dimensions after the first become one. An x of one dimension has no dimension 1,
        // so the operator raises an error.
        return rows ? (taper_shape){.rank = 2, .sizes = {TAPER_UNKNOWN, TAPER_UNKNOWN}} : taper_shape_unknown();
    }
    if (from < 0 || to < from) {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = 0};
    for (int d = 0; d < from; d++) {
        shape.sizes[shape.rank++] = x.sizes[d];
    }
    shape.sizes[shape.rank++] = x.rank == 0 ? 1 : product(x.sizes, from, to + 1);
    for (int d = to + 1; d < x.rank; d++) {
        shape.sizes[shape.rank++] = x.sizes[d];
    }
    return shape;
}

static taper_shape swapped(taper_shape x, int a, int b)
{
    if (a < 0 || b < 0 || x.rank < 1) {
        return x.rank == 0 ? x : taper_infer_same_rank(&x);
    }
    const int64_t size = x.sizes[a];
    x.sizes[a] = x.sizes[b];
    x.sizes[b] = size;
    return x;
}

static taper_shape permuted(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *dims = ints_at(call, 1);
    taper_shape shape = taper_infer_same_rank(&x);
    if (dims == NULL) {
        return shape;
    }
    shape = (taper_shape){.rank = (int)dims->count};
    for (int d = 0; d < shape.rank; d++) {
        const bool known = x.rank == shape.rank && dims->ints[d] != TAPER_UNKNOWN;
        const int64_t from = known && dims->ints[d] < 0 ? dims->ints[d] + x.rank : dims->ints[d];
        shape.sizes[d] = known && from >= 0 && from < x.rank ? x.sizes[from] : TAPER_UNKNOWN;
    }
    return shape;
}

// Returns the shape without dimensions of size 1. If dimensions are given, removes only the given dimensions that have
// size 1.
static taper_shape squeezed(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const bool given = call->schema->arg_count > 1;
    const taper_known *list = given ? taper_infer_named(call, "dim") : NULL;
    bool chosen[TAPER_MAX_RANK] = {false};
    if (x.rank < 0) {
        return taper_shape_unknown();
    }
    if (list != NULL && list->kind == TAPER_KNOWN_INTS && list->count <= TAPER_MAX_RANK) {
        for (size_t i = 0; i < list->count; i++) {
            const int64_t d = list->ints[i] < 0 ? list->ints[i] + x.rank : list->ints[i];
            if (list->ints[i] == TAPER_UNKNOWN || d < 0 || d >= x.rank) {
                return taper_shape_unknown();
            }
            chosen[d] = true;
        }
    } else if (given) {
        const int dim = taper_infer_dim(call, "dim", x.rank);
        if (dim < 0) {
            return taper_shape_unknown();
        }
        chosen[dim] = true;
    }
    for (int d = x.rank - 1; d >= 0; d--) {
        if (given && !chosen[d]) {
            continue;
        }
        if (x.sizes[d] == TAPER_UNKNOWN) {
            return taper_shape_unknown();
        }
        x = x.sizes[d] == 1 ? removed(x, d) : x;
    }
    return x;
}

static taper_shape unsqueezed(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const int dim = x.rank >= 0 ? taper_infer_dim(call, "dim", x.rank + 1) : -1;
    if (x.rank < 0) {
        return taper_shape_unknown();
    }
    return dim < 0 ? taper_shape_unknown() : inserted(x, dim, 1);
}

static taper_shape without_dim(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const int dim = taper_infer_dim(call, "dim", x.rank);
    return x.rank < 1 || dim < 0 ? taper_shape_unknown() : removed(x, dim);
}

// Returns the shape of x[start:end:step] in one dimension, by the rules of Python.
static taper_shape sliced(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const int dim = taper_infer_dim(call, "dim", x.rank);
    int64_t start = taper_infer_int(call, "start", 0), end = taper_infer_int(call, "end", INT64_MAX);
    const int64_t step = taper_infer_int(call, "step", 1);
    if (x.rank < 1 || dim < 0) {
        return taper_infer_same_rank(&x);
    }
    int64_t *size = &x.sizes[dim];
    if (*size == TAPER_UNKNOWN || start == TAPER_UNKNOWN || end == TAPER_UNKNOWN || step == TAPER_UNKNOWN || step < 1) {
        *size = start == 0 && end == INT64_MAX && step == 1 ? *size : TAPER_UNKNOWN;
        return x;
    }
    start = start < 0 ? start + *size : start;
    end = end < 0 ? end + *size : end;
    start = start < 0 ? 0 : start > *size ? *size : start;
    end = end < start ? start : end > *size ? *size : end;
    *size = (end - start) / step + ((end - start) % step != 0);
    return x;
}

// ---- lists

// Returns the facts that all tensors to be joined in dimension dim share. *sum: sum of their sizes in that dimension.
static bool common(const taper_known *list, int dim, taper_shape *shape, int64_t *sum)
{
    *shape = list->shapes[0];
    *sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        const taper_shape *x = &list->shapes[i];
        if (x->rank != shape->rank || x->rank < 0) {
            return false;
        }
        for (int d = 0; d < x->rank; d++) {
            if (d != dim && shape->sizes[d] == TAPER_UNKNOWN) {
                shape->sizes[d] = x->sizes[d];
            }
        }
        if (dim >= 0 && dim < x->rank) {
            (void)add(sum, x->sizes[dim]);
        }
    }
    return true;
}

static taper_shape joined(const taper_infer_call *call)
{
    const taper_known *list = call->count != 0 && call->args[0].kind == TAPER_KNOWN_TENSORS ? &call->args[0] : NULL;
    taper_shape shape;
    int64_t sum;
    if (list == NULL || list->count == 0) {
        return taper_shape_unknown();
    }
    const taper_shape *first = &list->shapes[0];
    if (first->rank < 0) {
        for (size_t i = 1; i < list->count; i++) {
            if (list->shapes[i].rank >= 0 || list->shapes[i].like != first->like) {
                return taper_shape_unknown();
            }
        }
        return taper_infer_same_rank(first);
    }
    const int dim = taper_infer_dim(call, "dim", first->rank);
    // An empty tensor of one dimension may be joined with any tensor and adds no elements.
    if (!common(list, dim, &shape, &sum)) {
        return taper_shape_unknown();
    }
    if (dim < 0) {
        return taper_infer_same_rank(first);
    }
    shape.sizes[dim] = sum;
    return shape;
}

static taper_shape stacked(const taper_infer_call *call)
{
    const taper_known *list = call->count != 0 && call->args[0].kind == TAPER_KNOWN_TENSORS ? &call->args[0] : NULL;
    taper_shape shape;
    int64_t sum;
    if (list == NULL || list->count == 0 || !common(list, -1, &shape, &sum)) {
        return taper_shape_unknown();
    }
    const int dim = taper_infer_dim(call, "dim", shape.rank + 1);
    return dim < 0 ? taper_shape_unknown() : inserted(shape, dim, (int64_t)list->count);
}

// Returns the facts that all chunks share. Chunks differ in one dimension.
static taper_shape piece(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const int dim = taper_infer_dim(call, "dim", x.rank);
    if (x.rank < 1 || dim < 0) {
        return taper_infer_same_rank(&x);
    }
    x.sizes[dim] = TAPER_UNKNOWN;
    return x;
}

// Returns the shape of index_select(x, dim, index).
static taper_shape indexed(const taper_infer_call *call)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const taper_shape index = taper_infer_tensor(call, 2);
    const int dim = taper_infer_dim(call, "dim", x.rank);
    if (x.rank < 1 || dim < 0) {
        return x.rank == 0 ? x : taper_infer_same_rank(&x);
    }
    x.sizes[dim] = index.rank == 0 ? 1 : index.rank == 1 ? index.sizes[0] : TAPER_UNKNOWN;
    return x;
}

// Returns the shape of x[i], which is index.Tensor(x, [i]). Several index tensors are broadcast. A bool tensor stands
// for the positions of its true elements.
static taper_shape indexed_by_list(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *list = call->count > 1 && call->args[1].kind == TAPER_KNOWN_TENSORS ? &call->args[1] : NULL;
    if (list == NULL || list->count != 1 || x.rank < 1) {
        return taper_shape_unknown();
    }
    const taper_shape *index = &list->shapes[0];
    const bool whole = index->dtype == TAPER_I64 || index->dtype == TAPER_I32;
    if (!whole || index->rank < 0 || index->rank + x.rank - 1 > TAPER_MAX_RANK) {
        return taper_shape_unknown();
    }
    taper_shape shape = {.rank = index->rank + x.rank - 1};
    memcpy(shape.sizes, index->sizes, (size_t)index->rank * sizeof *shape.sizes);
    memcpy(shape.sizes + index->rank, x.sizes + 1, (size_t)(x.rank - 1) * sizeof *shape.sizes);
    return shape;
}

// Returns the shape of x, except that dimension dim gets the size in the argument `name`.
static taper_shape with_size(const taper_infer_call *call, const char *name)
{
    taper_shape x = taper_infer_tensor(call, 0);
    const int dim = taper_infer_dim(call, "dim", x.rank);
    if (x.rank < 1 || dim < 0) {
        return x.rank == 0 ? x : taper_infer_same_rank(&x);
    }
    x.sizes[dim] = taper_infer_int(call, name, TAPER_UNKNOWN);
    return x;
}

// Handles transpose, swapdims, and swapaxes, which have different names for the same arguments.
static taper_shape transposed(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const int first = taper_infer_dim(call, "dim0", x.rank), second = taper_infer_dim(call, "dim1", x.rank);
    return swapped(x, first >= 0 ? first : taper_infer_dim(call, "axis0", x.rank),
                   second >= 0 ? second : taper_infer_dim(call, "axis1", x.rank));
}

// Returns the shape of unflatten(x, dim, sizes).
static taper_shape unflattened(const taper_infer_call *call)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    const taper_known *sizes = ints_at(call, 2);
    const int dim = taper_infer_dim(call, "dim", x.rank);
    if (x.rank < 1 || dim < 0 || sizes == NULL || sizes->count < 1 || x.rank - 1 + (int)sizes->count > TAPER_MAX_RANK) {
        return taper_shape_unknown();
    }
    taper_shape shape = removed(x, dim);
    int rest = -1;
    for (size_t i = 0; i < sizes->count; i++) {
        rest = sizes->ints[i] == -1 ? dim + (int)i : rest;
        shape = inserted(shape, dim + (int)i, sizes->ints[i] == -1 ? 1 : sizes->ints[i]);
    }
    if (rest >= 0) {
        const int64_t others = product(shape.sizes, dim, dim + (int)sizes->count);
        shape.sizes[rest] = left(x.sizes[dim], others);
    }
    return shape;
}

static taper_shape range(const taper_infer_call *call)
{
    const int64_t start = taper_infer_int(call, "start", 0), end = taper_infer_int(call, "end", TAPER_UNKNOWN),
                  step = taper_infer_int(call, "step", 1);
    const int64_t limit = INT64_C(1) << 40;
    taper_shape shape = {.rank = 1, .sizes = {TAPER_UNKNOWN}};
    if (start != TAPER_UNKNOWN && end != TAPER_UNKNOWN && step > 0 && start > -limit && end < limit && end >= start) {
        shape.sizes[0] = (end - start) / step + ((end - start) % step != 0);
    }
    return shape;
}

taper_shape taper_infer_view(const taper_infer_call *call, taper_op_shape rule)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    switch (rule) {
    case TAPER_SHAPE_GIVEN:
        return given(call);
    case TAPER_SHAPE_CREATE:
        return created(call);
    case TAPER_SHAPE_EXPAND:
        return expanded(call);
    case TAPER_SHAPE_REPEAT:
        return repeated(call);
    case TAPER_SHAPE_FLATTEN:
        return flattened(call);
    case TAPER_SHAPE_TRANSPOSE:
        return transposed(call);
    case TAPER_SHAPE_MATRIX:
        return x.rank == 1 ? x : swapped(x, 0, x.rank == 2 ? 1 : -1);
    case TAPER_SHAPE_PERMUTE:
        return permuted(call);
    case TAPER_SHAPE_SQUEEZE:
        return squeezed(call);
    case TAPER_SHAPE_UNSQUEEZE:
        return unsqueezed(call);
    case TAPER_SHAPE_SELECT:
    case TAPER_SHAPE_UNBIND:
        return without_dim(call);
    case TAPER_SHAPE_SLICE:
        return sliced(call);
    case TAPER_SHAPE_JOIN:
        return joined(call);
    case TAPER_SHAPE_STACK:
        return stacked(call);
    case TAPER_SHAPE_PIECES:
        return piece(call);
    case TAPER_SHAPE_INDEX:
        return indexed(call);
    case TAPER_SHAPE_INDEXED:
        return indexed_by_list(call);
    case TAPER_SHAPE_OTHER:
        return taper_infer_tensor(call, 1);
    case TAPER_SHAPE_TOPK:
        return with_size(call, "k");
    case TAPER_SHAPE_NARROW:
        return with_size(call, "length");
    case TAPER_SHAPE_UNFLATTEN:
        return unflattened(call);
    case TAPER_SHAPE_SCALAR:
        return (taper_shape){.rank = 0};
    case TAPER_SHAPE_RANGE:
        return range(call);
    case TAPER_SHAPE_GATHER:
        return taper_infer_tensor(call, 2);
    default:
        return taper_shape_unknown();
    }
}
