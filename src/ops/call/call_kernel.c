// SPDX-License-Identifier: BSD-2-Clause
// Runs the kernel of an operator call.
#include "base/budget.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/check_shapes.h"
#include "ops/call/generator.h"
#include "ops/call/prepared.h"
#include "ops/call/through_floats.h"
#include "platform/denormals.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern bool taper_run_step(taper_run *run, int64_t i, uint64_t work);

taper_run taper_run_on(taper_heap *heap, struct taper_registry *registry, taper_error *error)
{
    return (taper_run){.heap = heap,
                       .registry = registry,
                       .error = error,
                       .budget = taper_budget_of(taper_heap_allocator(heap)),
                       .work_left = TAPER_WORK_BETWEEN};
}

taper_status taper_call_kernel(taper_call *call, taper_kernel kernel)
{
    if (call->prepared != NULL && *call->prepared != NULL && taper_prepared_fits(*call->prepared, call) &&
        !taper_prepared_waits(*call->prepared)) {
        kernel = taper_prepared_call;
    } else if (taper_call_has_quantized(call)) {
        TAPER_TRY(taper_quantized_kernel(call, &kernel));
    }
    taper_run *const run = call->run;
    // A fused kernel declines a call with half-precision tensors, so that the operators that it combines run one by
    // one.
    const bool halves = kernel != taper_prepared_call && call->plan == NULL && taper_call_has_halves(call);
    taper_status status;
#ifdef TAPER_CHECK_SHAPES
    taper_shape_check check;
    taper_shape_check_begin(&check, call);
#endif
#ifdef TAPER_WITH_OPERATORS
    const bool draws = taper_op_has(call->op, TAPER_OP_NONDETERMINISTIC) && taper_generator_enter(run);
#endif
    if (!taper_op_has(call->op, TAPER_OP_PRODUCT) || run->flushes) {
        status = halves ? taper_call_through_floats(call, kernel) : kernel(call);
    } else {
        const uint64_t before = taper_denormals_off();
        run->flushes = true; // makes other threads of the pool flush denormal numbers to zero, as this thread does
        status = halves ? taper_call_through_floats(call, kernel) : kernel(call);
        run->flushes = false;
        taper_denormals_restore(before);
    }
#ifdef TAPER_WITH_OPERATORS
    if (draws) {
        taper_generator_leave(run);
    }
#endif
    status = taper_run_outcome(run, status);
    if (taper_op_has(call->op, TAPER_OP_RESIZES | TAPER_OP_REPLACES) && taper_call_in_place(call) &&
        call->args[0].tag == TAPER_TENSOR) {
        taper_tensor_was_reshaped(call->args[0].as.tensor); // a kernel that failed may have changed the shape already
    }
    for (size_t i = 0; status == TAPER_OK && taper_op_has(call->op, TAPER_OP_OUT_COPY) && i < call->ret_count; i++) {
        taper_tensor *const target = taper_ret_argument(call, i);
        const taper_val value = call->rets[i];
        if (target != NULL && value.tag == TAPER_TENSOR && value.as.tensor != target) {
            call->rets[i] = taper_val_none();
            status = taper_ret_copied(call, i, target, value.as.tensor);
        }
    }
#ifdef TAPER_CHECK_SHAPES
    if (status == TAPER_OK) {
        status = taper_shape_check_end(&check, call);
    }
#endif
    return status;
}
