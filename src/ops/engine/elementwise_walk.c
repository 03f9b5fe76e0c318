// SPDX-License-Identifier: BSD-2-Clause
// The walk of the elementwise engine: the loops over all elements. It sorts and merges the dimensions by the result's
// strides, runs the operator's loop over the innermost one, and gathers elements that are not stored as the loop wants.
// If an input has step 0 along the innermost dimension, a block is filled with its element once per line. If all lines
// have the same element, the block is filled only once.
#include "ops/engine/elementwise_walk.h"
#include "ops/engine/elementwise_tiles.h"

#include "base/atomic.h"
#include "ir/walk.h"
#include "ops/call/parallel.h"

// ---- the walk

void taper_ew_side_set(taper_ew_side *s, const taper_ew_lines *w, const taper_tensor *tensor, taper_ew_class class_)
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

static void swap_dims(taper_ew_lines *w, size_t a, size_t b)
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

static bool goes_before(const taper_ew_lines *w, size_t a, size_t b)
{
    for (size_t k = 0; k < w->sides; k++) {
        const int64_t sa = w->side[k].steps[a], sb = w->side[k].steps[b];
        if (sa != sb && (k == 0 || (sa != 0 && sb != 0))) {
            return sa < sb;
        }
    }
    return false;
}

// Sorts the dimensions, innermost first, drops dimensions of size 1, and merges neighbours that are contiguous in all
// sides.
static void sort_and_merge(taper_ew_lines *w)
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

enum { PIECE = 1 << 16 }; // number of elements between two checks of the run's time

// Computes one line along the innermost dimension, starting at the current addresses of the result and the inputs.
// Returns false if the run must end.
static bool run_line(taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args, taper_ew_blocks *b,
                     size_t block)
{
    const size_t n = (size_t)w->sizes[0];
    taper_ew_side *to = &w->side[0];
    bool all_direct = to->direct;
    for (size_t k = 1; k < w->sides; k++) {
        taper_ew_side *s = &w->side[k];
        all_direct = all_direct && s->direct;
        if (s->standing && !s->filled) {
            const size_t most = s->constant && args->run == NULL ? block : taper_min_size(n, block);
            taper_ew_side_load(inner, s, s->data, 0, most, &b->side[k], &b->temp);
            s->filled = s->constant;
        }
    }
    const size_t step = all_direct ? PIECE : block;
    for (size_t at = 0; at < n; at += step) {
        const size_t m = taper_min_size(step, n - at);
        if (args->run != NULL && !taper_run_goes_on(args->run, m * TAPER_EW_WORK + TAPER_EW_WORK_OF_A_LINE)) {
            return false;
        }
        const void *in[TAPER_EW_INPUTS] = {NULL};
        for (size_t k = 1; k < w->sides; k++) {
            const taper_ew_side *s = &w->side[k];
            const char *from = s->data + (int64_t)at * s->steps[0];
            in[k - 1] = s->direct ? (const void *)from : (const void *)&b->side[k];
            if (!s->direct && !s->standing) {
                taper_ew_side_load(inner, s, from, s->steps[0], m, &b->side[k], &b->temp);
            }
        }
        char *target = to->data + (int64_t)at * to->steps[0];
        taper_ew_run_inner(inner, w, m, to->direct ? (void *)target : (void *)&b->side[0], in, args);
        if (!to->direct) {
            taper_ew_side_store(inner, to, target, to->steps[0], m, &b->side[0], &b->temp);
        }
    }
    return true;
}

#include "ops/engine/elementwise_shared.h"

// Computes with the vector kernels for floats. Returns TAPER_DECLINED if these kernels cannot compute the operator.
static taper_status run_vector(taper_call *call, const taper_ew *ew, const taper_ew_lines *w, bool keeps)
{
    taper_run *const run = call->run;
    const bool converts = is_conversion(ew);
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
    taper_ew_vector_plan plan;
    if (!taper_ew_vector_plan_make(&plan, run->cpu, ew->op, &ew->args, &seen)) {
        return TAPER_DECLINED;
    }
    const taper_status status = taper_ew_vector(run, &plan, &seen);
    if (status == TAPER_OK && keeps) {
        taper_ew_keep_walk(call, ew, &seen, &plan);
    }
    return status;
}

// Decides for each side (the result and the inputs) how its elements are read or written. Returns the number of
// elements that fit into a block.
static size_t prepare_sides(const taper_run *run, taper_ew_lines *w, bool native)
{
    size_t widest = 1;
    const bool alone = w->rank == 1 && w->sizes[0] == 1;
    for (size_t k = 0; k < w->sides; k++) {
        taper_ew_side *s = &w->side[k];
        const int64_t item = (int64_t)taper_dtype_size(s->dtype);
        const bool dense = s->steps[0] == item || alone;
        s->direct = s->dtype == s->wanted && dense;
        s->standing = k != 0 && !s->direct && s->steps[0] == 0;
        s->constant = true;
        for (size_t d = 0; d < w->rank; d++) {
            s->constant = s->constant && s->steps[d] == 0;
        }
        s->filled = false;
        s->cast = NULL;
        if (!run->portable && s->dtype != s->wanted && dense) {
            s->cast = find_side_cast(run, s, k == 0);
        }
        widest = taper_max_size(widest, taper_max_size(taper_dtype_size(s->wanted), (size_t)item));
        if (!native) {
            widest = taper_max_size(widest, taper_ew_class_size(taper_ew_class_of(s->dtype)));
        }
    }
    return TAPER_EW_BLOCK_BYTES / widest;
}

