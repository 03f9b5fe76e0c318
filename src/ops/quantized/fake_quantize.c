// SPDX-License-Identifier: BSD-2-Clause
// fake_quantize: replaces floats by the floats that their integers represent, as in models that are trained for
// quantization. It also returns the mask of the elements within range, and supports learned parameters and moving
// observers. The arithmetic is PyTorch's:
//   q = int64(zero_point + rne(x * (1f / scale))), y = (clamp(q) - zero_point) * scale, with y in double precision.
// A zero point that is a float is added before rounding. On x86 a number that does not fit into an int64 becomes the
// smallest int64. For float64 inputs with integer zero points PyTorch's compiler removed the conversion to int64, so
// such a number is clamped as a double.
#include <inttypes.h>
#include <math.h>

#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/engine/view_shape.h"
#include "ops/quantized/quantized.h"
#include "ops/quantized/quantized_walk.h"

// The kinds of zero points. WHOLE is an integer; REAL is a float that is used as it is; ROUNDED is a float that is
// rounded and clamped to the range before it is used.
typedef enum point_kind { WHOLE, REAL, ROUNDED } point_kind;

typedef struct fake_work {
    taper_dtype dtype; // dtype of x and y
    double low, high;
    point_kind kind;
    float scale;
    double point;
    const taper_tensor *scales, *points; // one number per channel; NULL: scale and point apply to all elements
    bool *mask;                          // receives the mask; NULL if no mask is wanted
} fake_work;

typedef struct channel {
    float scale, inverse;
    double point;
} channel;

static channel channel_of(const fake_work *w, int64_t c)
{
    channel made = {.scale = w->scale, .point = w->point};
    if (w->scales != NULL) {
        made.scale = ((const float *)taper_tensor_data(w->scales))[c * w->scales->strides[0]];
        made.point =
            taper_load_double((taper_dtype)w->points->dtype, taper_tensor_data(w->points), c * w->points->strides[0]);
    }
    if (w->kind == ROUNDED) {
        made.point = fmin(fmax(nearbyint(made.point), w->low), w->high);
    }
    made.inverse = 1.0f / made.scale;
    return made;
}

static int64_t to_int64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static double fake(const fake_work *w, const channel *c, double x, bool *within)
{
    double q;
    if (w->dtype == TAPER_F64) {
        q = x * (double)c->inverse;
        q = w->kind == REAL ? (double)nearbyintf((float)(c->point + q)) : trunc(c->point + nearbyint(q));
    } else {
        const float scaled = (float)x * c->inverse;
        q = (double)(w->kind == REAL ? nearbyintf((float)c->point + scaled) : (float)c->point + nearbyintf(scaled));
    }
    const int64_t number = to_int64(q);
    *within = w->low <= (double)number && (double)number <= w->high;
    if (w->dtype != TAPER_F64 || w->kind == REAL) {
        q = (double)number;
    }
    return (fmin(fmax(q, w->low), w->high) - c->point) * (double)c->scale;
}

#include "ops/quantized/fake_floats.h"

static void fake_row(const void *work, const taper_q_row *row)
{
    const fake_work *w = work;
    channel c = channel_of(w, row->b_at);
    if (are_floats(w, row)) {
        fake_floats(w, &c, row->count, (const float *)row->a + row->a_at, (float *)row->y + row->y_at,
                    w->mask == NULL ? NULL : w->mask + row->y_at);
        return;
    }
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t from = row->a_at + i * row->a_step, to = row->y_at + i * row->y_step;
        bool within;
        if (w->scales != NULL && row->b_step != 0 && i != 0) {
            c = channel_of(w, row->b_at + i * row->b_step);
        }
        if (w->dtype == TAPER_F32) {
            ((float *)row->y)[to] = (float)fake(w, &c, (double)((const float *)row->a)[from], &within);
        } else if (w->dtype == TAPER_F64) {
            ((double *)row->y)[to] = fake(w, &c, ((const double *)row->a)[from], &within);
        } else {
            const float value = (float)fake(w, &c, taper_load_double(w->dtype, row->a, from), &within);
            const taper_scalar number = {.kind = TAPER_SCALAR_DOUBLE, .f = (double)value};
            taper_scalar_store(w->dtype, (uint16_t *)row->y + to, &number);
        }
        if (w->mask != NULL) {
            w->mask[to] = within;
        }
    }
}

// ---- arguments

static taper_status arg_input(const taper_call *call, taper_tensor **x)
{
    TAPER_TRY(taper_arg_plain(call, 0, x));
    if ((*x)->dtype != TAPER_F32 && (*x)->dtype != TAPER_F64 && (*x)->dtype != TAPER_F16) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'self': numbers to quantize are float32, float64 or float16, not %s",
                   taper_dtype_name((taper_dtype)(*x)->dtype));
    }
    return TAPER_OK;
}

