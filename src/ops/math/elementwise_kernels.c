// SPDX-License-Identifier: BSD-2-Clause
// The kernels that most elementwise operators share, and kernels that choose among the arithmetic of several operators
// or check their numbers first. An operator's param points to the arithmetic, a taper_ew_op.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/elementwise_math.h"
#include "ops/engine/view_move.h"
#include "ops/math/elementwise_ops.h"

// Fails if a finite number is too large for the float dtype, as PyTorch does.
static taper_status check_number(const taper_call *call, taper_dtype dtype, const taper_scalar *scalar)
{
    return taper_dtype_is_float(dtype) ? taper_scalar_check(dtype, scalar, call->run->error) : TAPER_OK;
}

static taper_status read_scalars(const taper_call *call, taper_ew *ew, size_t from)
{
    for (size_t k = 0; k < ew->op->scalars; k++) {
        taper_scalar scalar;
        TAPER_TRY(taper_arg_scalar(call, from + k, &scalar));
        TAPER_TRY(check_number(call, taper_ew_common(ew), &scalar));
        taper_ew_set_scalar(&ew->args, k, &scalar);
    }
    return TAPER_OK;
}

// Runs op with the call's first `count` arguments as operands. The arguments after them are the numbers of op.
static taper_status run_row(taper_call *call, const taper_ew_op *op, size_t count)
{
    taper_ew ew = taper_ew_make(op);
    ew.whole = true;
    for (size_t k = 0; k < count; k++) {
        TAPER_TRY(taper_ew_input_arg(&ew, call, k));
    }
    TAPER_TRY(read_scalars(call, &ew, count));
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_unary)
{
    return run_row(call, call->param, 1);
}

// Runs an operator whose result has the strides of PyTorch's empty_like. isinf and isfinite have these strides only for
// integers and bools, for which PyTorch fills a new tensor without a computation. For floats their results have the
// usual strides of elementwise results.
TAPER_KERNEL(taper_op_unary_like)
{
    taper_ew ew = taper_ew_make(call->param);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    const taper_tensor *x = ew.inputs[0].tensor;
    const bool computes = ew.op == &taper_ew_isinf || ew.op == &taper_ew_isfinite;
    const bool whole = x != NULL && (x->dtype <= TAPER_I64 || x->dtype == TAPER_BOOL);
    ew.layout = computes && !whole ? TAPER_EW_ITERATOR : TAPER_EW_LIKE;
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_angle)
{
    taper_ew ew = taper_ew_make(&taper_ew_angle);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    const bool complex = ew.inputs[0].tensor != NULL && taper_dtype_is_complex((taper_dtype)ew.inputs[0].tensor->dtype);
    ew.layout = complex ? TAPER_EW_CONTIGUOUS : TAPER_EW_ITERATOR;
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_binary)
{
    return run_row(call, call->param, 2);
}

TAPER_KERNEL(taper_op_heaviside)
{
    taper_tensor *x, *values;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &values));
    if (x->dtype != values->dtype) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "heaviside is not yet implemented for tensors with different dtypes.");
    }
    return taper_op_binary(call);
}

// Runs op with argument `at` as its only operand, and with p0, p1 and so on as its numbers.
static taper_status run_laid(taper_call *call, size_t at, const taper_ew_op *op, taper_ew_layout layout, double p0,
                             double p1, double p2)
{
    taper_ew ew = taper_ew_make(op);
    ew.whole = true;
    ew.layout = (uint8_t)layout;
    TAPER_TRY(taper_ew_input_arg(&ew, call, at));
    const double numbers[] = {p0, p1, p2};
    for (size_t k = 0; k < 3; k++) {
        const taper_scalar scalar = taper_scalar_double(numbers[k]);
        taper_ew_set_scalar(&ew.args, k, &scalar);
        ew.args.i[k] = fabs(numbers[k]) < 9e18 ? (int64_t)numbers[k] : 0;
    }
    return taper_ew_run(call, &ew);
}

static taper_status run_unary(taper_call *call, size_t at, const taper_ew_op *op, double p0, double p1, double p2)
{
    return run_laid(call, at, op, TAPER_EW_ITERATOR, p0, p1, p2);
}

// ---- sums and differences with alpha

