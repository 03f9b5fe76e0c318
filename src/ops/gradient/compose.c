// SPDX-License-Identifier: BSD-2-Clause
// Compositions: calls that the tape replaces by calls of other operators. Each of these is recorded, so gradients of
// all orders follow. The results may differ from those of the operator's own kernel by roundings.
#include "ir/tensor.h"
#include "ops/gradient/tape.h"
#include "ops/list/op_rows.h"

bool taper_tape_composes(const taper_call *call)
{
    const taper_gradient *const gradient = taper_gradient_find(call->op);
    return gradient != NULL && gradient->composed && (call->schema == NULL || call->schema->out_count == 0) &&
           taper_tape_records(call);
}

// Writes the result of a composition into argument 0 of an in-place form.
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
    for (size_t f = 0; status == TAPER_OK && f < gradient->count; f++) {
        const taper_gradient_formula *const formula = taper_gradient_formula_at(gradient, f);
        taper_val found[32];
        size_t at = 0;
        status = taper_formula_run(formula, &values, found);
        for (uint32_t i = 0; i < 32; i++) {
            if ((formula->targets >> i & 1) != 0 && i < call->ret_count) {
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
