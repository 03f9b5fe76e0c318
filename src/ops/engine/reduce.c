// SPDX-License-Identifier: BSD-2-Clause
// The reduction engine (reduce.h).
#include "ops/engine/reduce.h"

#include <float.h>
#include <math.h>

#include "ops/call/parallel.h"
#include "ops/engine/elementwise_complex.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

taper_reduce taper_reduce_make(taper_tensor *x, const taper_reduce_op *op, taper_dtype dtype)
{
    taper_reduce r;
    memset(&r, 0, sizeof r);
    r.x = x;
    r.first = op;
    r.dtype = dtype;
    r.class_ = taper_ew_class_of(dtype);
    if (r.class_ == TAPER_EW_U8) {
        r.class_ = TAPER_EW_I64;
    }
    return r;
}

taper_status taper_reduce_supported(const taper_call *call, const taper_tensor *x)
{
    if (taper_ew_class_of((taper_dtype)x->dtype) == TAPER_EW_CLASSES) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s' tensors",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

taper_status taper_reduce_dims_arg(const taper_call *call, size_t at, size_t rank, bool *over)
{
    int64_t dims[2 * TAPER_MAX_RANK];
    size_t count = 0;
    memset(over, false, TAPER_MAX_RANK * sizeof *over);
    if (!taper_arg_is_none(call, at)) {
        TAPER_TRY(taper_arg_ints(call, at, 0, 2 * TAPER_MAX_RANK, dims, &count));
    }
    if (count == 0) {
        memset(over, true, TAPER_MAX_RANK * sizeof *over);
        return TAPER_OK;
    }
    for (size_t i = 0; i < count; i++) {
        size_t dim;
        TAPER_TRY(taper_wrap_dim_or_fail(dims[i], rank, &dim, call->run->error));
        if (over[dim]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "dim %zu appears multiple times in the list of dims",
                       dim);
        }
        over[dim] = true;
    }
    return TAPER_OK;
}

size_t taper_reduce_sizes(const taper_tensor *x, const bool *over, bool keep, int64_t *sizes)
{
    size_t rank = 0;
    for (size_t i = 0; i < x->rank; i++) {
        if (!over[i] || keep) {
            sizes[rank++] = over[i] ? 1 : x->sizes[i];
        }
    }
    return rank;
}

// ---- the walk: the loops over all elements

enum { BLOCK = 128 }; // largest number of results that are computed together

typedef union accumulators {
    double f[BLOCK];
    int64_t i[BLOCK];
    taper_c128 c[BLOCK];
} accumulators;

typedef struct walk {
    const taper_reduce *r;
    // Dimensions of the result (kept) and dimensions that are reduced, smallest step first.
    taper_reduce_dim kept[TAPER_MAX_RANK], reduced[TAPER_MAX_RANK];
    size_t kept_count, reduced_count;
    bool side_by_side; // true if neighbouring results along kept[0] are computed together, as lanes; otherwise elements
                       // along reduced[0] are folded to one result
    bool direct;       // true if elements are read in place, without conversion
    bool at_once;      // true if a single kernel call may write final results (reduce_at_once.h)
    bool multiplied;   // true if the kernel for `at_once` computes products
    taper_cast_function *cast; // kernel that converts contiguous elements, or NULL
    taper_ew_class result_class;
    double count; // number of elements that are reduced to one result
    taper_tensor *out[2];
    size_t width, groups; // number of results along kept[0] in one step; number of steps along kept[0]
    taper_reduce_vector vectors[2];
    taper_transpose_f32_function
        *turned;        // kernel that transposes floats, which replaces gathering them; NULL for other dtypes
    bool has_vector[2]; // for each pass, true if the vector kernels compute it
    // Kernels that read elements of their own dtype in place, for each pass; NULL if there is none.
    const taper_native_folder *native[2];
    taper_run *run; // run to charge, or NULL in a task, for which taper_run_range charges the run
    taper_status status;
    accumulators first, second, centre;
    taper_ew_block elements, temp;
} walk;

enum { FOLD_BLOCK = 1 << 18, WORK_OF_AN_ELEMENT = 4, WORK_OF_A_FOLD = 20 };