static taper_dtype input_dtype(const taper_ew_input *input)
{
    return input->tensor != NULL ? (taper_dtype)input->tensor->dtype : taper_scalar_dtype(&input->scalar);
}

static taper_status check_alpha(const taper_call *call, const taper_ew *ew, taper_scalar *alpha)
{
    const taper_dtype common = taper_ew_common(ew);
    if (alpha->kind == TAPER_SCALAR_BOOL && common != TAPER_BOOL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Boolean alpha only supported for Boolean results.");
    }
    if (alpha->kind == TAPER_SCALAR_DOUBLE && !taper_dtype_is_float(common) && !taper_dtype_is_complex(common)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "For integral input tensors, argument alpha must not be a floating point number.");
    }
    if (alpha->kind == TAPER_SCALAR_COMPLEX && !taper_dtype_is_complex(common)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "For non-complex input tensors, argument alpha must not be a complex number.");
    }
    if (common == TAPER_BOOL) { // like the operands, alpha becomes a bool: an alpha of -1 counts as true, and nothing
                                // is subtracted
        alpha->i = alpha->i != 0;
    }
    return check_number(call, common, alpha);
}

static taper_status run_sum(taper_call *call, const taper_ew_op *op, size_t first, size_t second)
{
    taper_ew ew = taper_ew_make(op);
    ew.whole = true;
    TAPER_TRY(taper_ew_input_arg(&ew, call, first));
    TAPER_TRY(taper_ew_input_arg(&ew, call, second));
    taper_scalar alpha;
    TAPER_TRY(taper_arg_scalar(call, 2, &alpha));
    TAPER_TRY(check_alpha(call, &ew, &alpha));
    taper_ew_set_scalar(&ew.args, 0, &alpha);
    if (op == &taper_ew_sub) {
        const int bools = (input_dtype(&ew.inputs[0]) == TAPER_BOOL) + (input_dtype(&ew.inputs[1]) == TAPER_BOOL);
        if (bools != 0) {
            TAPER_FAIL(
                call->run->error, TAPER_ERROR_ARGUMENT, "Subtraction, the `-` operator, with %s is not supported. %s",
                bools == 2 ? "two bool tensors" : "a bool tensor",
                bools == 2 ? "Use the `^` or `logical_xor()` operator instead."
                           : "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
        }
    }
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_sum2)
{
    return run_sum(call, call->param, 0, 1);
}

TAPER_KERNEL(taper_op_rsub)
{
    return run_sum(call, &taper_ew_sub, 1, 0);
}

// ---- quotients and powers

TAPER_KERNEL(taper_op_div_mode)
{
    const taper_ew_op *op = &taper_ew_div;
    if (!taper_arg_is_none(call, 2)) {
        const taper_string *mode;
        TAPER_TRY(taper_arg_string(call, 2, &mode));
        if (strcmp(mode->data, "trunc") == 0) {
            op = &taper_ew_div_trunc;
        } else if (strcmp(mode->data, "floor") == 0) {
            op = &taper_ew_div_floor;
        } else {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%.40s'",
                       mode->data);
        }
    }
    taper_ew ew = taper_ew_make(op);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    TAPER_TRY(taper_ew_input_arg(&ew, call, 1));
    return taper_ew_run(call, &ew);
}

// Returns the arithmetic of powers with a common exponent, or NULL for other exponents. PyTorch also computes these
// powers as products and roots. At infinities pow() would give results different from PyTorch's.
static const taper_ew_op *power_of(double exponent)
{
    static const struct {
        double exponent;
        const taper_ew_op *op;
    } known[] = {
        {2, &taper_ew_squared},  {3, &taper_ew_cubed},       {0.5, &taper_ew_sqrt},
        {-0.5, &taper_ew_rsqrt}, {-1, &taper_ew_reciprocal}, {-2, &taper_ew_inverse_square},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].exponent == exponent) {
            return known[i].op;
        }
    }
    return NULL;
}

