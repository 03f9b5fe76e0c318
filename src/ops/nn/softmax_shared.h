// SPDX-License-Identifier: BSD-2-Clause
// Part of softmax.c: short lines on all threads, and inputs that are first copied to the layout of the result.
#ifndef TAPER_OPS_NN_SOFTMAX_SHARED_H
#define TAPER_OPS_NN_SOFTMAX_SHARED_H

static void lines_task(void *argument, int64_t in, int64_t out, size_t lanes)
{
    const soft_job *job = argument;
    soft s;
    start_soft(&s, job, false);
    const char *from = (const char *)taper_tensor_data(job->x) + in;
    char *to = (char *)taper_tensor_mutable(job->out) + out;
    if (job->lines->side_by_side) {
        run_lanes(&s, &job->lines->line, &job->lines->kept[0], from, to, lanes);
    } else {
        run_line(&s, &job->lines->line, from, to);
    }
}

static taper_status run_short(taper_run *run, soft_job *job, const taper_lines *lines)
{
    return lines->line.size <= SHORT ? taper_lines_run(run, lines, lines->side_by_side ? LANES : 1, lines_task, job, 5)
                                     : TAPER_DECLINED;
}

// Copies x to the layout of the result, and computes the result with the vector kernels. Returns TAPER_DECLINED if the
// kernels cannot compute it.
static taper_status run_dense(taper_call *call, taper_tensor *x, size_t dim, taper_tensor *out, taper_softmax_kind kind)
{
    taper_lines lines;
    taper_tensor *plain;
    if (call->run->portable || x->hidden_nhwc) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    taper_lines_make(&lines, plain, dim, out, false, false);
    const taper_status status =
        taper_softmax_lines(call->run, &lines, kind, taper_tensor_data(plain), taper_tensor_mutable(out));
    taper_tensor_drop(plain);
    return status;
}

#endif
