// SPDX-License-Identifier: BSD-2-Clause
// The elementwise engine (elementwise.h): dtype and shape of the result, then the walk. The walk sorts and merges the
// dimensions by the result's strides, runs over the innermost one in loops of the operator, and gathers what does not
// lie there as the loops want it. Inputs that stand still along the innermost dimension are spread over a block once.
#include "ops/engine/elementwise.h"

#include "base/atomic.h"
#include "ir/walk.h"
#include "ops/call/parallel.h"
#include "ops/list/op_config.h"

// The one copy for compilers that call rather than inline.
extern taper_ew taper_ew_make(const taper_ew_op *op);
extern void taper_ew_input_tensor(taper_ew *ew, taper_tensor *tensor);

void taper_ew_set_scalar(taper_ew_args *args, size_t at, const taper_scalar *scalar)
{
    const bool whole = scalar->kind == TAPER_SCALAR_BOOL || scalar->kind == TAPER_SCALAR_INT;
    args->f[at] = whole ? (double)scalar->i : scalar->f;
    args->i[at] = scalar->i;
    args->c[at] = (taper_c128){args->f[at], scalar->kind == TAPER_SCALAR_COMPLEX ? scalar->im : 0};
}

taper_status taper_ew_input_arg(taper_ew *ew, const taper_call *call, size_t at)
{
    taper_ew_input *input = &ew->inputs[ew->count++];
    input->at = at < UINT8_MAX ? (uint8_t)(at + 1) : 0;
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        input->tensor = call->args[at].as.tensor;
        return TAPER_OK;
    }
    const taper_schema *schema = call->schema;
    if (schema != NULL && at < schema->arg_count && schema->args[at].type->kind == TAPER_TYPE_TENSOR) {
        return taper_arg_tensor(call, at, &input->tensor); // says what is wrong
    }
    return taper_arg_scalar(call, at, &input->scalar);
}

taper_dtype taper_ew_common(const taper_ew *ew)
{
    taper_promotion promotion = taper_promotion_start();
    for (size_t k = 0; k < ew->count; k++) {
        if ((ew->op->masks >> k & 1) != 0) {
            continue;
        }
        if (ew->inputs[k].tensor != NULL) {
            taper_promotion_tensor(&promotion, ew->inputs[k].tensor);
        } else {
            taper_promotion_scalar(&promotion, &ew->inputs[k].scalar);
        }
    }
    const taper_dtype common = taper_promotion_result(&promotion);
    return ew->op->promote == TAPER_EW_FLOAT ? taper_dtype_to_float(common) : common;
}

// ---- the walk

typedef struct side {
    char *data;
    taper_dtype dtype;
    taper_ew_class class_;
    bool direct;   // the loops take the memory itself
    bool standing; // no step along the innermost dimension
    bool constant; // nor along any other
    bool filled;
    int64_t steps[TAPER_MAX_RANK]; // bytes, innermost first
    uint8_t number[16];            // a 0-dim input in the common dtype
} side;

typedef struct walk {
    size_t rank, sides; // sides[0] is the result
    int64_t sizes[TAPER_MAX_RANK];
    side side[TAPER_EW_INPUTS + 1];
} walk;

// Lays tensor over the result's dimensions.
static void side_set(side *s, const walk *w, const taper_tensor *tensor, taper_ew_class class_)
{
    const size_t lead = w->rank - tensor->rank;
    int64_t own[TAPER_MAX_RANK];
    taper_tensor_steps(tensor, taper_tensor_item(tensor), own);
    s->dtype = (taper_dtype)tensor->dtype;
    s->class_ = class_;
    for (size_t i = 0; i < w->rank; i++) {
        s->steps[i] = i < lead ? 0 : own[i - lead];
    }
}

static void swap_dims(walk *w, size_t a, size_t b)
{
    const int64_t size = w->sizes[a];
    w->sizes[a] = w->sizes[b];
    w->sizes[b] = size;
    for (size_t k = 0; k < w->sides; k++) {
        const int64_t step = w->side[k].steps[a];
        w->side[k].steps[a] = w->side[k].steps[b];
        w->side[k].steps[b] = step;
    }
}

