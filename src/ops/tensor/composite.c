// SPDX-License-Identifier: BSD-2-Clause
// Operators made of other operators (composite.h).
#include "ops/tensor/composite.h"

#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/reduce_kernels.h"

void taper_compose_begin(taper_compose *c, taper_run *run)
{
    c->run = run;
    c->status = TAPER_OK;
    c->count = 0;
}

taper_status taper_compose_end(taper_compose *c)
{
    while (c->count > 0) {
        taper_val_release(c->values[--c->count]);
    }
    return c->status;
}

taper_status taper_compose_ret(taper_compose *c, taper_call *call, size_t at, taper_tensor *result)
{
    if (c->status == TAPER_OK && result != NULL) {
        taper_obj_retain(&result->head);
        c->status = taper_ret_tensor(call, at, result);
    }
    return taper_compose_end(c);
}

void taper_compose_fail(taper_compose *c, taper_status status)
{
    c->status = c->status == TAPER_OK ? status : c->status;
}

taper_tensor *taper_compose_keep(taper_compose *c, taper_tensor *value)
{
    if (value != NULL && c->count == TAPER_COMPOSE_VALUES) {
        taper_tensor_drop(value);
        taper_compose_fail(c, taper_fail(c->run->error, TAPER_ERROR_INTERNAL, "too many steps in one operator"));
        return NULL;
    }
    if (value != NULL) {
        c->values[c->count++] = TAPER_VAL(value);
    }
    return value;
}

taper_tensor *taper_compose_step(taper_compose *c, taper_kernel kernel, const void *param, size_t count,
                                 taper_val *args)
{
    enum { RESULTS = 3 };
    if (c->status != TAPER_OK) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (args[i].tag == TAPER_TENSOR) {
            c->status = taper_run_settle(c->run, args[i].as.tensor); // not every kernel accepts hidden NHWC tensors
            if (c->status != TAPER_OK) {
                return NULL;
            }
        }
    }
    static const taper_op no_row;
    taper_val rets[RESULTS] = {taper_val_none(), taper_val_none(), taper_val_none()};
    void *state = NULL;
    taper_call call = {.run = c->run,
                       .op = &no_row,
                       .param = param,
                       .args = args,
                       .arg_count = count,
                       .rets = rets,
                       .ret_count = RESULTS,
                       .state = &state};
    c->status = kernel(&call);
    taper_tensor *result = NULL;
    for (size_t i = 0; i < RESULTS; i++) {
        if (i == 0 && c->status == TAPER_OK && rets[i].tag == TAPER_TENSOR) {
            result = rets[i].as.tensor;
        } else {
            taper_val_release(rets[i]);
        }
    }
    return taper_compose_keep(c, result);
}