static taper_status run_power(taper_call *call, taper_ew *ew)
{
    const taper_dtype common = ew->common >= 0 ? (taper_dtype)ew->common : taper_ew_common(ew);
    const taper_scalar *exponent = ew->inputs[1].tensor == NULL ? &ew->inputs[1].scalar : NULL;
    if (exponent != NULL && exponent->kind == TAPER_SCALAR_INT && exponent->i < 0 && taper_dtype_is_integral(common)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Integers to negative integer powers are not allowed.");
    }
    if (exponent != NULL && exponent->kind != TAPER_SCALAR_COMPLEX && taper_dtype_is_float(common) &&
        ew->inputs[0].tensor != NULL) {
        const taper_ew_op *special = power_of(exponent->f);
        if (special != NULL) {
            ew->op = special;
            ew->common = (int)common;
            ew->count = 1;
        }
    }
    if (exponent != NULL && exponent->kind == TAPER_SCALAR_INT && exponent->i == 2 && taper_dtype_is_integral(common) &&
        common != TAPER_BOOL) {
        ew->op = &taper_ew_mul;
        ew->common = (int)common;
        ew->inputs[1] = ew->inputs[0];
    }
    return taper_ew_run(call, ew);
}

TAPER_KERNEL(taper_op_pow)
{
    taper_ew ew = taper_ew_make(&taper_ew_pow);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    TAPER_TRY(taper_ew_input_arg(&ew, call, 1));
    ew.layout = ew.inputs[0].tensor == NULL ? TAPER_EW_CONTIGUOUS : TAPER_EW_ITERATOR;
    return run_power(call, &ew);
}

TAPER_KERNEL(taper_op_square)
{
    taper_ew ew = taper_ew_make(&taper_ew_pow);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    taper_ew_input_scalar(&ew, taper_scalar_int(2));
    return run_power(call, &ew);
}

TAPER_KERNEL(taper_op_float_power)
{
    taper_ew ew = taper_ew_make(&taper_ew_pow);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    TAPER_TRY(taper_ew_input_arg(&ew, call, 1));
    const bool complex =
        taper_dtype_is_complex(input_dtype(&ew.inputs[0])) || taper_dtype_is_complex(input_dtype(&ew.inputs[1]));
    ew.common = complex ? TAPER_C128 : TAPER_F64;
    ew.layout = ew.inputs[0].tensor == NULL ? TAPER_EW_CONTIGUOUS : TAPER_EW_ITERATOR;
    const taper_tensor *target = taper_ret_target(call, 0);
    if (target != NULL && target->dtype != ew.common) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "the base given to float_power_ has dtype %s but the operation's result requires dtype %s",
                   taper_dtype_torch_name((taper_dtype)target->dtype), taper_dtype_torch_name((taper_dtype)ew.common));
    }
    return run_power(call, &ew);
}

// Computes self * 2 ** other. If other is an integer tensor, the power is float32, which decides the promotion.
TAPER_KERNEL(taper_op_ldexp)
{
    taper_ew ew = taper_ew_make(&taper_ew_ldexp);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    TAPER_TRY(taper_ew_input_arg(&ew, call, 1));
    if (ew.inputs[0].tensor != NULL && ew.inputs[1].tensor != NULL) {
        // Only the dtype and the rank of this tensor are used.
        taper_tensor power = taper_tensor_local(ew.inputs[1].tensor);
        power.dtype = (uint8_t)taper_dtype_to_float((taper_dtype)power.dtype);
        taper_promotion promotion = taper_promotion_start();
        taper_promotion_tensor(&promotion, ew.inputs[0].tensor);
        taper_promotion_tensor(&promotion, &power);
        ew.common = (int)taper_promotion_result(&promotion);
    }
    return taper_ew_run(call, &ew);
}

// ---- clamp

// Converts the number to an integer dtype as a cast does: with a uint8 tensor, -3 becomes 253. For other dtypes the
// number is only checked.
static taper_status cut_number(const taper_call *call, taper_dtype dtype, taper_scalar *scalar)
{
    uint8_t bytes[16];
    TAPER_TRY(taper_scalar_check(dtype, scalar, call->run->error));
    if (taper_dtype_is_integral(dtype)) {
        taper_scalar_store(dtype, bytes, scalar);
        taper_scalar_load(dtype, bytes, scalar);
    }
    return TAPER_OK;
}