// Reads arguments `at` and `at` + 1, quant_min and quant_max.
static taper_status arg_range(const taper_call *call, size_t at, fake_work *w)
{
    int64_t low, high;
    TAPER_TRY(taper_arg_int(call, at, &low));
    TAPER_TRY(taper_arg_int(call, at + 1, &high));
    if (low > high || low < INT32_MIN || high > INT32_MAX) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "arguments 'quant_min' and 'quant_max': %" PRId64 " to %" PRId64
                   " is not a range of 32-bit integers",
                   low, high);
    }
    w->low = (double)low;
    w->high = (double)high;
    return TAPER_OK;
}

static taper_status check_point(const taper_call *call, const fake_work *w, double point)
{
    if (w->kind != REAL && !(point >= w->low && point <= w->high)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'zero_point': %g is not between quant_min %g and quant_max %g", point, w->low, w->high);
    }
    return TAPER_OK;
}

static taper_status arg_vector(const taper_call *call, size_t at, int64_t count, taper_tensor **vector)
{
    TAPER_TRY(taper_arg_plain(call, at, vector));
    if ((*vector)->rank != 1 || (*vector)->sizes[0] != count) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': expected a number for each of %" PRId64 " channels, its sizes are %s",
                   taper_arg_name(call, at), count, TAPER_SHAPE(*vector));
    }
    return TAPER_OK;
}

// Reads the scales and zero points for each index of dimension axis.
static taper_status channels(const taper_call *call, const taper_tensor *x, int64_t axis, taper_tensor *scales,
                             taper_tensor *points, bool learned, fake_work *w)
{
    const taper_dtype dtype = (taper_dtype)points->dtype;
    const bool whole = dtype == TAPER_I32, any = learned && !taper_dtype_is_complex(dtype) && dtype != TAPER_BOOL;
    if (scales->dtype != TAPER_F32 || (!whole && !any && dtype != TAPER_F32 && dtype != TAPER_F16)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "scales must be float32 and zero points int32, float32 or float16, got %s and %s",
                   taper_dtype_name((taper_dtype)scales->dtype), taper_dtype_name(dtype));
    }
    w->scales = scales;
    w->points = points;
    w->kind = learned ? ROUNDED : whole ? WHOLE : REAL;
    for (int64_t c = 0; c < x->sizes[axis] && w->kind == WHOLE; c++) {
        TAPER_TRY(check_point(call, w, channel_of(w, c).point));
    }
    return TAPER_OK;
}

static taper_status arg_channels(const taper_call *call, const taper_tensor *x, bool learned, fake_work *w)
{
    int64_t axis;
    taper_tensor *scales, *points;
    TAPER_TRY(taper_arg_int(call, 3, &axis));
    if (axis < 0 || axis >= x->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'axis': %" PRId64 " is not a dimension of a tensor of rank %u", axis, x->rank);
    }
    TAPER_TRY(arg_vector(call, 1, x->sizes[axis], &scales));
    TAPER_TRY(arg_vector(call, 2, x->sizes[axis], &points));
    return channels(call, x, axis, scales, points, learned, w);
}

// ---- results and masks

// Computes result 0, and the mask as result 1 if the operator has one.
static taper_status ret_fake(taper_call *call, taper_tensor *x, int64_t axis, fake_work *w)
{
    taper_tensor *y, *mask;
    int64_t strides[TAPER_MAX_RANK];
    w->dtype = (taper_dtype)x->dtype;
    TAPER_TRY(taper_like_strides(x, TAPER_FORMAT_PRESERVE, strides, call->run->error));
    TAPER_TRY(taper_ret_new(call, 0, w->dtype, x->rank, x->sizes, strides, &y));
    if (call->ret_count > 1) {
        TAPER_TRY(taper_ret_new(call, 1, TAPER_BOOL, x->rank, x->sizes, strides, &mask));
        w->mask = taper_tensor_mutable(mask);
    }
    taper_tensor numbers = taper_tensor_local(x); // only the strides of this tensor are used, to find the channel
    for (size_t d = 0; d < x->rank; d++) {
        numbers.sizes[d] = (int64_t)d == axis ? x->sizes[d] : 1;
        numbers.strides[d] = (int64_t)d == axis ? 1 : 0;
    }
    taper_q_walk(call->run, y, x, w->scales != NULL ? &numbers : NULL, fake_row, w);
    return TAPER_OK;
}

