// SPDX-License-Identifier: BSD-2-Clause
// Moves elements. It sorts and merges dimensions so that the innermost loop is a memcpy, a strided loop or a blocked
// transposition. It also clones tensors and computes the strides of clones.
#include "ops/engine/view_move.h"

#include <math.h>

#include "ir/storage.h"
#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/parallel.h"
#include "ops/list/op_features.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern taper_scalar taper_scalar_int(int64_t i);
extern taper_scalar taper_scalar_double(double f);
extern void taper_tensor_drop(taper_tensor *tensor);

typedef struct move_dim {
    int64_t size, to, from; // size of the dimension; strides of the destination and of the source, in bytes
} move_dim;

static int64_t magnitude(int64_t n)
{
    return n < 0 ? -n : n;
}

// Returns true if the loop over dimension a belongs inside the loop over b. The dimension with the largest step of the
// destination is outermost, so that memory is written in order.
static bool goes_inside(const move_dim *a, const move_dim *b)
{
    const int64_t ta = magnitude(a->to), tb = magnitude(b->to);
    return ta != tb ? ta < tb : magnitude(a->from) < magnitude(b->from);
}

static size_t prepare_dims(move_dim *dims, size_t item, size_t rank, const int64_t *sizes, const int64_t *to,
                           const int64_t *from)
{
    size_t n = 0;
    for (size_t d = 0; d < rank; d++) {
        if (sizes[d] == 1) {
            continue;
        }
        const move_dim dim = {sizes[d], to[d] * (int64_t)item, from[d] * (int64_t)item};
        size_t at = n++;
        while (at > 0 && goes_inside(&dims[at - 1], &dim)) {
            dims[at] = dims[at - 1];
            at--;
        }
        dims[at] = dim;
    }
    size_t kept = 0;
    for (size_t d = 0; d < n; d++) {
        move_dim *outer = kept > 0 ? &dims[kept - 1] : NULL;
        if (outer != NULL && outer->to == dims[d].to * dims[d].size && outer->from == dims[d].from * dims[d].size) {
            outer->size *= dims[d].size;
            outer->to = dims[d].to;
            outer->from = dims[d].from;
        } else {
            dims[kept++] = dims[d];
        }
    }
    return kept;
}

#define STRIDED(bytes)                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        memcpy(to, from, (bytes));                                                                                     \
        to += to_step;                                                                                                 \
        from += from_step;                                                                                             \
    }

// Copies one element to n contiguous elements, 64 bytes at a time. A compiler cannot do this, because it does not know
// that the source element does not change.
static void spread(size_t item, int64_t n, char *to, const char *from)
{
    uint64_t bits = 0, pattern[8];
    memcpy(&bits, from, item);
    // The low bytes come first on every machine that Taper supports.
    for (size_t have = item; have < sizeof bits; have *= 2) {
        bits |= bits << have * 8;
    }
    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++) {
        pattern[i] = bits;
    }
    size_t left = (size_t)n * item;
    for (; left >= sizeof pattern; left -= sizeof pattern, to += sizeof pattern) {
        memcpy(to, pattern, sizeof pattern);
    }
    memcpy(to, pattern, left);
}

#include "ops/engine/view_move_turned.h"

static void move_line(size_t item, int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step)
{
    move_turned(item, &n, &to, to_step, &from, from_step);
    enum { WORTH_A_CALL = 32 };
    if (from_step == 0 && to_step == (int64_t)item && n * (int64_t)item >= WORTH_A_CALL &&
        memcmp(from, from + 1, item - 1) == 0) { // true if all bytes of the element are equal, as in a zero
        memset(to, *(const unsigned char *)from, (size_t)n * item);
        return;
    }
    if (from_step == 0 && to_step == (int64_t)item && item <= sizeof(uint64_t) && n * (int64_t)item >= WORTH_A_CALL) {
        spread(item, n, to, from);
        return;
    }
    switch (item) {
    case 1:
        STRIDED(1) break;
    case 2:
        STRIDED(2) break;
    case 4:
        STRIDED(4) break;
    case 8:
        STRIDED(8) break;
    default:
        STRIDED(16) break;
    }
}
#undef STRIDED

// TILE: smallest number of rows or columns for a thread. SHORT: the shortest side that is worth a transposition.
enum { TILE = 16, SHORT = 4 };

#include "ops/engine/view_move_short.h"

