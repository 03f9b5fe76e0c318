// SPDX-License-Identifier: BSD-2-Clause
// The variants of batch norm that PyTorch 2 added to native_batch_norm: variants without running statistics, variants
// that are never or always in training, and variants that return the new statistics instead of writing them.
#include "ops/engine/view_move.h"
#include "ops/list/shared_kernels.h"
#include "ops/nn/norm.h"

// running: the schema has running statistics. training: 0, 1, or -1 if it is an argument. copies: the last two results
// are the new statistics. reserve: an empty tensor is returned before the new statistics.
const taper_norm_legit taper_norm_legit_no_stats = {.training = -1},
                       taper_norm_legit_no_training = {.running = true, .training = 0},
                       taper_norm_legit_functional = {.running = true, .training = -1, .copies = true},
                       taper_norm_legit_update = {.running = true, .training = 1, .reserve = true},
                       taper_norm_legit_update_functional = {.running = true,
                                                             .training = 1,
                                                             .copies = true,
                                                             .reserve = true},
                       taper_norm_legit_no_update = {.running = true, .training = 0, .reserve = true};

static taper_status run_form(taper_call *call, const taper_norm_legit *form, taper_val *args)
{
    taper_call whole = *call;
    whole.schema = NULL;
    whole.args = args;
    whole.arg_count = 8;
    whole.ret_count = 3;
    whole.operands = NULL;
    whole.prepared = NULL;
    TAPER_TRY(taper_op_native_batch_norm(&whole));
    if (form->reserve) {
        taper_tensor *reserve;
        const int64_t none = 0;
        TAPER_TRY(taper_ret_new(call, 3, TAPER_U8, 1, &none, NULL, &reserve));
    }
    for (size_t i = 0; form->copies && i < 2; i++) {
        taper_ret(call, (form->reserve ? 4u : 3u) + i, taper_val_retain(args[3 + i]));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_batch_norm_legit)
{
    const taper_norm_legit *form = call->param;
    const size_t behind = form->running ? 5 : 3, numbers = behind + (form->training < 0 ? 1 : 0);
    taper_val args[8] = {call->args[0], call->args[1], call->args[2], taper_val_none(), taper_val_none()};
    taper_tensor *copies[2] = {NULL, NULL};
    taper_status status = TAPER_OK;
    for (size_t i = 0; form->running && i < 2 && status == TAPER_OK; i++) {
        args[3 + i] = call->args[3 + i];
        if (form->copies) {
            taper_tensor *running;
            status = taper_arg_tensor(call, 3 + i, &running);
            if (status == TAPER_OK) {
                status = taper_view_clone(call->run, running, TAPER_FORMAT_PRESERVE, &copies[i]);
                args[3 + i] = status == TAPER_OK ? TAPER_VAL(copies[i]) : taper_val_none();
            }
        }
    }
    args[5] = form->training < 0 ? call->args[behind] : taper_val_bool(form->training != 0);
    args[6] = call->args[numbers];
    args[7] = call->args[numbers + 1];
    if (status == TAPER_OK) {
        status = run_form(call, form, args);
    }
    taper_tensor_drop(copies[0]);
    taper_tensor_drop(copies[1]);
    return status;
}