// Returns a copy of x, and a mask that is all true.
static taper_status ret_as_it_is(taper_call *call, taper_tensor *x)
{
    taper_tensor *y, *mask;
    TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_PRESERVE, &y));
    if (call->ret_count > 1) {
        const taper_status status = taper_ret_new(call, 1, TAPER_BOOL, y->rank, y->sizes, y->strides, &mask);
        if (status != TAPER_OK) {
            taper_tensor_drop(y);
            return status;
        }
        TAPER_TRY(taper_run_memset(call->run, taper_tensor_mutable(mask), 1, (size_t)taper_tensor_numel(y)));
    }
    return taper_ret_tensor(call, 0, y);
}

// ---- operators with given or learned parameters

TAPER_KERNEL(taper_op_fake_quantize)
{
    taper_tensor *x;
    fake_work w = {.kind = WHOLE};
    double scale;
    int64_t point;
    TAPER_TRY(arg_input(call, &x));
    TAPER_TRY(taper_arg_double(call, 1, &scale));
    TAPER_TRY(taper_arg_int(call, 2, &point));
    TAPER_TRY(arg_range(call, 3, &w));
    TAPER_TRY(check_point(call, &w, (double)point));
    w.scale = (float)scale;
    w.point = (double)point;
    return ret_fake(call, x, -1, &w);
}

// Reads the number in a tensor of one element. If `first` is set, a larger tensor is accepted, for learned parameters,
// and its first number is used.
static taper_status arg_number(const taper_call *call, size_t at, bool first, double *number)
{
    taper_tensor *t;
    TAPER_TRY(taper_arg_plain(call, at, &t));
    if (taper_tensor_numel(t) == 0 || (!first && taper_tensor_numel(t) != 1) ||
        taper_dtype_is_quantized((taper_dtype)t->dtype) || taper_dtype_is_complex((taper_dtype)t->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s': expected a tensor with one number",
                   taper_arg_name(call, at));
    }
    *number = taper_load_double((taper_dtype)t->dtype, taper_tensor_data(t), 0);
    return TAPER_OK;
}

// Computes fake_quantize_per_tensor_affine.tensor_qparams and _cachemask_tensor_qparams, which has the argument
// fake_quant_enabled before the range.
TAPER_KERNEL(taper_op_fake_quantize_qparams)
{
    taper_tensor *x;
    fake_work w = {.kind = WHOLE};
    double scale, enabled = 1;
    const bool has_switch = call->arg_count > 5;
    TAPER_TRY(arg_input(call, &x));
    TAPER_TRY(arg_number(call, 1, false, &scale));
    TAPER_TRY(arg_number(call, 2, false, &w.point));
    if (has_switch) {
        TAPER_TRY(arg_number(call, 3, false, &enabled));
    }
    TAPER_TRY(arg_range(call, has_switch ? 4 : 3, &w));
    if (enabled == 0) {
        return ret_as_it_is(call, x);
    }
    w.scale = (float)scale;
    w.point = (double)(int32_t)fmin(fmax(trunc(w.point), INT32_MIN), INT32_MAX);
    return ret_fake(call, x, -1, &w);
}

TAPER_KERNEL(taper_op_fake_quantize_learnable)
{
    taper_tensor *x;
    fake_work w = {.kind = ROUNDED};
    double scale;
    TAPER_TRY(arg_input(call, &x));
    TAPER_TRY(arg_number(call, 1, true, &scale));
    TAPER_TRY(arg_number(call, 2, true, &w.point));
    TAPER_TRY(arg_range(call, 3, &w));
    w.scale = (float)scale;
    return ret_fake(call, x, -1, &w);
}

static taper_status per_channel(taper_call *call, bool learned)
{
    taper_tensor *x;
    fake_work w = {.kind = WHOLE};
    TAPER_TRY(arg_input(call, &x));
    TAPER_TRY(arg_range(call, 4, &w));
    TAPER_TRY(arg_channels(call, x, learned, &w));
    return ret_fake(call, x, call->args[3].as.i, &w);
}

TAPER_KERNEL(taper_op_fake_quantize_channels)
{
    return per_channel(call, false);
}

TAPER_KERNEL(taper_op_fake_quantize_learnable_channels)
{
    return per_channel(call, true);
}

// ---- moving observers

// Reads a tensor that is written to: the running range, scale or zero point. The tensor has `count` elements.
static taper_status arg_written(const taper_call *call, size_t at, taper_dtype dtype, int64_t count,
                                taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_plain(call, at, tensor));
    taper_tensor *t = *tensor;
    if (t->dtype != dtype || t->rank > 1 || taper_tensor_numel(t) != count) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': expected %" PRId64 " %s numbers, got %s of sizes %s", taper_arg_name(call, at),
                   count, taper_dtype_name(dtype), taper_dtype_name((taper_dtype)t->dtype), TAPER_SHAPE(t));
    }
    TAPER_TRY(taper_ret_check_overlap(call, t));
    return taper_storage_write(t->storage, call->run->error);
}