static void move_plane(const taper_run *run, size_t item, const move_dim *outer, const move_dim *inner, char *to,
                       const char *from)
{
    const int64_t width = (int64_t)item;
    if (inner->to == width && inner->from == width) {
        const size_t bytes = (size_t)inner->size * item;
        move_rows(bytes, outer, to, from);
    } else if (inner->to == width && outer->from == width && inner->size >= SHORT && outer->size >= SHORT) {
        taper_move_transposed(run, item, outer->size, inner->size, to, outer->to, from, inner->from);
    } else if (!move_short_lines(item, outer, inner, to, from)) {
        for (int64_t i = 0; i < outer->size; i++) {
            move_line(item, inner->size, to + i * outer->to, inner->to, from + i * outer->from, inner->from);
        }
    }
}

void taper_move_plane(const taper_run *run, size_t item, size_t lines, size_t n, char *to, int64_t to_line,
                      int64_t to_step, const char *from, int64_t from_line, int64_t from_step)
{
    const move_dim outer = {(int64_t)lines, to_line, from_line}, inner = {(int64_t)n, to_step, from_step};
    if (outer.to == (int64_t)item && inner.to != outer.to) {
        move_plane(run, item, &inner, &outer, to, from);
    } else {
        move_plane(run, item, &outer, &inner, to, from);
    }
}

// PIECE: number of elements between two checks of the run. WORK_OF_A_MOVE: nanoseconds for an element, which may not be
// in the cache.
enum { PIECE = 1 << 20, WORK_OF_A_MOVE = 4 };

static bool move_pieces(taper_run *run, size_t item, move_dim outer, move_dim inner, char *to, const char *from)
{
    const int64_t rows = outer.size, columns = inner.size;
    const int64_t width = taper_min_i64(columns, PIECE), height = taper_max_i64(PIECE / width, 1);
    for (int64_t c = 0; c < columns; c += width) {
        inner.size = taper_min_i64(width, columns - c);
        for (int64_t r = 0; r < rows; r += height) {
            outer.size = taper_min_i64(height, rows - r);
            if (!taper_run_goes_on(run, (uint64_t)(outer.size * inner.size) * WORK_OF_A_MOVE)) {
                return false;
            }
            move_plane(run, item, &outer, &inner, to + r * outer.to + c * inner.to,
                       from + r * outer.from + c * inner.from);
        }
    }
    return true;
}

// ---- moves by several threads

// A move that threads share. It has a plane of outer x inner elements for each index of the other dimensions, the last
// of which is the fastest. Each plane is divided into `across` parts of `height` rows, and each of these parts into
// `along` parts of `width` columns.
typedef struct shared_move {
    const taper_run *run;
    size_t item, count; // item: size of an element in bytes; count: number of dimensions
    const move_dim *dims;
    move_dim outer, inner;
    size_t across, along;
    int64_t height, width;
    char *to;
    const char *from;
} shared_move;

static void move_parts(void *argument, size_t begin, size_t end)
{
    const shared_move *m = argument;
    size_t plane = begin / (m->across * m->along), part = begin % (m->across * m->along);
    taper_walk walk;
    taper_walk_begin(&walk, 2);
    for (size_t n = m->count; n-- > 0; plane /= (size_t)m->dims[n].size) {
        int64_t *const steps = taper_walk_add(&walk, m->dims[n].size);
        steps[0] = m->dims[n].to;
        steps[1] = m->dims[n].from;
        const int64_t at = walk.dims[walk.rank - 1].at = (int64_t)(plane % (size_t)m->dims[n].size);
        walk.at[0] += at * steps[0];
        walk.at[1] += at * steps[1];
    }
    for (size_t left = end - begin; left > 0; left--) {
        move_dim outer = m->outer, inner = m->inner;
        const int64_t row = (int64_t)(part / m->along) * m->height, column = (int64_t)(part % m->along) * m->width;
        outer.size = taper_min_i64(m->height, outer.size - row);
        inner.size = taper_min_i64(m->width, inner.size - column);
        move_plane(m->run, m->item, &outer, &inner, m->to + walk.at[0] + row * outer.to + column * inner.to,
                   m->from + walk.at[1] + row * outer.from + column * inner.from);
        if (++part == m->across * m->along) {
            part = 0;
            (void)taper_walk_next(&walk);
        }
    }
}

// Divides `all` into about `parts` parts of whole tiles. Sets *length to the size of a part, and returns the number of
// parts.
static size_t cut_into(int64_t all, size_t parts, int64_t *length)
{
    const int64_t tiles = (all - 1) / TILE + 1;
    *length = ((tiles - 1) / (int64_t)parts + 1) * TILE;
    return (size_t)((all - 1) / *length + 1);
}