typedef struct walk_job {
    const taper_run *run; // run whose CPU selects the kernels that move elements
    const taper_ew_lines *w;
    const taper_ew_inner *inner;
    const taper_ew_args *args;
    size_t block, segments; // number of elements of a block; number of segments of a line
    size_t width, lines;    // number of elements of a line in a tile; number of lines in a tile, or 0 if there are no
                            // tiles
    atomic_bool zero_division;
} walk_job;

enum { SEGMENT = 1 << 14 }; // largest number of elements of a line that a task computes at a time

// Computes segments [begin, end) of lines, numbered line by line.
static void segments_range(void *argument, size_t begin, size_t end)
{
    walk_job *job = argument;
    taper_ew_lines w = *job->w;
    taper_ew_args args = *job->args;
    taper_ew_blocks b;
    args.run = NULL; // taper_run_range charges the run for the whole range
    for (size_t i = begin, count; i < end; i += count) {
        count = 1;
        const int64_t first = (int64_t)(i % job->segments * SEGMENT);
        size_t left = i / job->segments;
        for (size_t k = 0; k < w.sides; k++) {
            w.side[k].data = job->w->side[k].data + first * w.side[k].steps[0];
        }
        for (size_t d = 1; d < w.rank; d++) {
            const int64_t at = (int64_t)(left % (size_t)w.sizes[d]);
            left /= (size_t)w.sizes[d];
            for (size_t k = 0; k < w.sides; k++) {
                w.side[k].data += at * w.side[k].steps[d];
            }
        }
        w.sizes[0] = taper_min_i64(SEGMENT, job->w->sizes[0] - first);
        if (job->lines != 0) {
            count = taper_min_size(end - i, (size_t)w.sizes[1] - i % (size_t)w.sizes[1]);
            (void)taper_ew_tiles_run(job->run, &w, job->inner, &args, &b, job->block, job->width, count);
        } else {
            (void)run_line(&w, job->inner, &args, &b, job->block);
        }
    }
    if (args.zero_division) {
        atomic_store_explicit(&job->zero_division, true, memory_order_relaxed);
    }
}

static void run_alone(taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args, size_t block)
{
    taper_ew_blocks b;
    taper_walk lines;
    char *begin[TAPER_EW_INPUTS + 1];
    size_t width, height;
    const bool tiled = taper_ew_tiles(w, block, &width, &height);
    taper_walk_begin(&lines, w->sides);
    for (size_t d = tiled ? 2 : 1; d < w->rank; d++) {
        int64_t *const steps = taper_walk_add(&lines, w->sizes[d]);
        for (size_t k = 0; k < w->sides; k++) {
            steps[k] = w->side[k].steps[d];
        }
    }
    for (size_t k = 0; k < w->sides; k++) {
        begin[k] = w->side[k].data;
    }
    const taper_run *const run = args->run;
    while ((tiled ? taper_ew_tiles_run(run, w, inner, args, &b, block, width, (size_t)w->sizes[1])
                  : run_line(w, inner, args, &b, block)) &&
           taper_walk_next(&lines)) {
        for (size_t k = 0; k < w->sides; k++) {
            w->side[k].data = begin[k] + lines.at[k];
        }
    }
}

// Computes on all threads, for loops whose elements take about the same time each.
static taper_status run_shared(taper_ew_lines *w, const taper_ew_inner *inner, taper_ew_args *args, size_t block)
{
    walk_job job = {.run = args->run, .w = w, .inner = inner, .args = args, .block = block};
    if (!taper_ew_tiles(w, block, &job.width, &job.lines)) {
        job.lines = 0;
    }
    job.segments = (size_t)(w->sizes[0] - 1) / SEGMENT + 1;
    // Lines are long and few, so there are too few tiles for several threads. One thread with tiles is faster than
    // several threads that compute line by line.
    if (job.lines != 0 && job.segments > 1) {
        run_alone(w, inner, args, block);
        return TAPER_OK;
    }
    size_t lines = 1;
    for (size_t d = 1; d < w->rank; d++) {
        lines *= (size_t)w->sizes[d]; // the product is at most the number of elements, so it cannot overflow
    }
    const double work = (double)lines * ((double)w->sizes[0] + 20);
    const taper_status status = taper_run_range(args->run, segments_range, &job, lines * job.segments, 1, work);
    args->zero_division = job.zero_division;
    return status;
}

taper_status taper_ew_lines_run(taper_call *call, taper_ew *ew, const taper_ew_decision *d, taper_ew_lines *w,
                                bool keeps)
{
    enum { SHARED = 1 << 14 };
    sort_and_merge(w);
    const taper_status status = run_vector(call, ew, w, keeps);
    if (status != TAPER_DECLINED) {
        return status;
    }
    taper_ew_inner inner;
    int64_t count = 1; // number of elements of the result
    for (size_t i = 0; i < w->rank; i++) {
        count *= w->sizes[i];
    }
    taper_ew_choose_inner(call->run, ew->op, &ew->args, d, w, &inner);
    const size_t block = prepare_sides(call->run, w, inner.native != NULL);
    const bool even = is_even(ew, d, &inner);
    if (even && count >= SHARED) {
        TAPER_TRY(run_shared(w, &inner, &ew->args, block));
    } else {
        run_alone(w, &inner, &ew->args, block);
    }
    if (ew->args.zero_division) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_RAISED, "ZeroDivisionError");
    }
    return TAPER_OK;
}