static bool goes_before(const walk *w, size_t a, size_t b)
{
    for (size_t k = 0; k < w->sides; k++) {
        const int64_t sa = w->side[k].steps[a], sb = w->side[k].steps[b];
        if (sa != sb && (k == 0 || (sa != 0 && sb != 0))) {
            return sa < sb;
        }
    }
    return false;
}

// Innermost first, dimensions of size 1 dropped, neighbours that run on in all sides merged.
static void sort_and_merge(walk *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->rank; i++) {
        if (w->sizes[i] != 1) {
            swap_dims(w, kept++, i);
        }
    }
    w->rank = kept;
    for (size_t i = 1; i < w->rank; i++) {
        for (size_t j = i; j > 0 && goes_before(w, j, j - 1); j--) {
            swap_dims(w, j, j - 1);
        }
    }
    kept = w->rank != 0;
    for (size_t i = 1; i < w->rank; i++) {
        bool merges = true;
        for (size_t k = 0; k < w->sides; k++) {
            merges = merges && w->side[k].steps[i] == w->side[k].steps[kept - 1] * w->sizes[kept - 1];
        }
        if (merges) {
            w->sizes[kept - 1] *= w->sizes[i];
        } else {
            swap_dims(w, kept++, i);
        }
    }
    w->rank = kept;
    if (w->rank == 0) {
        w->rank = 1;
        w->sizes[0] = 1;
        for (size_t k = 0; k < w->sides; k++) {
            w->side[k].steps[0] = 0;
        }
    }
}

typedef struct blocks {
    taper_ew_block side[TAPER_EW_INPUTS + 1], temp;
} blocks;

enum { PIECE = 1 << 16, WORK_OF_AN_ELEMENT = 16 }; // elements; of any operator, the special functions' too

// One innermost run, from the sides' present data. False: the run is to end.
static bool run_line(walk *w, taper_ew_loop loop, taper_ew_args *args, blocks *b, size_t block)
{
    const size_t n = (size_t)w->sizes[0];
    side *to = &w->side[0];
    bool all_direct = to->direct;
    for (size_t k = 1; k < w->sides; k++) {
        side *s = &w->side[k];
        all_direct = all_direct && s->direct;
        if (s->standing && !s->filled) {
            taper_ew_load(s->dtype, s->class_, &b->side[k], s->data, 0, taper_min_size(n, block), &b->temp);
            s->filled = s->constant;
        }
    }
    const size_t step = all_direct ? PIECE : block;
    for (size_t at = 0; at < n; at += step) {
        const size_t m = taper_min_size(step, n - at);
        if (args->run != NULL && !taper_run_goes_on(args->run, m * WORK_OF_AN_ELEMENT + 20)) {
            return false;
        }
        const void *in[TAPER_EW_INPUTS] = {NULL};
        for (size_t k = 1; k < w->sides; k++) {
            const side *s = &w->side[k];
            const char *from = s->data + (int64_t)at * s->steps[0];
            in[k - 1] = s->direct ? (const void *)from : (const void *)&b->side[k];
            if (!s->direct && !s->standing) {
                taper_ew_load(s->dtype, s->class_, &b->side[k], from, s->steps[0], m, &b->temp);
            }
        }
        char *target = to->data + (int64_t)at * to->steps[0];
        loop(m, to->direct ? (void *)target : (void *)&b->side[0], in, args);
        if (!to->direct) {
            taper_ew_store(to->dtype, to->class_, target, to->steps[0], &b->side[0], m, &b->temp);
        }
    }
    return true;
}