// Charges the run for n elements. Returns false if the run must end.
static bool go_on(walk *w, size_t n)
{
    if (w->run != NULL) {
        w->status = taper_run_spend(w->run, n * WORK_OF_AN_ELEMENT + WORK_OF_A_FOLD);
    }
    return w->status == TAPER_OK;
}

// Returns true if elements must be added as doubles. A variance subtracts the mean from elements that may differ from
// it only in their last digits. Kernels that add floats lose these digits: the mean of floats near 1e5 is then wrong by
// 0.01.
static bool needs_doubles(const taper_reduce *r)
{
    return r->centre == TAPER_CENTRE_MEAN;
}

#include "ops/engine/reduce_native.h"

static void prepare(walk *w, const taper_reduce *r, const taper_tensor *out)
{
    const int64_t in_item = (int64_t)taper_tensor_item(r->x);
    int64_t in[TAPER_MAX_RANK], to[TAPER_MAX_RANK];
    taper_tensor_steps(r->x, (size_t)in_item, in);
    taper_tensor_steps(out, taper_tensor_item(out), to);
    size_t at = 0;
    w->r = r;
    w->kept_count = w->reduced_count = 0;
    w->status = TAPER_OK;
    w->count = 1;
    for (size_t i = 0; i < r->x->rank; i++) {
        const int64_t size = r->x->sizes[i];
        if (r->over[i]) {
            w->count *= (double)size;
            if (size != 1) {
                w->reduced[w->reduced_count++] = (taper_reduce_dim){size, in[i], 0};
            }
        } else if (size != 1) {
            w->kept[w->kept_count++] = (taper_reduce_dim){size, in[i], to[at]};
        }
        at += !r->over[i] || r->keep;
    }
    w->kept_count = taper_reduce_sort(w->kept, w->kept_count);
    w->reduced_count = taper_reduce_sort(w->reduced, w->reduced_count);
    w->side_by_side = w->kept_count != 0 && (w->reduced_count == 0 || w->kept[0].in < w->reduced[0].in);
    if (!w->side_by_side && w->reduced_count == 0) {
        w->reduced[w->reduced_count++] = (taper_reduce_dim){1, in_item, 0};
    }
    const int64_t inner = w->side_by_side ? w->kept[0].in : w->reduced[0].in;
    w->direct = taper_ew_is_native((taper_dtype)r->x->dtype, r->class_) && inner == in_item;
}

static const void *elements(walk *w, const char *from, int64_t step, size_t n)
{
    if (w->direct) {
        return from;
    }
    if (w->cast != NULL && step == (int64_t)taper_tensor_item(w->r->x)) {
        w->cast(n, from, &w->elements);
    } else {
        taper_ew_load((taper_dtype)w->r->x->dtype, w->r->class_, &w->elements, from, step, n, &w->temp);
    }
    return &w->elements;
}

// Reduces floats to neighbouring results (lanes), many rows at a time. reduced[0] is the step from row to row.
static void pass_rows(walk *w, const taper_reduce_op *op, const taper_reduce_vector *v, accumulators *acc,
                      const char *from, size_t m)
{
    const taper_reduce_dim rows = w->reduced_count != 0 ? w->reduced[0] : (taper_reduce_dim){1, 0, 0};
    const size_t stride = (size_t)rows.in / sizeof(float);
    taper_walk inner;
    taper_reduce_walk(&inner, w->reduced, w->reduced_count != 0 ? 1 : 0, w->reduced_count);
    do {
        for (int64_t at = 0; at < rows.size; at += TAPER_REDUCE_ROWS) {
            const size_t count = (size_t)taper_min_i64(TAPER_REDUCE_ROWS, rows.size - at);
            if (!go_on(w, count * m)) {
                return;
            }
            const float *x = (const float *)(const void *)(from + inner.at[0] + at * rows.in);
            const bool held = taper_reduce_vector_rows(v, acc->f, x, count, stride, m);
            for (size_t row = 0; row < count && !held; row++) {
                op->lanes[TAPER_EW_F32](acc, x + row * stride, m, &w->centre, &w->r->args);
            }
        }
    } while (taper_walk_next(&inner));
}

