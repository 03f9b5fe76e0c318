// SPDX-License-Identifier: BSD-2-Clause
// Calls of operators for gradients, and compositions: calls that the tape replaces by calls of other operators. Each of
// these calls is recorded, so gradients of all orders follow. The results may differ from those of the operator's own
// kernel by roundings.
#include "ops/gradient/tape.h"

bool taper_tape_composes(const taper_call *call)
{
    const taper_gradient *const gradient = taper_gradient_find(call->op);
    return gradient != NULL && taper_gradient_is_composed(gradient) &&
           (call->schema == NULL || call->schema->out_count == 0) && taper_tape_records(call);
}

// Writes the result of a composition into argument 0 of an in-place operator.
static taper_status write_back(taper_call *call, const taper_tape_caller *caller, taper_val *result)
{
    const taper_op *const copy = TAPER_OP(aten_copy_);
    taper_val args[3] = {call->args[0], *result, taper_val_bool(false)}, written = taper_val_none();
    if (copy == NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "this build lacks aten::copy_, which gradients need");
    }
    TAPER_TRY(taper_tape_call_op((void *)(uintptr_t)caller, copy, args, 3, &written, 1));
    taper_val_replace(result, written);
    return TAPER_OK;
}

taper_status taper_tape_compose(taper_call *call)
{
    const taper_gradient *const gradient = taper_gradient_find(call->op);
    const taper_tape_caller caller = {call->run, true};
    const taper_formula_values values = {.args = call->args,
                                         .call = taper_tape_call_op,
                                         .user = (void *)(uintptr_t)&caller,
                                         .heap = call->run->tape->heap,
                                         .registry = call->run->registry,
                                         .error = call->run->error};
    taper_status status = TAPER_OK;
    taper_gradient_formula formula = {.end = NULL};
    while (status == TAPER_OK && taper_gradient_next(gradient, &formula)) {
        taper_val found[32];
        size_t at = 0;
        status = taper_formula_run(&formula, &values, found);
        for (uint32_t i = 0; i < 32; i++) {
            if ((formula.targets >> i & 1) != 0 && i < call->ret_count) {
                taper_val_replace(&call->rets[i], found[at++]);
            }
        }
    }
    const taper_schema *const schema = call->schema;
    if (status == TAPER_OK && schema != NULL && schema->arg_count != 0 && schema->args[0].written) {
        status = write_back(call, &caller, &call->rets[0]);
    }
    return status;
}

taper_status taper_tape_run(taper_call *call, taper_tape_kernel *kernel, const void *user)
{
    if (call->run->tape == NULL) {
        return kernel(user, call);
    }
    taper_tape_call noted;
    if (taper_tape_composes(call)) {
        return taper_tape_compose(call);
    }
    TAPER_TRY(taper_tape_before(call, &noted));
    return taper_tape_after(call, &noted, kernel(user, call));
}

// ---- calls for gradients

static taper_status run_kernel(taper_call *call)
{
    const taper_run *const run = call->run;
    const taper_kernel fast = run->choose != NULL ? run->choose(run->choose_context, call->op) : NULL;
    const taper_status status = fast != NULL ? taper_call_kernel(call, fast) : TAPER_DECLINED;
    return status != TAPER_DECLINED ? status : taper_call_kernel(call, taper_row_kernel(call->op));
}

// Runs the kernel. An operator that consists of steps records its steps if its gradient is wanted (steps.h).
static taper_status run_with_steps(taper_call *call, bool records)
{
    taper_tape *const tape = call->run->tape;
    if (tape == NULL) {
        return run_kernel(call);
    }
    const bool before = tape->records_steps;
    tape->records_steps = records;
    const taper_status status = run_kernel(call);
    tape->records_steps = before;
    return status;
}

taper_status taper_tape_call_op(void *user, const taper_op *op, taper_val *args, size_t arg_count, taper_val *rets,
                                size_t ret_count)
{
    const taper_tape_caller *const caller = user;
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(caller->run->registry, op, &schema, caller->run->error));
    for (size_t i = 0; i < arg_count && !taper_op_has(op, TAPER_OP_NHWC); i++) {
        TAPER_TRY(taper_settle(caller->run, args[i]));
    }
    void *state = NULL;
    taper_call call = {.run = caller->run,
                       .op = op,
                       .param = taper_row_param(op),
                       .schema = schema,
                       .args = args,
                       .arg_count = arg_count,
                       .rets = rets,
                       .ret_count = ret_count,
                       .state = &state};
    taper_tape_call noted = {.node = NULL};
    if (caller->records && taper_tape_composes(&call)) {
        const taper_status composed = taper_tape_compose(&call);
        for (size_t i = 0; composed != TAPER_OK && i < ret_count; i++) {
            taper_val_replace(&rets[i], taper_val_none());
        }
        return composed;
    }
    TAPER_TRY(caller->records ? taper_tape_before(&call, &noted) : TAPER_OK);
    taper_status status = run_with_steps(&call, caller->records);
    status = caller->records ? taper_tape_after(&call, &noted, status) : status;
    for (size_t i = 0; status != TAPER_OK && i < ret_count; i++) {
        taper_val_replace(&rets[i], taper_val_none());
    }
    return status;
}