// A computation in floats by the vector kernels, if they have it.
static taper_status run_vector(taper_call *call, const taper_ew *ew, const walk *w, bool keeps)
{
    taper_run *const run = call->run;
    const bool converts = !TAPER_SMALL && ew->op->converts;
    if (run->portable || (!converts && (ew->op->kernel == 0 || w->side[0].class_ != TAPER_EW_F32))) {
        return TAPER_DECLINED;
    }
    taper_ew_walk seen = {.rank = w->rank, .sides = w->sides, .sizes = w->sizes};
    for (size_t k = 0; k < w->sides; k++) {
        if (w->side[k].dtype != TAPER_F32 && !converts) {
            return TAPER_DECLINED;
        }
        seen.data[k] = w->side[k].data;
        seen.steps[k] = w->side[k].steps;
    }
    if (converts) {
        return taper_ew_cast(run, w->side[1].dtype, w->side[0].dtype, &seen);
    }
    const taper_status status = taper_ew_vector(run, ew->op, &ew->args, &seen);
    if (status == TAPER_OK && keeps) {
        taper_ew_keep_walk(call, ew, &seen);
    }
    return status;
}

// Finds out how the sides are read; returns how many elements are read and written at a time where they are converted.
static size_t prepare_sides(walk *w)
{
    size_t widest = 1;
    for (size_t k = 0; k < w->sides; k++) {
        side *s = &w->side[k];
        const int64_t item = (int64_t)taper_ew_class_size(s->class_);
        const bool alone = w->rank == 1 && w->sizes[0] == 1;
        s->direct = taper_ew_is_native(s->dtype, s->class_) && (s->steps[0] == item || alone);
        s->standing = k != 0 && !s->direct && s->steps[0] == 0;
        s->constant = true;
        for (size_t d = 0; d < w->rank; d++) {
            s->constant = s->constant && s->steps[d] == 0;
        }
        s->filled = false;
        widest = taper_max_size(widest, taper_ew_class_size(s->class_));
        widest = taper_max_size(widest, taper_ew_class_size(taper_ew_class_of(s->dtype)));
    }
    return TAPER_EW_BLOCK_BYTES / widest;
}

typedef struct walk_job {
    const walk *w;
    taper_ew_loop loop;
    const taper_ew_args *args;
    size_t block, segments; // of a line
    atomic_bool zero_division;
} walk_job;

enum { SEGMENT = 1 << 14 }; // elements of a line that are done at a time

// Segments of lines, numbered line by line.
static void segments_range(void *argument, size_t begin, size_t end)
{
    walk_job *job = argument;
    walk w = *job->w;
    taper_ew_args args = *job->args;
    blocks b;
    args.run = NULL; // the range draws on its time
    for (size_t i = begin; i < end; i++) {
        const int64_t first = (int64_t)(i % job->segments * SEGMENT);
        size_t left = i / job->segments;
        for (size_t k = 0; k < w.sides; k++) {
            w.side[k].data = job->w->side[k].data + first * w.side[k].steps[0];
            w.side[k].filled = w.side[k].filled && job->segments == 1;
        }
        for (size_t d = 1; d < w.rank; d++) {
            const int64_t at = (int64_t)(left % (size_t)w.sizes[d]);
            left /= (size_t)w.sizes[d];
            for (size_t k = 0; k < w.sides; k++) {
                w.side[k].data += at * w.side[k].steps[d];
            }
        }
        w.sizes[0] = taper_min_i64(SEGMENT, job->w->sizes[0] - first);
        (void)run_line(&w, job->loop, &args, &b, job->block);
    }
    if (args.zero_division) {
        atomic_store_explicit(&job->zero_division, true, memory_order_relaxed);
    }
}

// Loops whose elements take about the same time go to all threads.
static taper_status run_walk_shared(walk *w, taper_ew_loop loop, taper_ew_args *args)
{
    walk_job job = {.w = w, .loop = loop, .args = args, .block = prepare_sides(w)};
    job.segments = (size_t)(w->sizes[0] - 1) / SEGMENT + 1;
    size_t lines = 1;
    for (size_t d = 1; d < w->rank; d++) {
        lines *= (size_t)w->sizes[d]; // at most the number of elements
    }
    const double work = (double)lines * ((double)w->sizes[0] + 20);
    const taper_status status = taper_run_range(args->run, segments_range, &job, lines * job.segments, 1, work);
    args->zero_division = job.zero_division;
    return status;
}

