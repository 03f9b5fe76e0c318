// SPDX-License-Identifier: BSD-2-Clause
// Orthogonal polynomials as elementwise operators of a point and a degree, and the kernels of the special functions
// that PyTorch computes only for float and double.
#include "ops/call/call.h"
#include "ops/engine/elementwise_loops.h"
#include "ops/math/elementwise_ops.h"

enum { LONG_WALK = 1 << 16 }; // steps of the recurrence between two charges to the run

static bool stop(taper_ew_args *args)
{
    args->steps = 0;
    args->stopped = args->run != NULL && !taper_run_goes_on(args->run, LONG_WALK * 5);
    return args->stopped;
}

// These functions compute n + 1 and 2 n + 1 in unsigned arithmetic, because a degree may be INT64_MAX. PyTorch's sums
// wrap around too.
static int64_t and_one(int64_t n)
{
    return (int64_t)((uint64_t)n + 1);
}

static int64_t twice_and_one(int64_t n)
{
    return (int64_t)(2 * (uint64_t)n + 1);
}

#define T float
#define F(function) function##f
#define NAME(function) function##_f32
#include "ops/math/elementwise_polynomial.inc"
#undef T
#undef F
#undef NAME
#define T double
#define F(function) function
#define NAME(function) function##_f64
#include "ops/math/elementwise_polynomial.inc"
#undef T
#undef F
#undef NAME

#define POLYNOMIAL(name) TAPER_EW_RECORD(name, FLOAT, SAME, 0, name##_loop_f32, name##_loop_f64)
TAPER_EW_POLYNOMIALS(POLYNOMIAL)

static taper_status run_special(taper_call *call, size_t count)
{
    taper_ew ew = taper_ew_make(call->param);
    for (size_t k = 0; k < count; k++) {
        TAPER_TRY(taper_ew_input_arg(&ew, call, k));
    }
    const taper_dtype common = taper_ew_common(&ew);
    if (common != TAPER_F32 && common != TAPER_F64) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name(common));
    }
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_special)
{
    return run_special(call, 1);
}
TAPER_KERNEL(taper_op_special2)
{
    return run_special(call, 2);
}