// Moves on several threads. Returns false if there is too little work, or if elements of the destination may overlap.
static bool move_shared(taper_run *run, shared_move *m)
{
    double planes = 1;
    bool apart = m->outer.to != 0 || m->outer.size == 1;
    for (size_t d = 0; d < m->count; d++) {
        planes *= (double)m->dims[d].size;
        apart &= m->dims[d].to != 0;
    }
    const double elements = planes * (double)m->outer.size * (double)m->inner.size;
    const bool lines = m->inner.to == (int64_t)m->item && m->inner.from == m->inner.to;
    const double work = taper_floats_work(elements * (lines ? (double)m->item / sizeof(float) : 2));
    const size_t pieces = taper_run_pieces(run, work);
    if (pieces < 2 || !apart || m->inner.to == 0 || planes >= 0x1p31) {
        return false;
    }
    m->run = run;
    m->across = m->along = 1;
    m->height = m->outer.size;
    m->width = m->inner.size;
    if (planes < (double)pieces) {
        const size_t parts = (pieces - 1) / (size_t)planes + 1;
        if (m->outer.size >= (int64_t)(parts * TILE) || m->outer.size >= m->inner.size) {
            m->across = cut_into(m->outer.size, parts, &m->height);
        } else {
            m->along = cut_into(m->inner.size, parts, &m->width);
        }
    }
    const double charged = elements * WORK_OF_A_MOVE;
    if (taper_run_goes_on(run, (uint64_t)(charged - fmin(work, charged)))) {
        // The status is ignored, because a run that must end is noticed when the operator has returned.
        (void)!taper_run_range(run, move_parts, m, (size_t)planes * m->across * m->along, 1, work);
    }
    return true;
}

void taper_move(taper_run *run, size_t item, size_t rank, const int64_t *sizes, void *to, const int64_t *to_strides,
                const void *from, const int64_t *from_strides)
{
    for (size_t d = 0; d < rank; d++) {
        if (sizes[d] == 0) {
            return;
        }
    }
    move_dim dims[TAPER_MOVE_RANK];
    size_t n = prepare_dims(dims, item, rank, sizes, to_strides, from_strides);
    const move_dim one = {1, 0, 0};
    const move_dim scalar = {1, (int64_t)item, (int64_t)item};
    move_dim inner = n > 0 ? dims[--n] : scalar;
    move_dim outer = one;
    if (n > 0) {
        size_t pick = n - 1;
        if (inner.to == (int64_t)item && inner.from != inner.to) {
            // The move is a transposition: the second dimension of the plane is the one along which the source is
            // contiguous.
            for (size_t d = 0; d < n; d++) {
                if (dims[d].from == (int64_t)item) {
                    pick = d;
                }
            }
            pick = pick_long(dims, n, pick);
        }
        outer = dims[pick];
        n--;
        for (size_t d = pick; d < n; d++) {
            dims[d] = dims[d + 1];
        }
    }
    shared_move shared = {
        .item = item, .count = n, .dims = dims, .outer = outer, .inner = inner, .to = to, .from = from};
    if (TAPER_MOVES && move_shared(run, &shared)) {
        return;
    }
    taper_walk walk;
    taper_walk_begin(&walk, 2);
    double elements = (double)outer.size * (double)inner.size;
    while (n-- > 0) {
        int64_t *const steps = taper_walk_add(&walk, dims[n].size);
        elements *= (double)dims[n].size;
        steps[0] = dims[n].to;
        steps[1] = dims[n].from;
    }
    if (is_few(elements, PIECE)) {
        if (taper_run_goes_on(run, (uint64_t)elements * WORK_OF_A_MOVE)) {
            do {
                move_plane(run, item, &outer, &inner, (char *)to + walk.at[0], (const char *)from + walk.at[1]);
            } while (taper_walk_next(&walk));
        }
        return;
    }
    while (move_pieces(run, item, outer, inner, (char *)to + walk.at[0], (const char *)from + walk.at[1]) &&
           taper_walk_next(&walk)) {
    }
}

taper_status taper_move_item(const taper_tensor *tensor, size_t *item, taper_error *error)
{
    *item = taper_tensor_item(tensor);
    if (*item == 0) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "%s tensors are not supported here",
                          taper_dtype_name((taper_dtype)tensor->dtype));
    }
    return TAPER_OK;
}

// ---- strides of copies

// Returns a positive number if dimension a must be outside b, because a has the larger stride, and a negative number if
// a must be inside b. Returns 0 if the strides do not decide.
static int stride_order(const taper_tensor *x, unsigned a, unsigned b)
{
    if (x->strides[a] == 0 || x->strides[b] == 0) {
        return 0;
    }
    if (x->strides[a] != x->strides[b]) {
        return x->strides[a] < x->strides[b] ? -1 : 1;
    }
    return x->sizes[a] > x->sizes[b] ? 1 : 0;
}