// Runs clamp in any of its variants. low and high are the argument positions of the bounds; SIZE_MAX means that the
// variant has no such bound.
static taper_status run_clamp(taper_call *call, size_t low, size_t high)
{
    taper_ew ew = taper_ew_make(&taper_ew_clamp_scalars);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    taper_promotion promotion = taper_promotion_start();
    if (ew.inputs[0].tensor != NULL) {
        taper_promotion_tensor(&promotion, ew.inputs[0].tensor);
    }
    const size_t at[2] = {low, high};
    taper_scalar bounds[2] = {taper_scalar_double(-INFINITY), taper_scalar_double(INFINITY)};
    bounds[0].i = INT64_MIN;
    bounds[1].i = INT64_MAX;
    bool given[2];
    for (size_t k = 0; k < 2; k++) {
        given[k] = at[k] != SIZE_MAX && !taper_arg_is_none(call, at[k]);
        if (given[k]) {
            TAPER_TRY(taper_arg_scalar(call, at[k], &bounds[k]));
            taper_promotion_scalar(&promotion, &bounds[k]);
        }
    }
    if (!given[0] && !given[1]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "torch.clamp: At least one of 'min' or 'max' must not be None");
    }
    const taper_dtype common = taper_promotion_result(&promotion);
    if (taper_dtype_is_complex(common)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "clamp is not supported for complex types");
    }
    for (size_t k = 0; k < 2; k++) {
        if (given[k]) {
            TAPER_TRY(cut_number(call, common, &bounds[k]));
        }
        taper_ew_set_scalar(&ew.args, k, &bounds[k]);
        if (!given[k]) {
            ew.args.i[k] = bounds[k].i;
        }
    }
    ew.common = (int)common;
    if (isnan(bounds[0].f) || isnan(bounds[1].f)) { // a bound that is NaN makes every element NaN, as in PyTorch
        taper_ew_input_scalar(&ew, taper_scalar_double(NAN));
        ew.op = &taper_ew_mul;
    }
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_clamp)
{
    return run_clamp(call, 1, 2);
}
TAPER_KERNEL(taper_op_clamp_min)
{
    return run_clamp(call, 1, SIZE_MAX);
}
TAPER_KERNEL(taper_op_clamp_max)
{
    return run_clamp(call, SIZE_MAX, 1);
}

TAPER_KERNEL(taper_op_clamp_tensor)
{
    const bool low = !taper_arg_is_none(call, 1), high = !taper_arg_is_none(call, 2);
    if (!low && !high) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "torch.clamp: At least one of 'min' or 'max' must not be None");
    }
    taper_ew ew = taper_ew_make(low && high ? &taper_ew_clamp : low ? &taper_ew_maximum : &taper_ew_minimum);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    if (low) {
        TAPER_TRY(taper_ew_input_arg(&ew, call, 1));
    }
    if (high) {
        TAPER_TRY(taper_ew_input_arg(&ew, call, 2));
    }
    return taper_ew_run(call, &ew);
}

// Runs hardtanh and threshold, which keep an integer dtype and convert their numbers to it.
TAPER_KERNEL(taper_op_bounded)
{
    const taper_ew_op *op = call->param;
    taper_ew ew = taper_ew_make(op);
    ew.layout = op == &taper_ew_hardtanh ? TAPER_EW_LIKE : TAPER_EW_ITERATOR;
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    for (size_t k = 0; k < 2; k++) {
        taper_scalar scalar;
        TAPER_TRY(taper_arg_scalar(call, 1 + k, &scalar));
        if (ew.inputs[0].tensor != NULL) {
            TAPER_TRY(cut_number(call, (taper_dtype)ew.inputs[0].tensor->dtype, &scalar));
        }
        taper_ew_set_scalar(&ew.args, k, &scalar);
    }
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_relu6)
{
    return run_laid(call, 0, &taper_ew_clamp_scalars, TAPER_EW_LIKE, 0, 6, 0);
}

// ---- activations that take numbers in addition to their operand

TAPER_KERNEL(taper_op_selu)
{
    return run_unary(call, 0, &taper_ew_elu, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}

TAPER_KERNEL(taper_op_celu)
{
    double alpha;
    TAPER_TRY(taper_arg_double(call, 1, &alpha));
    if (alpha == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "ZeroDivisionError: alpha cannot be 0 for CELU");
    }
    taper_tensor *x;
    const taper_scalar number = taper_scalar_double(alpha);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(check_number(call, (taper_dtype)x->dtype, &number));
    return run_unary(call, 0, &taper_ew_elu, alpha, 1, 1 / alpha);
}