// Reduces elements that are not float32 to neighbouring results (lanes), many rows at a time.
static void native_rows(walk *w, const taper_native_folder *native, accumulators *acc, const char *from, size_t m)
{
    const taper_reduce_dim rows = w->reduced_count != 0 ? w->reduced[0] : (taper_reduce_dim){1, 0, 0};
    const size_t stride = (size_t)rows.in / taper_tensor_item(w->r->x);
    taper_walk inner;
    taper_reduce_walk(&inner, w->reduced, w->reduced_count != 0 ? 1 : 0, w->reduced_count);
    do {
        for (int64_t at = 0; at < rows.size; at += TAPER_REDUCE_ROWS) {
            const size_t count = (size_t)taper_min_i64(TAPER_REDUCE_ROWS, rows.size - at);
            if (!go_on(w, count * m)) {
                return;
            }
            native->rows(count, m, from + inner.at[0] + at * rows.in, stride, acc);
        }
    } while (taper_walk_next(&inner));
}

// Reduces elements to one result. The elements are contiguous, or are gathered in blocks.
static void fold_line(walk *w, const taper_reduce_op *op, const taper_reduce_vector *v,
                      const taper_native_folder *native, void *acc, const void *centre, const char *from)
{
    const taper_reduce_dim run = w->reduced[0];
    const size_t n = (size_t)run.size, block = v != NULL                     ? taper_min_size(v->block, FOLD_BLOCK)
                                               : w->direct || native != NULL ? FOLD_BLOCK
                                                                             : TAPER_EW_BLOCK_BYTES / 16;
    taper_walk inner;
    taper_reduce_walk(&inner, w->reduced, 1, w->reduced_count);
    do {
        for (size_t at = 0; at < n && go_on(w, taper_min_size(block, n - at)); at += block) {
            const size_t count = taper_min_size(block, n - at);
            const char *x = from + inner.at[0] + (int64_t)at * run.in;
            if (v != NULL && taper_reduce_vector_fold(v, acc, (const float *)(const void *)x, count)) {
                continue;
            }
            if (native != NULL) {
                native->line(count, x, acc);
            } else {
                op->folds[w->r->class_](acc, elements(w, x, run.in, count), count, centre, &w->r->args);
            }
        }
    } while (w->status == TAPER_OK && taper_walk_next(&inner));
}

#include "ops/engine/reduce_turned.h"

// Reduces m lines, each short enough for one kernel call.
static void fold_lines(walk *w, const taper_reduce_op *op, const taper_reduce_vector *v, double *acc, const char *from,
                       size_t m)
{
    enum { LINES = 8 };
    const size_t n = (size_t)w->reduced[0].size, stride = m > 1 ? (size_t)w->kept[0].in / sizeof(float) : 0;
    const bool together = taper_reduce_vector_has_lines(v, n, m);
    taper_walk inner;
    taper_reduce_walk(&inner, w->reduced, 1, w->reduced_count);
    do {
        if (together) {
            if (!go_on(w, n * m)) {
                return;
            }
            if (taper_reduce_vector_lines(v, acc, (const float *)(const void *)(from + inner.at[0]), n, stride, m)) {
                continue;
            }
        }
        for (size_t k = 0; k < m; k++) {
            const char *const x = from + inner.at[0] + (m > 1 ? (int64_t)k * w->kept[0].in : 0);
            if (k % LINES == 0 && !go_on(w, n * taper_min_size(LINES, m - k))) {
                return;
            }
            if (!taper_reduce_vector_fold(v, &acc[k], (const float *)(const void *)x, n)) {
                op->folds[w->r->class_](&acc[k], x, n, &w->centre.f[k], &w->r->args);
            }
        }
    } while (taper_walk_next(&inner));
}

static void begin(taper_ew_class class_, const taper_reduce_op *op, accumulators *acc, size_t m)
{
    for (size_t k = 0; k < m && class_ == TAPER_EW_I64; k++) {
        acc->i[k] = op->start_int;
    }
    for (size_t k = 0; k < m && class_ == TAPER_EW_C128; k++) {
        acc->c[k] = (taper_c128){op->start, 0};
    }
    const double start = op->start;
    for (size_t k = 0; k < m && class_ != TAPER_EW_I64 && class_ != TAPER_EW_C128; k++) {
        acc->f[k] = start;
    }
}

