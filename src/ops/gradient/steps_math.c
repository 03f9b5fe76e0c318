// SPDX-License-Identifier: BSD-2-Clause
// Steps that many compositions and gradients take. Numbers that only one step reads are not stored as values of the
// sequence.
#include "ops/gradient/steps_math.h"
#include "ir/tensor.h"

taper_step_value taper_step_add(taper_steps *s, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP(s, aten_add_Tensor, a, b);
}

taper_step_value taper_step_sub(taper_steps *s, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP(s, aten_sub_Tensor, a, b);
}

taper_step_value taper_step_mul(taper_steps *s, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP(s, aten_mul_Tensor, a, b);
}

taper_step_value taper_step_div(taper_steps *s, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP(s, aten_div_Tensor, a, b);
}

taper_step_value taper_step_scale(taper_steps *s, taper_step_value a, double factor)
{
    const taper_val value = taper_val_double(factor);
    return TAPER_STEP(s, aten_mul_Scalar, a, &value);
}

taper_step_value taper_step_shift(taper_steps *s, taper_step_value a, double summand)
{
    const taper_val value = taper_val_double(summand);
    return TAPER_STEP(s, aten_add_Scalar, a, &value);
}

taper_step_value taper_step_from(taper_steps *s, double number, taper_step_value a)
{
    const taper_val value = taper_val_double(number);
    return TAPER_STEP(s, aten_rsub_Scalar, a, &value);
}

taper_step_value taper_step_neg(taper_steps *s, taper_step_value a)
{
    return TAPER_STEP(s, aten_neg, a);
}

taper_step_value taper_step_sum(taper_steps *s, taper_step_value a, int64_t dim, bool keep)
{
    return TAPER_STEP(s, aten_sum_dim_IntList, a, taper_steps_ints(s, &dim, 1), taper_step_bool(keep));
}

taper_step_value taper_step_mean(taper_steps *s, taper_step_value a, int64_t dim, bool keep)
{
    return TAPER_STEP(s, aten_mean_dim, a, taper_steps_ints(s, &dim, 1), taper_step_bool(keep));
}

taper_step_value taper_step_transpose(taper_steps *s, taper_step_value a, int64_t dim0, int64_t dim1)
{
    const taper_val dims[2] = {taper_val_int(dim0), taper_val_int(dim1)};
    return TAPER_STEP(s, aten_transpose_int, a, &dims[0], &dims[1]);
}

taper_step_value taper_step_reshape(taper_steps *s, taper_step_value a, const int64_t *sizes, size_t rank)
{
    return TAPER_STEP(s, aten_reshape, a, taper_steps_ints(s, sizes, rank));
}

taper_step_value taper_step_like(taper_steps *s, taper_step_value a, const taper_tensor *like)
{
    return like != NULL ? taper_step_reshape(s, a, like->sizes, like->rank) : a;
}

taper_step_value taper_step_unsqueeze(taper_steps *s, taper_step_value a, int64_t dim)
{
    const taper_val at = taper_val_int(dim);
    return TAPER_STEP(s, aten_unsqueeze, a, &at);
}

taper_step_value taper_step_narrow(taper_steps *s, taper_step_value a, int64_t dim, int64_t start, int64_t length)
{
    const taper_val numbers[3] = {taper_val_int(dim), taper_val_int(start), taper_val_int(length)};
    return TAPER_STEP(s, aten_narrow, a, &numbers[0], &numbers[1], &numbers[2]);
}

taper_step_value taper_step_matmul(taper_steps *s, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP(s, aten_matmul, a, b);
}

taper_step_value taper_step_conj(taper_steps *s, taper_step_value a)
{
    const taper_tensor *const tensor = taper_steps_tensor(s, a);
    return tensor != NULL && taper_dtype_is_complex((taper_dtype)tensor->dtype) ? TAPER_STEP(s, aten_conj, a) : a;
}

taper_step_value taper_step_adjoint(taper_steps *s, taper_step_value a)
{
    return taper_step_conj(s, taper_step_transpose(s, a, -2, -1));
}

taper_step_value taper_step_detach(taper_steps *s, taper_step_value a)
{
    return a->tag == TAPER_TENSOR ? TAPER_STEP(s, aten_detach, a) : a;
}

taper_step_value taper_step_where(taper_steps *s, taper_step_value condition, taper_step_value a, taper_step_value b)
{
    return TAPER_STEP(s, aten_where_self, condition, a, b);
}

void *taper_step_table(taper_steps *s, taper_dtype dtype, size_t rank, const int64_t *sizes, taper_step_value *table)
{
    taper_tensor *made;
    *table = taper_step_none;
    if (s->status == TAPER_OK) {
        taper_run *const run = s->call->run;
        taper_steps_fail(s, taper_tensor_new(run->heap, dtype, rank, sizes, NULL, &made, run->error));
    }
    if (s->status != TAPER_OK) {
        return NULL;
    }
    *table = taper_steps_keep(s, TAPER_VAL(made));
    return *table != taper_step_none ? taper_tensor_mutable(made) : NULL;
}

taper_step_value taper_step_index(taper_steps *s, const int64_t *numbers, size_t count)
{
    taper_step_value made;
    int64_t *const to = taper_step_table(s, TAPER_I64, 1, (int64_t[]){(int64_t)count}, &made);
    if (to != NULL && count != 0) {
        memcpy(to, numbers, count * sizeof *numbers);
    }
    return made;
}

taper_step_value taper_step_reduced(taper_steps *s, taper_step_value loss, int64_t reduction)
{
    return reduction == 1 ? TAPER_STEP(s, aten_mean, loss) : reduction == 2 ? TAPER_STEP(s, aten_sum, loss) : loss;
}

bool taper_step_mask(const taper_steps *s, size_t at, size_t index)
{
    const taper_list *const mask = s->args[at].as.list;
    return index < mask->count && mask->items[index].as.i != 0;
}

taper_status taper_step_dim(const taper_steps *s, int64_t *dim, size_t rank)
{
    const int64_t limit = rank != 0 ? (int64_t)rank : 1;
    if (*dim < -limit || *dim >= limit) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT,
                   "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)", (long long)-limit,
                   (long long)limit - 1, (long long)*dim);
    }
    *dim += *dim < 0 ? limit : 0;
    return TAPER_OK;
}
