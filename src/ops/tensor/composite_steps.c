// SPDX-License-Identifier: BSD-2-Clause
// The usual steps of compositions.
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

taper_tensor *taper_compose_add(taper_compose *c, taper_tensor *a, taper_tensor *b)
{
    return TAPER_COMPOSE(c, taper_op_sum2, &taper_ew_add, taper_compose_arg(a), taper_compose_arg(b), taper_val_int(1));
}

taper_tensor *taper_compose_sub(taper_compose *c, taper_tensor *a, taper_tensor *b)
{
    return TAPER_COMPOSE(c, taper_op_sum2, &taper_ew_sub, taper_compose_arg(a), taper_compose_arg(b), taper_val_int(1));
}

taper_tensor *taper_compose_mul(taper_compose *c, taper_tensor *a, taper_tensor *b)
{
    return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_mul, taper_compose_arg(a), taper_compose_arg(b));
}

taper_tensor *taper_compose_div(taper_compose *c, taper_tensor *a, taper_tensor *b)
{
    return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_div, taper_compose_arg(a), taper_compose_arg(b));
}

taper_tensor *taper_compose_mul_number(taper_compose *c, taper_tensor *a, double number)
{
    return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_mul, taper_compose_arg(a), taper_val_double(number));
}

taper_tensor *taper_compose_div_number(taper_compose *c, taper_tensor *a, double number)
{
    return TAPER_COMPOSE(c, taper_op_binary, &taper_ew_div, taper_compose_arg(a), taper_val_double(number));
}

taper_tensor *taper_compose_slice(taper_compose *c, taper_tensor *x, size_t dim, int64_t start, int64_t end)
{
    return TAPER_COMPOSE(c, taper_op_slice, NULL, taper_compose_arg(x), taper_val_int((int64_t)dim),
                         taper_val_int(start), taper_val_int(end), taper_val_int(1));
}

taper_tensor *taper_compose_select(taper_compose *c, taper_tensor *x, size_t dim, int64_t index)
{
    return TAPER_COMPOSE(c, taper_op_select, NULL, taper_compose_arg(x), taper_val_int((int64_t)dim),
                         taper_val_int(index));
}

taper_tensor *taper_compose_reshape(taper_compose *c, taper_tensor *x, size_t rank, const int64_t *sizes)
{
    if (c->status != TAPER_OK) {
        return NULL;
    }
    taper_list *list = taper_list_new(c->run->heap, &taper_type_int, rank);
    if (list == NULL) {
        taper_compose_fail(c, taper_fail_memory(c->run->error));
        return NULL;
    }
    for (size_t i = 0; i < rank; i++) {
        taper_compose_fail(c, taper_list_append(list, taper_val_int(sizes[i]), c->run->error));
    }
    taper_tensor *result = TAPER_COMPOSE(c, taper_op_reshape, NULL, taper_compose_arg(x), TAPER_VAL(list));
    taper_val_release(TAPER_VAL(list));
    return result;
}

taper_tensor *taper_compose_sum(taper_compose *c, taper_tensor *x, size_t dim)
{
    return TAPER_COMPOSE(c, taper_op_sum, &taper_reduce_dim_keep_dtype, taper_compose_arg(x),
                         taper_val_int((int64_t)dim), taper_val_bool(false), taper_val_none());
}

taper_tensor *taper_compose_cat(taper_compose *c, size_t count, taper_tensor *const *tensors, size_t dim)
{
    if (c->status != TAPER_OK) {
        return NULL;
    }
    taper_list *list = taper_list_new(c->run->heap, &taper_type_tensor, count);
    if (list == NULL) {
        taper_compose_fail(c, taper_fail_memory(c->run->error));
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (tensors[i] != NULL) {
            taper_obj_retain(&tensors[i]->head);
            taper_compose_fail(c, taper_run_settle(c->run, tensors[i]));
            taper_compose_fail(c, taper_list_append(list, TAPER_VAL(tensors[i]), c->run->error));
        }
    }
    taper_tensor *result = TAPER_COMPOSE(c, taper_op_cat, NULL, TAPER_VAL(list), taper_val_int((int64_t)dim));
    taper_val_release(TAPER_VAL(list));
    return result;
}
