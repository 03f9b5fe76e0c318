// SPDX-License-Identifier: BSD-2-Clause
// Dimensions in the order of memory, lines and lanes, for reductions and operators along one dimension.
#include "ops/call/parallel.h"
#include "ops/engine/reduce.h"

size_t taper_reduce_sort(taper_reduce_dim *dims, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && dims[j].in < dims[j - 1].in; j--) {
            const taper_reduce_dim t = dims[j];
            dims[j] = dims[j - 1];
            dims[j - 1] = t;
        }
    }
    size_t kept = count != 0;
    for (size_t i = 1; i < count; i++) {
        taper_reduce_dim *inner = &dims[kept - 1];
        if (dims[i].in == inner->in * inner->size && dims[i].out == inner->out * inner->size) {
            inner->size *= dims[i].size;
        } else {
            dims[kept++] = dims[i];
        }
    }
    return kept;
}

void taper_reduce_walk(taper_walk *walk, const taper_reduce_dim *dims, size_t from, size_t count)
{
    taper_walk_begin(walk, 2);
    for (size_t d = from; d < count; d++) {
        int64_t *const steps = taper_walk_add(walk, dims[d].size);
        steps[0] = dims[d].in;
        steps[1] = dims[d].out;
    }
}

void taper_lines_make(taper_lines *lines, const taper_tensor *x, size_t dim, const taper_tensor *out, bool without,
                      bool keep)
{
    const int64_t item = (int64_t)taper_tensor_item(x), out_item = out != NULL ? (int64_t)taper_tensor_item(out) : 0;
    int64_t in[TAPER_MAX_RANK], to[TAPER_MAX_RANK] = {0};
    taper_tensor_steps(x, (size_t)item, in);
    if (out != NULL) {
        taper_tensor_steps(out, (size_t)out_item, to);
    }
    size_t at = 0;
    lines->kept_count = 0;
    lines->line = (taper_reduce_dim){1, item, out_item};
    for (size_t i = 0; i < x->rank; i++) {
        const bool there = i != dim || !without || keep;
        const int64_t out_step = there ? to[at] : 0;
        if (i == dim) {
            lines->line = (taper_reduce_dim){x->sizes[i], in[i], without ? 0 : out_step};
        } else if (x->sizes[i] != 1) {
            lines->kept[lines->kept_count++] = (taper_reduce_dim){x->sizes[i], in[i], out_step};
        }
        at += there;
    }
    lines->kept_count = taper_reduce_sort(lines->kept, lines->kept_count);
    lines->side_by_side = lines->kept_count != 0 && lines->line.size > 1 && lines->kept[0].in < lines->line.in;
}

// ---- on all threads

typedef struct lines_job {
    const taper_lines *lines;
    size_t width, groups; // number of neighbouring lines along kept[0] in a group; number of groups
    taper_lines_task *task;
    void *argument;
} lines_job;

static void lines_range(void *argument, size_t begin, size_t end)
{
    const lines_job *job = argument;
    const taper_lines *l = job->lines;
    for (size_t i = begin; i < end; i++) {
        size_t left = i / job->groups;
        const int64_t lane = (int64_t)(i % job->groups * job->width);
        int64_t in = 0, out = 0, lanes = 1;
        if (l->kept_count != 0) {
            in = lane * l->kept[0].in;
            out = lane * l->kept[0].out;
            lanes = taper_min_i64((int64_t)job->width, l->kept[0].size - lane);
        }
        for (size_t d = 1; d < l->kept_count; d++) {
            const int64_t at = (int64_t)(left % (size_t)l->kept[d].size);
            left /= (size_t)l->kept[d].size;
            in += at * l->kept[d].in;
            out += at * l->kept[d].out;
        }
        job->task(job->argument, in, out, (size_t)lanes);
    }
}

taper_status taper_lines_run(taper_run *run, const taper_lines *lines, size_t width, taper_lines_task *task,
                             void *argument, double work)
{
    const size_t neighbours = lines->kept_count != 0 ? (size_t)lines->kept[0].size : 1;
    lines_job job = {.lines = lines, .width = width, .task = task, .argument = argument};
    job.groups = (neighbours + width - 1) / width;
    size_t count = job.groups;
    work *= (double)lines->line.size * (double)neighbours;
    for (size_t d = 1; d < lines->kept_count; d++) {
        count *= (size_t)lines->kept[d].size; // the product is at most the number of elements, so it cannot overflow
        work *= (double)lines->kept[d].size;
    }
    return taper_run_range(run, lines_range, &job, count, 1, work);
}
