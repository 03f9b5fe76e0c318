// SPDX-License-Identifier: BSD-2-Clause
// The operator that makes the gradient with which a computation starts: the gradient given for an output, or ones. The
// other operators are those that the compiler inserts when it differentiates a program (compiler/differentiate.h).
#include "ir/tensor_def.h"
#include "ops/gradient/tape.h"

taper_status taper_tape_check_first(const taper_run *run, const taper_tensor *output, taper_val given)
{
    if (given.tag != TAPER_TENSOR && taper_tensor_numel(output) != 1) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "grad can be implicitly created only for scalar outputs");
    }
    return TAPER_OK;
}

taper_status taper_tape_first(const taper_tape_caller *caller, taper_tensor *output, taper_val given, taper_val *grad)
{
    const taper_op *const op = TAPER_OP(aten_ones_like);
    if (given.tag == TAPER_TENSOR) {
        const taper_tensor *const g = given.as.tensor;
        if (g->rank != output->rank || memcmp(g->sizes, output->sizes, g->rank * sizeof *g->sizes) != 0) {
            TAPER_FAIL(caller->run->error, TAPER_ERROR_ARGUMENT,
                       "Mismatch in shape: a grad_output and its output have different sizes");
        }
        *grad = taper_val_retain(given);
        return TAPER_OK;
    }
    taper_val args[6] = {TAPER_VAL(output)};
    for (size_t i = 1; i < sizeof args / sizeof *args; i++) {
        args[i] = taper_val_none();
    }
    if (op == NULL) {
        TAPER_FAIL(caller->run->error, TAPER_ERROR_UNSUPPORTED, "this build lacks an operator that gradients need");
    }
    *grad = taper_val_none();
    return taper_tape_call_op((void *)(uintptr_t)caller, op, args, sizeof args / sizeof *args, grad, 1);
}

TAPER_KERNEL(taper_op_first_gradient)
{
    const taper_tape_caller caller = {call->run, false};
    taper_tensor *output;
    taper_val grad;
    TAPER_TRY(taper_arg_tensor(call, 0, &output));
    TAPER_TRY(taper_tape_check_first(call->run, output, call->args[1]));
    TAPER_TRY(taper_tape_first(&caller, output, call->args[1], &grad));
    taper_ret(call, 0, grad);
    return TAPER_OK;
}

// Fails if argument 0 is also in the list of other tensors, because its two gradients would have to be added.
TAPER_KERNEL(taper_op_check_apart)
{
    taper_tensor *tensor;
    taper_list *others;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    TAPER_TRY(taper_arg_list(call, 1, &others));
    for (size_t i = 0; i < others->count; i++) {
        if (others->items[i].tag == TAPER_TENSOR && others->items[i].as.tensor == tensor) {
            TAPER_FAIL(
                call->run->error, TAPER_ERROR_UNSUPPORTED,
                "one tensor is passed as two inputs, and a gradient of it is asked for: pass a clone, or load the "
                "model without the pass \"differentiate\"");
        }
    }
    return TAPER_OK;
}