static void pass(walk *w, const taper_reduce_op *op, accumulators *acc, const char *from, size_t m)
{
    const taper_ew_class class_ = w->r->class_;
    const size_t which = op == w->r->first ? 0 : 1;
    const taper_reduce_vector *v = w->has_vector[which] ? &w->vectors[which] : NULL;
    begin(class_, op, acc, m);
    if (w->count == 0) {
        return;
    }
    // Native kernels read only contiguous elements.
    const int64_t step = w->side_by_side ? w->kept[0].in : w->reduced[0].in;
    const taper_native_folder *native = step == (int64_t)taper_tensor_item(w->r->x) ? w->native[which] : NULL;
    if (v == NULL && native != NULL && w->side_by_side) {
        native_rows(w, native, acc, from, m);
        return;
    }
    if (v != NULL && w->side_by_side) {
        pass_rows(w, op, v, acc, from, m);
        return;
    }
    if (w->side_by_side) {
        taper_walk inner;
        taper_reduce_walk(&inner, w->reduced, 0, w->reduced_count);
        do {
            op->lanes[class_](acc, elements(w, from + inner.at[0], w->kept[0].in, m), m, &w->centre, &w->r->args);
        } while (go_on(w, m) && taper_walk_next(&inner));
        return;
    }
    const bool lines = v != NULL && taper_reduce_vector_has_lines(v, (size_t)w->reduced[0].size, m);
    if (!lines && fold_turned(w, op, v, native, acc->f, from, m)) {
        return;
    }
    if (v != NULL && (size_t)w->reduced[0].size <= taper_min_size(v->block, FOLD_BLOCK)) {
        fold_lines(w, op, v, acc->f, from, m);
        return;
    }
    const size_t item = class_ == TAPER_EW_C128 ? sizeof(taper_c128) : sizeof(double);
    for (size_t k = 0; k < m && w->status == TAPER_OK; k++) {
        fold_line(w, op, v, native, (char *)acc + k * item, (const char *)&w->centre + k * item,
                  from + (m > 1 ? (int64_t)k * w->kept[0].in : 0));
    }
}

static void set_centre(walk *w, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        if (w->r->centre == TAPER_CENTRE_FINITE) {
            w->centre.f[k] = isinf(w->first.f[k]) ? 0 : w->first.f[k];
        } else if (w->r->class_ == TAPER_EW_C128) {
            w->centre.c[k] = (taper_c128){w->first.c[k].re / w->count, w->first.c[k].im / w->count};
        } else {
            w->centre.f[k] = w->first.f[k] / w->count;
        }
    }
}

static double finish_one(const walk *w, double first, double second, double centre)
{
    const double freedom = w->count - w->r->correction;
    if (w->r->overflow > 0 && first >= w->r->overflow) {
        first = (double)INFINITY; // PyTorch returns infinity if the sum overflows, even if its root would be finite
    }
    switch ((taper_reduce_finish)w->r->finish) {
    case TAPER_FINISH_MEAN:
        return first / w->count;
    case TAPER_FINISH_RATIO:
        return first / second;
    case TAPER_FINISH_SQRT:
        return sqrt(first);
    case TAPER_FINISH_ROOT:
        return pow(first, 1 / w->r->args.p);
    case TAPER_FINISH_VAR:
        return second / (freedom > 0 ? freedom : 0);
    case TAPER_FINISH_STD:
        return sqrt(second / (freedom > 0 ? freedom : 0));
    case TAPER_FINISH_LOG:
        return centre + log(second);
    default:
        return first;
    }
}

// Turns the accumulators into results, in place in w->first.
static void finish(walk *w, size_t m)
{
    const taper_reduce *r = w->r;
    const bool reals = r->class_ != TAPER_EW_C128 && r->class_ != TAPER_EW_I64;
    if (reals && r->finish == TAPER_FINISH_SAME && r->overflow <= 0) {
        return;
    }
    if (reals && r->finish == TAPER_FINISH_MEAN && r->overflow <= 0) {
        for (size_t k = 0; k < m; k++) {
            w->first.f[k] /= w->count;
        }
        return;
    }
    for (size_t k = 0; k < m; k++) {
        if (r->class_ == TAPER_EW_C128 && r->real) {
            const double value = finish_one(w, w->first.c[k].re, w->second.c[k].re, 0);
            // Results of 8 bytes replace accumulators of 16 bytes, so this overwrites only entries that were read
            // already.
            w->first.f[k] = value;
        } else if (r->class_ == TAPER_EW_C128) {
            if (r->finish == TAPER_FINISH_MEAN) {
                w->first.c[k] = (taper_c128){w->first.c[k].re / w->count, w->first.c[k].im / w->count};
            }
        } else if (r->class_ != TAPER_EW_I64) {
            w->first.f[k] = finish_one(w, w->first.f[k], w->second.f[k], w->centre.f[k]);
        }
    }
}

