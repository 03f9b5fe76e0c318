// SPDX-License-Identifier: BSD-2-Clause
// Runs another operator, given its row of the operator list, for operators that consist of other operators.
#include "ops/list/registry.h"

taper_status taper_call_op(taper_run *run, const taper_op *op, taper_val *args, size_t arg_count, taper_val *rets,
                           size_t ret_count)
{
    enum { MOST = 32 };
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(run->registry, op, &schema, run->error));
    taper_val full[MOST];
    size_t count = arg_count;
    if (arg_count < schema->arg_count && schema->arg_count <= MOST) { // adds the defaults of the missing arguments
        for (size_t i = 0; i < schema->arg_count; i++) {
            full[i] = i < arg_count ? args[i] : schema->args[i].default_value;
        }
        args = full;
        count = schema->arg_count;
    }
    for (size_t i = 0; i < ret_count; i++) {
        rets[i] = taper_val_none();
    }
    for (size_t i = 0; i < count; i++) {
        if (!taper_op_has(op, TAPER_OP_NHWC)) {
            TAPER_TRY(taper_settle(run, args[i]));
        }
    }
    void *state = NULL;
    taper_call call = {.run = run,
                       .op = op,
                       .param = taper_row_param(op),
                       .schema = schema,
                       .args = args,
                       .arg_count = count,
                       .rets = rets,
                       .ret_count = ret_count,
                       .state = &state};
    const taper_status status = taper_call_kernel(&call, taper_row_kernel(op));
    if (status != TAPER_OK) {
        for (size_t i = 0; i < ret_count; i++) {
            taper_val_replace(&rets[i], taper_val_none());
        }
    }
    return status;
}