static void run_walk(walk *w, taper_ew_loop loop, taper_ew_args *args)
{
    blocks b;
    const size_t block = prepare_sides(w);
    taper_walk lines;
    char *begin[TAPER_EW_INPUTS + 1];
    taper_walk_begin(&lines, w->sides);
    for (size_t d = 1; d < w->rank; d++) {
        int64_t *const steps = taper_walk_add(&lines, w->sizes[d]);
        for (size_t k = 0; k < w->sides; k++) {
            steps[k] = w->side[k].steps[d];
        }
    }
    for (size_t k = 0; k < w->sides; k++) {
        begin[k] = w->side[k].data;
    }
    while (run_line(w, loop, args, &b, block) && taper_walk_next(&lines)) {
        for (size_t k = 0; k < w->sides; k++) {
            w->side[k].data = begin[k] + lines.at[k];
        }
    }
}

// ---- dtypes, loops and results

typedef struct decision {
    taper_dtype common, result;
    taper_ew_class in_class, out_class;
    taper_ew_loop loop;
} decision;

static taper_status decide(const taper_call *call, const taper_ew *ew, decision *d)
{
    const taper_ew_op *op = ew->op;
    for (size_t k = 0; k < ew->count; k++) {
        const taper_tensor *tensor = ew->inputs[k].tensor;
        if (tensor != NULL && taper_ew_class_of((taper_dtype)tensor->dtype) == TAPER_EW_CLASSES) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s' tensors",
                       taper_dtype_torch_name((taper_dtype)tensor->dtype));
        }
    }
    d->common = ew->common >= 0 ? (taper_dtype)ew->common : taper_ew_common(ew);
    d->in_class = taper_ew_class_of(d->common);
    if (d->in_class == TAPER_EW_U8 && op->loops[TAPER_EW_U8] == NULL && !op->no_bool) {
        d->in_class = TAPER_EW_I64;
    }
    d->loop = d->in_class < TAPER_EW_CLASSES ? op->loops[d->in_class] : NULL;
    if (d->loop == NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name(d->common));
    }
    d->result = d->common;
    d->out_class = d->in_class;
    if (op->result == TAPER_EW_BOOL) {
        d->result = TAPER_BOOL;
        d->out_class = TAPER_EW_U8;
    } else if (op->result == TAPER_EW_REAL) {
        d->result = taper_dtype_to_real(d->common);
        d->out_class = d->in_class == TAPER_EW_C128 ? TAPER_EW_F64 : d->in_class;
    }
    if (ew->result >= 0) {
        d->result = (taper_dtype)ew->result;
    }
    return TAPER_OK;
}

// A 0-dim input is converted to the common dtype first, as PyTorch does: 300 is 44 beside uint8 tensors.
static void side_number(side *s, const taper_ew_input *input, const decision *d, bool mask)
{
    taper_scalar scalar = input->scalar;
    const taper_dtype dtype = mask ? TAPER_BOOL : d->common;
    if (input->tensor != NULL) {
        taper_scalar_load((taper_dtype)input->tensor->dtype, taper_tensor_data(input->tensor), &scalar);
    }
    taper_scalar_store(dtype, s->number, &scalar);
    s->data = (char *)s->number;
    s->dtype = dtype;
    s->class_ = mask ? TAPER_EW_U8 : d->in_class;
}