#include "ops/engine/reduce_at_once.h"

static void block_of_results(walk *w, const char *from, char *to, size_t m)
{
    const taper_reduce *r = w->r;
    if (w->at_once && block_at_once(w, from, to, m)) {
        return;
    }
    taper_tensor *const *out = w->out;
    const int64_t step = w->kept_count != 0 ? w->kept[0].out : 0;
    pass(w, r->first, &w->first, from, m);
    if (r->second != NULL) {
        if (r->centre != TAPER_CENTRE_NONE) {
            set_centre(w, m);
        }
        pass(w, r->second, &w->second, from, m);
    }
    finish(w, m);
    taper_ew_store((taper_dtype)out[0]->dtype, w->result_class, to, step, &w->first, m, &w->temp);
    // Result 1 has the shape and the strides, in elements, of result 0, so its address follows from the address of
    // result 0.
    if (out[1] != NULL) {
        const taper_ew_class class_ = r->class_ == TAPER_EW_C128 ? TAPER_EW_C128 : TAPER_EW_F64;
        const int64_t item = (int64_t)taper_tensor_item(out[0]), mean_item = (int64_t)taper_tensor_item(out[1]);
        char *mean =
            (char *)taper_tensor_mutable(out[1]) + (to - (char *)taper_tensor_mutable(out[0])) / item * mean_item;
        taper_ew_store((taper_dtype)out[1]->dtype, class_, mean, step / item * mean_item, &w->centre, m, &w->temp);
    }
}

// Computes groups [begin, end) of results, numbered along kept[0] first.
static void groups_range(void *argument, size_t begin, size_t end)
{
    walk *w = argument, piece;
    if (w->run == NULL) { // each task needs its own accumulators
        memcpy(&piece, w, offsetof(walk, first));
        memset(&piece.centre, 0, sizeof piece.centre);
        w = &piece;
    }
    for (size_t i = begin; i < end && w->status == TAPER_OK; i++) {
        int64_t at = (int64_t)(i % w->groups * w->width), in = 0, out = 0;
        size_t left = i / w->groups, m = 1;
        if (w->kept_count != 0) {
            m = (size_t)taper_min_i64((int64_t)w->width, w->kept[0].size - at);
            in = at * w->kept[0].in;
            out = at * w->kept[0].out;
        }
        for (size_t d = 1; d < w->kept_count; d++) {
            at = (int64_t)(left % (size_t)w->kept[d].size);
            left /= (size_t)w->kept[d].size;
            in += at * w->kept[d].in;
            out += at * w->kept[d].out;
        }
        block_of_results(w, (const char *)taper_tensor_data(w->r->x) + in,
                         (char *)taper_tensor_mutable(w->out[0]) + out, m);
    }
}

// LARGE_GROUP: smallest number of elements for which a group gets its own task. FOLDED: number of elements of the
// folded lines in a group.
enum { LARGE_GROUP = 1 << 18, FOLDED = 1 << 14 };

