// SPDX-License-Identifier: BSD-2-Clause
// quantized_decomposed::embedding_byte, _4bit and _2bit, which ExecuTorch's quantizers write. Rows of a table of small
// integers have, for each group of columns, a scale and a zero point in the scale's dtype. A packed byte has 8 / bits
// elements with an offset instead of a sign: two elements, of which the first is in the high half, or four elements, of
// which the first is in the lowest bits.
#include "base/half.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/view_move.h"
#include "ops/engine/volume.h"

typedef struct table_job {
    taper_tensor *weight, *scales, *points, *indices; // contiguous tensors, owned; points may be NULL
    int64_t width, group, groups; // number of columns of a row; number of columns of a group; number of groups of a row
    int bits;
    bool has_signs; // true if the bytes are signed
    taper_tensor *y;
} table_job;

static int32_t integer_at(const table_job *job, int64_t row, int64_t column)
{
    const uint8_t *bytes = (const uint8_t *)taper_tensor_data(job->weight) + row * job->weight->sizes[1];
    switch (job->bits) {
    case 2:
        return (int32_t)(bytes[column / 4] >> (2 * (column % 4)) & 3) - 2;
    case 4:
        return (int32_t)(column % 2 == 0 ? bytes[column / 2] >> 4 : bytes[column / 2] & 15) - 8;
    default:
        return job->has_signs ? (int32_t)(int8_t)bytes[column] : (int32_t)bytes[column];
    }
}

static float number_at(const taper_tensor *t, int64_t i)
{
    return t->dtype == TAPER_F32 ? ((const float *)taper_tensor_data(t))[i]
                                 : taper_f16_to_float(((const uint16_t *)taper_tensor_data(t))[i]);
}

static float as_half(float v)
{
    return taper_f16_to_float(taper_float_to_f16(v));
}

static void table_range(void *argument, size_t begin, size_t end)
{
    const table_job *job = argument;
    const bool half = job->scales->dtype == TAPER_F16;
    for (size_t r = begin; r < end; r++) {
        const int64_t row =
            taper_load_int((taper_dtype)job->indices->dtype, taper_tensor_data(job->indices), (int64_t)r);
        for (int64_t column = 0; column < job->width;) {
            const int64_t at = row * job->groups + column / job->group;
            const int64_t stop = column - column % job->group + job->group;
            const float scale = number_at(job->scales, at),
                        point = job->points != NULL ? number_at(job->points, at) : 0;
            for (; column < stop; column++) {
                float v = (float)integer_at(job, row, column) - point;
                v = half ? as_half(as_half(v) * scale) : v * scale;
                const int64_t to = (int64_t)r * job->width + column;
                if (job->y->dtype == TAPER_F32) {
                    ((float *)taper_tensor_mutable(job->y))[to] = v;
                } else {
                    taper_number_store((taper_dtype)job->y->dtype, taper_tensor_mutable(job->y), to, (double)v);
                }
            }
        }
    }
}

static bool fits_table(const table_job *job, const taper_tensor *numbers)
{
    return numbers->dtype == job->scales->dtype && (numbers->rank == 1 || numbers->rank == 2) &&
           numbers->sizes[0] == job->weight->sizes[0] && taper_tensor_numel(numbers) == job->groups * numbers->sizes[0];
}

static taper_status look_up(taper_call *call, table_job *job)
{
    taper_run *run = call->run;
    const taper_tensor *w = job->weight, *s = job->scales, *indices = job->indices;
    taper_dtype dtype = (taper_dtype)s->dtype;
    if (call->arg_count > 6) {
        TAPER_TRY(taper_arg_dtype_or(call, 6, dtype, &dtype));
    }
    job->has_signs = w->dtype == TAPER_I8;
    const bool table = w->rank == 2 && (w->dtype == TAPER_U8 || (job->bits == 8 && job->has_signs)) &&
                       w->sizes[1] <= INT64_MAX / 8 && (s->dtype == TAPER_F32 || s->dtype == TAPER_F16) &&
                       (s->rank == 1 || s->rank == 2) && (s->rank == 1 || s->sizes[1] > 0);
    job->width = table ? w->sizes[1] * (8 / job->bits) : 0;
    job->groups = table && s->rank == 2 ? s->sizes[1] : 1;
    job->group = job->width / job->groups;
    if (!table || job->width % job->groups != 0 || !fits_table(job, s) ||
        (job->points != NULL && !fits_table(job, job->points)) || !taper_dtype_is_float(dtype)) {
        TAPER_FAIL(
            run->error, TAPER_ERROR_ARGUMENT,
            "a table of bytes, scales (float32 or float16) for its rows or their groups, and zero points as they "
            "are are needed");
    }
    if ((indices->dtype != TAPER_I64 && indices->dtype != TAPER_I32) || indices->rank == TAPER_MAX_RANK) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument 'indices': int64 or int32 numbers are needed");
    }
    const int64_t count = taper_tensor_numel(indices);
    for (int64_t i = 0; i < count && taper_run_step(run, i, 2); i++) {
        const int64_t row = taper_load_int((taper_dtype)indices->dtype, taper_tensor_data(indices), i);
        if (row < 0 || row >= w->sizes[0]) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "index out of range in self");
        }
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, indices->sizes, sizeof sizes);
    sizes[indices->rank] = job->width;
    TAPER_TRY(taper_ret_new(call, 0, dtype, indices->rank + 1u, sizes, NULL, &job->y));
    return taper_run_floats(run, table_range, job, (size_t)count, 6 * (double)job->width);
}

static taper_status embedding(taper_call *call, int bits)
{
    static const uint8_t positions[] = {0, 1, 2, 5};
    table_job job = {.bits = bits};
    taper_tensor **const inputs[] = {&job.weight, &job.scales, &job.points, &job.indices};
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < 4 && status == TAPER_OK; i++) {
        taper_tensor *x;
        status = i == 2 ? taper_arg_tensor_or_none(call, positions[i], &x) : taper_arg_tensor(call, positions[i], &x);
        if (status == TAPER_OK && x != NULL) {
            status = taper_run_contiguous(call->run, x, inputs[i]);
        }
    }
    status = status == TAPER_OK ? look_up(call, &job) : status;
    for (size_t i = 0; i < 4; i++) {
        taper_tensor_drop(*inputs[i]);
    }
    return status;
}

TAPER_KERNEL(taper_op_decomposed_embedding_byte)
{
    return embedding(call, 8);
}
TAPER_KERNEL(taper_op_decomposed_embedding_4bit)
{
    return embedding(call, 4);
}
TAPER_KERNEL(taper_op_decomposed_embedding_2bit)
{
    return embedding(call, 2);
}