// keeps: to is the new result of the call.
static taper_status apply(taper_call *call, taper_ew *ew, const decision *d, taper_tensor *to, bool keeps)
{
    taper_error *error = call->run->error;
    walk w;
    memset(&w, 0, sizeof w);
    w.rank = to->rank;
    w.sides = ew->count + 1;
    memcpy(w.sizes, to->sizes, to->rank * sizeof *to->sizes);
    for (size_t i = 0; i < to->rank; i++) {
        if (to->sizes[i] == 0) {
            return TAPER_OK;
        }
    }
    if (taper_ew_class_of((taper_dtype)to->dtype) == TAPER_EW_CLASSES) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "results of dtype %s are not supported",
                   taper_dtype_torch_name((taper_dtype)to->dtype));
    }
    side_set(&w.side[0], &w, to, d->out_class);
    w.side[0].data = taper_tensor_mutable(to);
    for (size_t k = 0; k < ew->count; k++) {
        taper_tensor *tensor = ew->inputs[k].tensor;
        const bool mask = (ew->op->masks >> k & 1) != 0;
        if (tensor == NULL || tensor->rank == 0) {
            side_number(&w.side[k + 1], &ew->inputs[k], d, mask);
        } else {
            side_set(&w.side[k + 1], &w, tensor, mask ? TAPER_EW_U8 : d->in_class);
            w.side[k + 1].data = (char *)(uintptr_t)taper_tensor_data(tensor);
        }
    }
    ew->args.zero_division = ew->args.stopped = false;
    ew->args.run = call->run;
    sort_and_merge(&w);
    const taper_status status = run_vector(call, ew, &w, keeps);
    if (status != TAPER_DECLINED) {
        return status;
    }
    enum { SHARED = 1 << 14 };
    const bool even =
        !TAPER_SMALL && (ew->op->result == TAPER_EW_BOOL || ew->op->masks != 0 || d->in_class > TAPER_EW_F64);
    if (even && taper_tensor_numel(to) >= SHARED) {
        TAPER_TRY(run_walk_shared(&w, d->loop, &ew->args));
    } else {
        run_walk(&w, d->loop, &ew->args);
    }
    if (ew->args.zero_division) {
        TAPER_FAIL(error, TAPER_ERROR_RAISED, "ZeroDivisionError");
    }
    return TAPER_OK;
}

static taper_status broadcast_all(const taper_call *call, const taper_ew *ew, size_t *rank, int64_t *sizes)
{
    *rank = 0;
    for (size_t k = 0; k < ew->count; k++) {
        if (ew->inputs[k].tensor != NULL) {
            TAPER_TRY(taper_ew_broadcast(rank, sizes, ew->inputs[k].tensor, call->run->error));
        }
    }
    int64_t product = 1;
    for (size_t i = 0; i < *rank; i++) {
        if (!taper_mul_i64(product, taper_max_i64(sizes[i], 1), &product) || product > TAPER_LIMIT_TENSOR_BYTES) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_RESOURCE, "the broadcast result would be too large");
        }
    }
    return TAPER_OK;
}

// The layout of a new result; *hidden when it lies as hidden NHWC.
static taper_status layout(const taper_call *call, const taper_ew *ew, const decision *d, size_t rank,
                           const int64_t *sizes, int64_t *strides, bool *hidden)
{
    taper_tensor *operands[TAPER_EW_INPUTS] = {NULL};
    int64_t wanted[TAPER_MAX_RANK];
    bool any = false;
    for (size_t k = 0; k < ew->count; k++) {
        operands[k] = ew->inputs[k].tensor;
        any = any || (operands[k] != NULL && operands[k]->hidden_nhwc && operands[k]->rank == rank &&
                      memcmp(operands[k]->sizes, sizes, rank * sizeof *sizes) == 0);
    }
    taper_strides_contiguous(rank, sizes, wanted);
    if (ew->layout == TAPER_EW_CONTIGUOUS) {
        memcpy(strides, wanted, sizeof wanted);
    } else if (ew->layout == TAPER_EW_LIKE && operands[0] != NULL && operands[0]->rank == rank) {
        TAPER_TRY(taper_like_strides(operands[0], TAPER_FORMAT_PRESERVE, strides, call->run->error));
    } else {
        taper_ew_result_strides(rank, sizes, operands, ew->count, d->common, ew->unconverted ? 7 : ew->op->masks,
                                strides);
    }
    *hidden = any && memcmp(strides, wanted, rank * sizeof *strides) == 0;
    return TAPER_OK;
}