void taper_strides_dense(const taper_tensor *x, int64_t *strides)
{
    unsigned order[TAPER_MAX_RANK];
    for (unsigned i = 0; i < x->rank; i++) {
        order[i] = x->rank - 1u - i;
    }
    for (unsigned i = 1; i < x->rank; i++) {
        unsigned moving = i;
        for (unsigned j = i; j-- > 0;) {
            const int c = stride_order(x, order[j], order[moving]);
            if (c > 0) {
                const unsigned swap = order[j];
                order[j] = order[moving];
                order[moving] = swap;
                moving = j;
            } else if (c < 0) {
                break;
            }
        }
    }
    int64_t stride = 1;
    for (unsigned i = 0; i < x->rank; i++) {
        strides[order[i]] = stride;
        if (x->sizes[order[i]] > 1) {
            stride *= x->sizes[order[i]];
        }
    }
}

taper_status taper_like_strides(const taper_tensor *tensor, int64_t format, int64_t *strides, taper_error *error)
{
    switch (format) {
    case TAPER_FORMAT_CONTIGUOUS:
        taper_strides_contiguous(tensor->rank, tensor->sizes, strides);
        return TAPER_OK;
    case TAPER_FORMAT_PRESERVE:
        if (tensor->hidden_nhwc) {
            taper_strides_contiguous(tensor->rank, tensor->sizes, strides);
        } else if (taper_tensor_is_dense(tensor)) {
            for (unsigned d = 0; d < tensor->rank; d++) {
                strides[d] = tensor->strides[d];
            }
        } else {
            taper_strides_dense(tensor, strides);
        }
        return TAPER_OK;
    case TAPER_FORMAT_CHANNELS_LAST:
    case TAPER_FORMAT_CHANNELS_LAST_3D: {
        const unsigned rank = format == TAPER_FORMAT_CHANNELS_LAST ? 4 : 5;
        if (tensor->rank != rank) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT, "required rank %u tensor to use %s format", rank,
                              rank == 4 ? "channels_last" : "channels_last_3d");
        }
        taper_strides_channels_last(rank, tensor->sizes, strides);
        return TAPER_OK;
    }
    default:
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "memory_format: unknown value %lld", (long long)format);
    }
}

// ---- clones

taper_status taper_tensor_like(taper_heap *heap, const taper_tensor *tensor, size_t rank, const int64_t *sizes,
                               const int64_t *strides, taper_tensor **result, taper_error *error)
{
    TAPER_TRY(taper_tensor_new(heap, (taper_dtype)tensor->dtype, rank, sizes, strides, result, error));
    if (tensor->quantizer != NULL) {
        const taper_status status = taper_tensor_set_quantizer(*result, tensor->quantizer, error);
        if (status != TAPER_OK) {
            taper_tensor_drop(*result);
            *result = NULL;
            return status;
        }
    }
    return TAPER_OK;
}

taper_status taper_tensor_move(taper_run *run, taper_tensor *to, const taper_tensor *from)
{
    size_t item;
    TAPER_TRY(taper_move_item(to, &item, run->error));
    taper_move(run, item, to->rank, to->sizes, taper_tensor_mutable(to), to->strides, taper_tensor_data(from),
               from->strides);
    return TAPER_OK;
}

taper_status taper_view_clone(taper_run *run, const taper_tensor *tensor, int64_t format, taper_tensor **clone)
{
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_like_strides(tensor, format, strides, run->error));
    const bool hidden = tensor->hidden_nhwc && (format == TAPER_FORMAT_CONTIGUOUS || format == TAPER_FORMAT_PRESERVE);
    if (hidden) {
        memcpy(strides, tensor->strides, sizeof strides);
    }
    TAPER_TRY(taper_tensor_like(run->heap, tensor, tensor->rank, tensor->sizes, strides, clone, run->error));
    (*clone)->hidden_nhwc = hidden;
    const taper_status status = taper_tensor_move(run, *clone, tensor);
    if (status != TAPER_OK) {
        taper_tensor_drop(*clone);
        *clone = NULL;
    }
    return status;
}

// ---- arguments that a kernel changes in place

taper_status taper_inplace_begin(taper_call *call, int64_t format, taper_tensor **self)
{
    taper_error *error = taper_call_error(call);
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!taper_call_in_place(call)) {
        return taper_view_clone(call->run, x, format, self);
    }
    TAPER_TRY(taper_ret_check_overlap(call, x));
    TAPER_TRY(taper_storage_write(x->storage, error));
    taper_obj_retain(&x->head);
    *self = x;
    return TAPER_OK;
}

taper_status taper_inplace_end(taper_call *call, taper_tensor *self)
{
    if (taper_call_in_place(call)) {
        taper_ret(call, 0, TAPER_VAL(self));
        return TAPER_OK;
    }
    return taper_ret_tensor(call, 0, self);
}