static taper_status run_walk(walk *w, taper_run *run)
{
    const taper_reduce *r = w->r;
    const size_t kept = w->kept_count != 0 ? (size_t)w->kept[0].size : 1;
    const bool fast = w->direct && r->class_ == TAPER_EW_F32;
    w->has_vector[0] = fast && !needs_doubles(r) && taper_reduce_vector_find(&w->vectors[0], run, r->first->kernel);
    w->width = w->side_by_side ? BLOCK : taper_min_size(BLOCK, (size_t)(FOLDED / fmax(w->count, 1)) + 1);
    if (!w->side_by_side && w->has_vector[0] &&
        taper_reduce_vector_has_lines(&w->vectors[0], (size_t)w->reduced[0].size, SIZE_MAX)) {
        w->width = taper_min_size(BLOCK, taper_max_size(w->width, w->vectors[0].vector->lanes));
    }
    w->groups = (kept - 1) / w->width + 1;
    size_t groups = w->groups, results = kept;
    for (size_t d = 1; d < w->kept_count; d++) {
        groups *= (size_t)w->kept[d].size; // the product is at most the number of results, so it cannot overflow
        results *= (size_t)w->kept[d].size;
    }
    w->cast = run->portable ? NULL : find_read_cast(run, r);
    w->turned = fast && !run->portable ? taper_vector_f32_select(run->cpu)->transpose : NULL;
    w->native[0] = find_native(run, r, r->first->native);
    w->native[1] = r->second != NULL ? find_native(run, r, r->second->native) : NULL;
    w->has_vector[1] = fast && r->second != NULL && taper_reduce_vector_find(&w->vectors[1], run, r->second->kernel);
    w->vectors[0].vector = taper_vector_f32_select(run->cpu);
    w->multiplied = fast && !run->portable && w->side_by_side && r->first == &taper_reduce_prod;
    w->at_once = is_at_once(w);
    memset(&w->centre, 0, sizeof w->centre);
    w->run = run;
    const double group = w->count * (double)taper_min_size(w->width, kept);
    if (groups > 1 && group <= LARGE_GROUP) {
        w->run = NULL;
        const double each = w->has_vector[0] && r->second == NULL ? 0.1 : 0.5 * (r->second != NULL ? 2 : 1);
        return taper_run_range(run, groups_range, w, groups, 1, (double)results * (w->count * each + 10));
    }
    groups_range(w, 0, groups);
    return w->status;
}

#include "ops/engine/reduce_elements.h"

taper_status taper_reduce_run(taper_call *call, taper_reduce *r)
{
    taper_error *error = call->run->error;
    TAPER_TRY(taper_reduce_supported(call, r->x));
    if (r->first->lanes[r->class_] == NULL || (r->second != NULL && r->second->lanes[r->class_] == NULL)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name((taper_dtype)r->x->dtype));
    }
    int64_t sizes[TAPER_MAX_RANK];
    const size_t rank = taper_reduce_sizes(r->x, r->over, r->keep, sizes);
    taper_tensor *out[2] = {NULL, NULL};
    taper_tensor *x = r->x, *apart = NULL;
    for (size_t k = 0; k < 1u + r->mean_too; k++) {
        taper_tensor *target = taper_ret_target(call, k);
        if (target != NULL) {
            // The result overlaps the input, so the input is copied before the result is written.
            if (target->storage == x->storage && apart == NULL) {
                TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_PRESERVE, &apart));
                r->x = apart;
            }
        }
    }
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < 1u + r->mean_too && status == TAPER_OK; k++) {
        const taper_dtype dtype = k == 0 ? r->dtype : (taper_dtype)x->dtype;
        status = taper_ret_new(call, k, dtype, rank, sizes, NULL, &out[k]);
        if (status == TAPER_OK) {
            status = taper_check_cast(dtype, (taper_dtype)out[k]->dtype, error);
        }
        if (status == TAPER_OK && taper_ew_class_of((taper_dtype)out[k]->dtype) == TAPER_EW_CLASSES) {
            status = taper_fail(error, TAPER_ERROR_UNSUPPORTED, "results of dtype %s are not supported",
                                taper_dtype_torch_name((taper_dtype)out[k]->dtype));
        }
    }
    if (status == TAPER_OK && r->mean_too && out[1]->rank == out[0]->rank &&
        memcmp(out[0]->strides, out[1]->strides, rank * sizeof *sizes) != 0) {
        status = taper_fail(error, TAPER_ERROR_UNSUPPORTED, "the two results must have the same strides");
    }
    if (status == TAPER_OK && out[1] == NULL && are_elements(r, r->x, out[0])) {
        copy_elements(call->run, r, r->x, out[0]);
    } else if (status == TAPER_OK && taper_tensor_numel(out[0]) != 0) {
        walk w;
        prepare(&w, r, out[0]);
        w.result_class = r->class_ == TAPER_EW_C128  ? (r->real ? TAPER_EW_F64 : TAPER_EW_C128)
                         : r->class_ == TAPER_EW_I64 ? TAPER_EW_I64
                                                     : TAPER_EW_F64;
        memcpy(w.out, out, sizeof out);
        status = run_walk(&w, call->run);
    }
    r->x = x;
    taper_tensor_drop(apart);
    return status;
}