static taper_status check_target(const taper_call *call, const taper_ew *ew, const decision *d, taper_tensor *target,
                                 size_t rank, const int64_t *sizes)
{
    taper_error *error = call->run->error;
    const bool same = target->rank == rank && memcmp(target->sizes, sizes, rank * sizeof *sizes) == 0;
    if (d->out_class != TAPER_EW_U8 || d->in_class == TAPER_EW_U8) { // truth values go into anything
        TAPER_TRY(taper_check_cast(d->result, (taper_dtype)target->dtype, error));
    }
    if (!same && call->schema != NULL && call->schema->out_count == 0) {
        const taper_sizes_text a = taper_sizes_print(target->rank, target->sizes), b = taper_sizes_print(rank, sizes);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output with shape %s doesn't match the broadcast shape %s", a.text,
                   b.text);
    }
    for (size_t k = 0; k < ew->count; k++) {
        const taper_tensor *input = ew->inputs[k].tensor;
        if (input != NULL && !same && input == target) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "argument 'out' is an input too and has another shape than the result");
        }
        if (input != NULL && same) {
            TAPER_TRY(taper_ew_check_overlap(target, input, error));
        }
    }
    return TAPER_OK;
}

taper_status taper_ew_run(taper_call *call, taper_ew *ew)
{
    decision d;
    bool done;
    TAPER_TRY(taper_ew_run_plain(call, ew, &done));
    if (done) {
        return TAPER_OK;
    }
    TAPER_TRY(decide(call, ew, &d));
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    TAPER_TRY(broadcast_all(call, ew, &rank, sizes));
    taper_tensor *to = taper_ret_target(call, ew->ret);
    if (to != NULL) {
        TAPER_TRY(check_target(call, ew, &d, to, rank, sizes));
    }
    const bool keeps = to == NULL;
    bool hidden;
    TAPER_TRY(layout(call, ew, &d, rank, sizes, strides, &hidden));
    if (hidden) {
        TAPER_TRY(taper_ret_new_nhwc(call, ew->ret, d.result, rank, sizes, true, &to));
    } else {
        TAPER_TRY(taper_ret_new(call, ew->ret, d.result, rank, sizes, strides, &to));
    }
    return apply(call, ew, &d, to, keeps);
}

taper_status taper_ew_compute(taper_call *call, taper_ew *ew, taper_tensor **result)
{
    decision d;
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    bool hidden;
    *result = NULL;
    TAPER_TRY(decide(call, ew, &d));
    TAPER_TRY(broadcast_all(call, ew, &rank, sizes));
    TAPER_TRY(layout(call, ew, &d, rank, sizes, strides, &hidden));
    if (hidden) {
        taper_strides_channels_last(rank, sizes, strides);
    }
    taper_tensor *to;
    TAPER_TRY(taper_tensor_new(call->run->heap, d.result, rank, sizes, strides, &to, call->run->error));
    to->hidden_nhwc = hidden;
    const taper_status status = apply(call, ew, &d, to, false);
    if (status != TAPER_OK) {
        taper_tensor_drop(to);
        return status;
    }
    *result = to;
    return TAPER_OK;
}

taper_status taper_ew_into(taper_call *call, taper_ew *ew, taper_tensor *to)
{
    decision d;
    size_t rank = to->rank;
    int64_t sizes[TAPER_MAX_RANK];
    TAPER_TRY(decide(call, ew, &d));
    memcpy(sizes, to->sizes, sizeof sizes);
    for (size_t k = 0; k < ew->count; k++) {
        if (ew->inputs[k].tensor != NULL) {
            TAPER_TRY(taper_ew_broadcast(&rank, sizes, ew->inputs[k].tensor, call->run->error));
        }
    }
    if (rank != to->rank || memcmp(sizes, to->sizes, rank * sizeof *sizes) != 0) {
        const taper_sizes_text a = taper_sizes_print(to->rank, to->sizes), b = taper_sizes_print(rank, sizes);
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "output with shape %s doesn't match the broadcast shape %s",
                   a.text, b.text);
    }
    return apply(call, ew, &d, to, false);
}