// Updates the running ranges of `rows` equal parts of x.
static taper_status observe(const taper_call *call, taper_tensor *x, int64_t rows, float constant,
                            taper_tensor *const *ranges)
{
    taper_tensor *plain;
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    const float *from = taper_tensor_data(plain);
    const int64_t inner = taper_tensor_numel(x) / rows;
    for (int64_t r = 0; r < rows; r++) {
        float ends[2] = {from[r * inner], from[r * inner]};
        for (int64_t i = r * inner; i < (r + 1) * inner && taper_run_step(call->run, i, 3); i++) {
            ends[0] = from[i] < ends[0] || isnan(from[i]) ? from[i] : ends[0];
            ends[1] = from[i] > ends[1] || isnan(from[i]) ? from[i] : ends[1];
        }
        for (int e = 0; e < 2; e++) {
            float *to =
                (float *)taper_tensor_mutable(ranges[e]) + (ranges[e]->rank != 0 ? r * ranges[e]->strides[0] : 0);
            *to = isinf(*to) ? ends[e] : *to + constant * (ends[e] - *to);
        }
    }
    taper_tensor_drop(plain);
    return TAPER_OK;
}

// Computes scales and zero points from the running ranges.
static taper_status choose(const taper_call *call, const fake_work *w, int64_t rows, bool symmetric,
                           taper_tensor *const *written)
{
    const taper_q_range range = {(int64_t)w->low, (int64_t)w->high};
    for (int64_t r = 0; r < rows && taper_run_goes_on(call->run, 100); r++) {
        int64_t at[4], point;
        double scale;
        for (int i = 0; i < 4; i++) {
            at[i] = written[i]->rank != 0 ? r * written[i]->strides[0] : 0;
        }
        const float least = ((const float *)taper_tensor_data(written[0]))[at[0]];
        const float most = ((const float *)taper_tensor_data(written[1]))[at[1]];
        if (!(least <= most) || range.low == range.high) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "the running range is %g to %g: the observer has seen nothing, or no numbers", (double)least,
                       (double)most);
        }
        taper_q_span(least, most, range, symmetric, &scale, &point);
        ((float *)taper_tensor_mutable(written[2]))[at[2]] = (float)scale;
        ((int32_t *)taper_tensor_mutable(written[3]))[at[3]] = (int32_t)point;
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_fake_quantize_observed)
{
    taper_tensor *x, *written[4]; // written: the tensors running_min, running_max, scale, zero_point
    fake_work w = {.kind = WHOLE};
    double observing, quantizing, constant;
    int64_t axis;
    bool per_row, symmetric;
    TAPER_TRY(arg_input(call, &x));
    TAPER_TRY(arg_number(call, 1, false, &observing));
    TAPER_TRY(arg_number(call, 2, false, &quantizing));
    TAPER_TRY(taper_arg_double(call, 7, &constant));
    TAPER_TRY(arg_range(call, 8, &w));
    TAPER_TRY(taper_arg_int(call, 10, &axis));
    TAPER_TRY(taper_arg_bool(call, 11, &per_row));
    TAPER_TRY(taper_arg_bool(call, 12, &symmetric));
    if (taper_tensor_numel(x) == 0 || ((int64_t)observing != 1 && quantizing == 0)) {
        return ret_as_it_is(call, x);
    }
    if (x->dtype != TAPER_F32 || (per_row && (axis != 0 || x->rank == 0))) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'self' must be float32, and 'ch_axis' 0 where rows have ranges of their own; they are %s "
                   "and %" PRId64,
                   taper_dtype_name((taper_dtype)x->dtype), axis);
    }
    const int64_t rows = per_row ? x->sizes[0] : 1;
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(arg_written(call, 3 + i, i == 3 ? TAPER_I32 : TAPER_F32, rows, &written[i]));
    }
    if ((int64_t)observing == 1) {
        TAPER_TRY(observe(call, x, rows, (float)constant, written));
    }
    if (quantizing == 0) {
        return ret_as_it_is(call, x);
    }
    TAPER_TRY(choose(call, &w, rows, symmetric, written));
    if (per_row) {
        TAPER_TRY(channels(call, x, 0, written[2], written[3], false, &w));
    } else {
        w.scale = *(const float *)taper_tensor_data(written[2]);
        w.point = (double)*(const int32_t *)taper_tensor_data(written[3]);
    }
    return ret_fake(call, x, 0, &w);
}