TAPER_KERNEL(taper_op_gelu)
{
    const taper_string *approximate;
    TAPER_TRY(taper_arg_string(call, 1, &approximate));
    const bool tanh_form = strcmp(approximate->data, "tanh") == 0;
    if (!tanh_form && strcmp(approximate->data, "none") != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "approximate argument must be either none or tanh.");
    }
    return run_unary(call, 0, tanh_form ? &taper_ew_gelu_tanh : &taper_ew_gelu, 0, 0, 0);
}

// ---- numbers that depend on the dtype

TAPER_KERNEL(taper_op_nan_to_num)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const double largest = x->dtype == TAPER_F64    ? DBL_MAX
                           : x->dtype == TAPER_F16  ? 65504
                           : x->dtype == TAPER_BF16 ? 3.38953138925153547590470800371487866880e38
                                                    : (double)FLT_MAX;
    double nan, high, low;
    TAPER_TRY(taper_arg_double_or(call, 1, 0, &nan));
    TAPER_TRY(taper_arg_double_or(call, 2, largest, &high));
    TAPER_TRY(taper_arg_double_or(call, 3, -largest, &low));
    return run_laid(call, 0, &taper_ew_nan_to_num, TAPER_EW_LIKE, nan, high, low);
}

TAPER_KERNEL(taper_op_logit)
{
    double eps;
    TAPER_TRY(taper_arg_double_or(call, 1, -1, &eps));
    return run_unary(call, 0, &taper_ew_logit, eps, 0, 0);
}

TAPER_KERNEL(taper_op_round_decimals)
{
    int64_t decimals;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &decimals));
    if (taper_dtype_is_integral((taper_dtype)x->dtype)) { // PyTorch rounds integers only without decimals
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    if (decimals == 0) {
        return run_unary(call, 0, &taper_ew_round, 0, 0, 0);
    }
    const double power = pow(10, fabs((double)decimals));
    return run_unary(call, 0, decimals > 0 ? &taper_ew_round_up : &taper_ew_round_down, power, 0, 0);
}

static taper_status run_polygamma(taper_call *call, size_t tensor_at, size_t order_at)
{
    int64_t order;
    TAPER_TRY(taper_arg_int(call, order_at, &order));
    if (order < 0 || order > 1000) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "polygamma(n, x) does not support n %s",
                   order < 0 ? "< 0" : "> 1000");
    }
    return run_unary(call, tensor_at, &taper_ew_polygamma, (double)order, 0, 0);
}

TAPER_KERNEL(taper_op_polygamma)
{
    return run_polygamma(call, 1, 0);
}
TAPER_KERNEL(taper_op_polygamma_)
{
    return run_polygamma(call, 0, 1);
}

TAPER_KERNEL(taper_op_mvlgamma)
{
    int64_t p;
    TAPER_TRY(taper_arg_int(call, 1, &p));
    if (p < 1 || p > 1000) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "p has to be between 1 and 1000");
    }
    // PyTorch's result is the result of a sum and therefore contiguous.
    return run_laid(call, 0, &taper_ew_mvlgamma, TAPER_EW_CONTIGUOUS, (double)p, 0, 0);
}

// ---- operators with three operands

TAPER_KERNEL(taper_op_addc)
{
    const taper_ew_op *op = call->param;
    taper_ew ew = taper_ew_make(op);
    for (size_t k = 0; k < 3; k++) {
        TAPER_TRY(taper_ew_input_arg(&ew, call, k));
    }
    if (op == &taper_ew_addcdiv && taper_dtype_to_float(taper_ew_common(&ew)) != taper_ew_common(&ew)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Integer division with addcdiv is no longer supported");
    }
    TAPER_TRY(read_scalars(call, &ew, 3));
    return taper_ew_run(call, &ew);
}

