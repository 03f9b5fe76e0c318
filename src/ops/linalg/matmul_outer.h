// SPDX-License-Identifier: BSD-2-Clause
// Part of matmul.c: addr on floats, an outer product plus a matrix, in one pass.
#ifndef TAPER_OPS_LINALG_MATMUL_OUTER_H
#define TAPER_OPS_LINALG_MATMUL_OUTER_H

typedef struct addr_job {
    const taper_vector_entry *vector;
    const float *a, *b, *self;
    float *y;
    size_t a_step, self_stride, n;
} addr_job;

static void addr_range(void *argument, size_t begin, size_t end)
{
    const addr_job *job = argument;
    job->vector->outer(end - begin, job->n, job->a + begin * job->a_step, job->a_step, job->b,
                       job->self + begin * job->self_stride, job->self_stride, job->y + begin * job->n, job->n);
}

// Computes addr for floats with contiguous rows. Returns TAPER_DECLINED for other tensors, and for factors other than
// 1.
static taper_status addr_floats(const taper_call *call, const taper_tensor *self, const taper_tensor *a,
                                const taper_tensor *b, taper_scalar beta, taper_scalar alpha, taper_tensor **sum)
{
    taper_run *run = call->run;
    int64_t steps[2];
    if (run->portable || self->dtype != TAPER_F32 || a->dtype != TAPER_F32 || b->dtype != TAPER_F32 || a->rank != 1 ||
        b->rank != 1 || beta.kind == TAPER_SCALAR_COMPLEX || alpha.kind == TAPER_SCALAR_COMPLEX || beta.f != 1 ||
        alpha.f != 1) {
        return TAPER_DECLINED;
    }
    const int64_t sizes[2] = {a->sizes[0], b->sizes[0]};
    if (!taper_broadcast_strides(self, 2, sizes, steps) || steps[1] != 1 || steps[0] < 0 ||
        (b->strides[0] != 1 && sizes[1] > 1) || a->strides[0] < 0 || sizes[0] == 0 || sizes[1] == 0) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, 2, sizes, NULL, sum, run->error));
    addr_job job = {.vector = taper_vector_f32_select(run->cpu),
                    .a = taper_tensor_data(a),
                    .b = taper_tensor_data(b),
                    .self = taper_tensor_data(self),
                    .y = taper_tensor_mutable(*sum),
                    .a_step = (size_t)taper_tensor_step(a, 0),
                    .self_stride = (size_t)steps[0],
                    .n = (size_t)sizes[1]};
    run->kernel = job.vector->name;
    const taper_status status = taper_run_floats(run, addr_range, &job, (size_t)sizes[0], (double)sizes[1]);
    if (status != TAPER_OK) {
        taper_tensor_drop(*sum);
    }
    return status;
}

#endif