static taper_status check_same_dtype(const taper_call *call, const taper_tensor *a, const taper_tensor *b,
                                     const char *name)
{
    if (a->dtype != b->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "expected dtype %s for `%s` but got dtype %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), name, taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_lerp)
{
    taper_tensor *self, *end;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_arg_tensor(call, 1, &end));
    TAPER_TRY(check_same_dtype(call, self, end, "end"));
    taper_ew ew = taper_ew_make(&taper_ew_lerp);
    taper_ew_input_tensor(&ew, self);
    taper_ew_input_tensor(&ew, end);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 2));
    if (ew.inputs[2].tensor != NULL) {
        TAPER_TRY(check_same_dtype(call, self, ew.inputs[2].tensor, "weight"));
    } else {
        TAPER_TRY(check_number(call, (taper_dtype)self->dtype, &ew.inputs[2].scalar));
    }
    ew.common = self->dtype;
    return taper_ew_run(call, &ew);
}

static taper_status check_condition(const taper_call *call, const taper_tensor *condition)
{
    if (condition->dtype != TAPER_BOOL && condition->dtype != TAPER_U8) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "where expected condition to be a boolean tensor, but got a tensor with dtype %s",
                   taper_dtype_torch_name((taper_dtype)condition->dtype));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_where)
{
    taper_tensor *condition;
    TAPER_TRY(taper_arg_tensor(call, 0, &condition));
    TAPER_TRY(check_condition(call, condition));
    taper_ew ew = taper_ew_make(&taper_ew_where);
    for (size_t k = 0; k < 3; k++) {
        TAPER_TRY(taper_ew_input_arg(&ew, call, k));
    }
    for (size_t k = 1; k < 3; k++) {
        if (ew.inputs[k].tensor == NULL) {
            TAPER_TRY(taper_scalar_check(taper_ew_common(&ew), &ew.inputs[k].scalar, call->run->error));
        }
    }
    return taper_ew_run(call, &ew);
}

TAPER_KERNEL(taper_op_masked_fill)
{
    taper_tensor *self, *mask;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_arg_tensor(call, 1, &mask));
    if (mask->dtype != TAPER_BOOL && mask->dtype != TAPER_U8) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "masked_fill only supports boolean masks, but got mask with dtype %s",
                   taper_dtype_torch_name((taper_dtype)mask->dtype));
    }
    taper_ew ew = taper_ew_make(&taper_ew_where);
    taper_ew_input_tensor(&ew, mask);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 2));
    const taper_ew_input *value = &ew.inputs[1];
    if (value->tensor != NULL && value->tensor->rank != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "masked_fill only supports a 0-dimensional value tensor, but got tensor with %u dimension(s).",
                   value->tensor->rank);
    }
    if (value->tensor == NULL) {
        TAPER_TRY(taper_scalar_check((taper_dtype)self->dtype, &value->scalar, call->run->error));
    } else if (taper_dtype_is_complex((taper_dtype)value->tensor->dtype)) {
        TAPER_TRY(taper_check_cast((taper_dtype)value->tensor->dtype, (taper_dtype)self->dtype, call->run->error));
    }
    taper_ew_input_tensor(&ew, self);
    ew.common = self->dtype;
    ew.layout = TAPER_EW_CONTIGUOUS;
    return taper_ew_run(call, &ew);
}

taper_status taper_ew_isclose_args(const taper_call *call, taper_ew *ew)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    if (a->dtype != b->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s did not match %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    *ew = taper_ew_make(&taper_ew_isclose);
    taper_ew_input_tensor(ew, a);
    taper_ew_input_tensor(ew, b);
    double tolerances[2];
    bool equal_nan;
    TAPER_TRY(taper_arg_double(call, 2, &tolerances[0]));
    TAPER_TRY(taper_arg_double(call, 3, &tolerances[1]));
    TAPER_TRY(taper_arg_bool(call, 4, &equal_nan));
    if (!(tolerances[0] >= 0) || !(tolerances[1] >= 0)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "rtol and atol must be greater than or equal to zero");
    }
    const taper_scalar numbers[] = {taper_scalar_double(tolerances[0]), taper_scalar_double(tolerances[1]),
                                    taper_scalar_double(equal_nan)};
    for (size_t k = 0; k < 3; k++) {
        taper_ew_set_scalar(&ew->args, k, &numbers[k]);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_isclose)
{
    taper_ew ew;
    TAPER_TRY(taper_ew_isclose_args(call, &ew));
    return taper_ew_run(call, &ew);
}
