// SPDX-License-Identifier: BSD-2-Clause
// The elementwise engine (elementwise.h): it decides the dtype and shape of the result, then starts the walk
// (elementwise_walk.c).
#include "ir/tensor.h"
#include "ops/engine/elementwise_walk.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern taper_ew taper_ew_make(const taper_ew_op *op);
extern void taper_ew_input_tensor(taper_ew *ew, taper_tensor *tensor);

void taper_ew_set_scalar(taper_ew_args *args, size_t at, const taper_scalar *scalar)
{
    const bool whole = scalar->kind == TAPER_SCALAR_BOOL || scalar->kind == TAPER_SCALAR_INT;
    args->f[at] = whole ? (double)scalar->i : scalar->f;
    args->i[at] = scalar->i;
    args->c[at] = (taper_c128){args->f[at], scalar->kind == TAPER_SCALAR_COMPLEX ? scalar->im : 0};
}

taper_status taper_ew_input_arg(taper_ew *ew, const taper_call *call, size_t at)
{
    taper_ew_input *input = &ew->inputs[ew->count++];
    input->at = at < UINT8_MAX ? (uint8_t)(at + 1) : 0;
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR) {
        input->tensor = call->args[at].as.tensor;
        return TAPER_OK;
    }
    const taper_schema *schema = call->schema;
    if (schema != NULL && at < schema->arg_count && schema->args[at].type->kind == TAPER_TYPE_TENSOR) {
        // Fails with the message for an argument that is not a tensor.
        return taper_arg_tensor(call, at, &input->tensor);
    }
    return taper_arg_scalar(call, at, &input->scalar);
}

taper_dtype taper_ew_common(const taper_ew *ew)
{
    taper_promotion promotion = taper_promotion_start();
    for (size_t k = 0; k < ew->count; k++) {
        if ((ew->op->masks >> k & 1) != 0) {
            continue;
        }
        if (ew->inputs[k].tensor != NULL) {
            taper_promotion_tensor(&promotion, ew->inputs[k].tensor);
        } else {
            taper_promotion_scalar(&promotion, &ew->inputs[k].scalar);
        }
    }
    const taper_dtype common = taper_promotion_result(&promotion);
    return ew->op->promote == TAPER_EW_FLOAT ? taper_dtype_to_float(common) : common;
}

// ---- dtypes, loops and results

static taper_status decide(const taper_call *call, const taper_ew *ew, taper_ew_decision *d)
{
    const taper_ew_op *op = ew->op;
    for (size_t k = 0; k < ew->count; k++) {
        const taper_tensor *tensor = ew->inputs[k].tensor;
        if (tensor != NULL && taper_ew_class_of((taper_dtype)tensor->dtype) == TAPER_EW_CLASSES) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s' tensors",
                       taper_dtype_torch_name((taper_dtype)tensor->dtype));
        }
    }
    d->common = ew->common >= 0 ? (taper_dtype)ew->common : taper_ew_common(ew);
    d->in_class = taper_ew_class_of(d->common);
    if (d->in_class == TAPER_EW_U8 && op->loops[TAPER_EW_U8] == NULL && !op->no_bool) {
        d->in_class = TAPER_EW_I64;
    }
    d->loop = d->in_class < TAPER_EW_CLASSES ? op->loops[d->in_class] : NULL;
    if (d->loop == NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name(d->common));
    }
    d->result = d->common;
    d->out_class = d->in_class;
    if (op->result == TAPER_EW_BOOL) {
        d->result = TAPER_BOOL;
        d->out_class = TAPER_EW_U8;
    } else if (op->result == TAPER_EW_REAL) {
        d->result = taper_dtype_to_real(d->common);
        d->out_class = d->in_class == TAPER_EW_C128 ? TAPER_EW_F64 : d->in_class;
    }
    if (ew->result >= 0) {
        d->result = (taper_dtype)ew->result;
    }
    return TAPER_OK;
}

// Converts a 0-dim input to the common dtype first, as PyTorch does: 300 becomes 44 if the other input is uint8.
static void side_number(taper_ew_side *s, const taper_ew_input *input, const taper_ew_decision *d, bool mask)
{
    taper_scalar scalar = input->scalar;
    const taper_dtype dtype = mask ? TAPER_BOOL : d->common;
    if (input->tensor != NULL) {
        taper_scalar_load((taper_dtype)input->tensor->dtype, taper_tensor_data(input->tensor), &scalar);
    }
    taper_scalar_store(dtype, s->number, &scalar);
    s->data = (char *)s->number;
    s->dtype = dtype;
    s->class_ = mask ? TAPER_EW_U8 : d->in_class;
}

// Computes the elements and stores them in `to`. If `keeps` is set, `to` is the new result of the call, so the walk may
// be kept for later calls.
static taper_status apply(taper_call *call, taper_ew *ew, const taper_ew_decision *d, taper_tensor *to, bool keeps)
{
    taper_error *error = call->run->error;
    taper_ew_lines w;
    memset(&w, 0, sizeof w);
    w.rank = to->rank;
    w.sides = ew->count + 1;
    memcpy(w.sizes, to->sizes, to->rank * sizeof *to->sizes);
    for (size_t i = 0; i < to->rank; i++) {
        if (to->sizes[i] == 0) {
            return TAPER_OK;
        }
    }
    if (taper_ew_class_of((taper_dtype)to->dtype) == TAPER_EW_CLASSES) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "results of dtype %s are not supported",
                   taper_dtype_torch_name((taper_dtype)to->dtype));
    }
    taper_ew_side_set(&w.side[0], &w, to, d->out_class);
    w.side[0].data = taper_tensor_mutable(to);
    for (size_t k = 0; k < ew->count; k++) {
        taper_tensor *tensor = ew->inputs[k].tensor;
        const bool mask = (ew->op->masks >> k & 1) != 0;
        if (tensor == NULL || tensor->rank == 0) {
            side_number(&w.side[k + 1], &ew->inputs[k], d, mask);
        } else {
            taper_ew_side_set(&w.side[k + 1], &w, tensor, mask ? TAPER_EW_U8 : d->in_class);
            w.side[k + 1].data = (char *)(uintptr_t)taper_tensor_data(tensor);
        }
    }
    ew->args.zero_division = ew->args.stopped = false;
    ew->args.run = call->run;
    return taper_ew_lines_run(call, ew, d, &w, keeps);
}

static taper_status broadcast_all(const taper_call *call, const taper_ew *ew, size_t *rank, int64_t *sizes)
{
    *rank = 0;
    for (size_t k = 0; k < ew->count; k++) {
        if (ew->inputs[k].tensor != NULL) {
            TAPER_TRY(taper_ew_broadcast(rank, sizes, ew->inputs[k].tensor, call->run->error));
        }
    }
    int64_t product = 1;
    for (size_t i = 0; i < *rank; i++) {
        if (!taper_mul_i64(product, taper_max_i64(sizes[i], 1), &product) || product > TAPER_LIMIT_TENSOR_BYTES) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_RESOURCE, "the broadcast result would be too large");
        }
    }
    return TAPER_OK;
}

// Decides the strides of a new result. *hidden is true if it is stored as hidden NHWC.
static taper_status layout(const taper_call *call, const taper_ew *ew, const taper_ew_decision *d, size_t rank,
                           const int64_t *sizes, int64_t *strides, bool *hidden)
{
    taper_tensor *operands[TAPER_EW_INPUTS] = {NULL};
    int64_t wanted[TAPER_MAX_RANK];
    bool any = false;
    for (size_t k = 0; k < ew->count; k++) {
        operands[k] = ew->inputs[k].tensor;
        any = any || (operands[k] != NULL && operands[k]->hidden_nhwc && operands[k]->rank == rank &&
                      memcmp(operands[k]->sizes, sizes, rank * sizeof *sizes) == 0);
    }
    taper_strides_contiguous(rank, sizes, wanted);
    if (ew->layout == TAPER_EW_CONTIGUOUS) {
        memcpy(strides, wanted, sizeof wanted);
    } else if (ew->layout == TAPER_EW_LIKE && operands[0] != NULL && operands[0]->rank == rank) {
        TAPER_TRY(taper_like_strides(operands[0], TAPER_FORMAT_PRESERVE, strides, call->run->error));
    } else {
        taper_ew_result_strides(rank, sizes, operands, ew->count, d->common, ew->unconverted ? 7 : ew->op->masks,
                                strides);
    }
    *hidden = any && memcmp(strides, wanted, rank * sizeof *strides) == 0;
    return TAPER_OK;
}

static taper_status check_target(const taper_call *call, const taper_ew *ew, const taper_ew_decision *d,
                                 taper_tensor *target, size_t rank, const int64_t *sizes)
{
    taper_error *error = call->run->error;
    const bool same = target->rank == rank && memcmp(target->sizes, sizes, rank * sizeof *sizes) == 0;
    // A bool result may be written to a tensor of any dtype.
    if (d->out_class != TAPER_EW_U8 || d->in_class == TAPER_EW_U8) {
        TAPER_TRY(taper_check_cast(d->result, (taper_dtype)target->dtype, error));
    }
    if (!same && call->schema != NULL && call->schema->out_count == 0) {
        const taper_sizes_text a = taper_sizes_print(target->rank, target->sizes), b = taper_sizes_print(rank, sizes);
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output with shape %s doesn't match the broadcast shape %s", a.text,
                   b.text);
    }
    for (size_t k = 0; k < ew->count; k++) {
        const taper_tensor *input = ew->inputs[k].tensor;
        if (input != NULL && !same && input == target) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "argument 'out' is an input too and has another shape than the result");
        }
        if (input != NULL && same) {
            TAPER_TRY(taper_check_sharing(target, input, true, error));
        }
    }
    return TAPER_OK;
}

taper_status taper_ew_run(taper_call *call, taper_ew *ew)
{
    taper_ew_decision d;
    bool done;
    TAPER_TRY(taper_ew_run_plain(call, ew, &done));
    if (done) {
        return TAPER_OK;
    }
    TAPER_TRY(decide(call, ew, &d));
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    TAPER_TRY(broadcast_all(call, ew, &rank, sizes));
    taper_tensor *to = taper_ret_target(call, ew->ret);
    if (to != NULL) {
        TAPER_TRY(check_target(call, ew, &d, to, rank, sizes));
    }
    bool hidden, keeps = to == NULL;
    TAPER_TRY(layout(call, ew, &d, rank, sizes, strides, &hidden));
    for (size_t k = 0; to == NULL && !hidden && k < ew->count; k++) {
        if (ew->inputs[k].at != 0) {
            TAPER_TRY(taper_ret_over(call, ew->ret, ew->inputs[k].at - 1u, d.result, rank, sizes, strides, &to));
        }
    }
    if (keeps && to != NULL) {
        keeps = false;
    } else if (hidden) {
        TAPER_TRY(taper_ret_new_nhwc(call, ew->ret, d.result, rank, sizes, true, &to));
    } else {
        TAPER_TRY(taper_ret_new(call, ew->ret, d.result, rank, sizes, strides, &to));
    }
    return apply(call, ew, &d, to, keeps);
}

taper_status taper_ew_compute(taper_call *call, taper_ew *ew, taper_tensor **result)
{
    taper_ew_decision d;
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    bool hidden;
    *result = NULL;
    TAPER_TRY(decide(call, ew, &d));
    TAPER_TRY(broadcast_all(call, ew, &rank, sizes));
    TAPER_TRY(layout(call, ew, &d, rank, sizes, strides, &hidden));
    if (hidden) {
        taper_strides_channels_last(rank, sizes, strides);
    }
    taper_tensor *to;
    TAPER_TRY(taper_tensor_new(call->run->heap, d.result, rank, sizes, strides, &to, call->run->error));
    to->hidden_nhwc = hidden;
    const taper_status status = apply(call, ew, &d, to, false);
    if (status != TAPER_OK) {
        taper_tensor_drop(to);
        return status;
    }
    *result = to;
    return TAPER_OK;
}

taper_status taper_ew_into(taper_call *call, taper_ew *ew, taper_tensor *to)
{
    taper_ew_decision d;
    size_t rank = to->rank;
    int64_t sizes[TAPER_MAX_RANK];
    TAPER_TRY(decide(call, ew, &d));
    memcpy(sizes, to->sizes, sizeof sizes);
    for (size_t k = 0; k < ew->count; k++) {
        if (ew->inputs[k].tensor != NULL) {
            TAPER_TRY(taper_ew_broadcast(&rank, sizes, ew->inputs[k].tensor, call->run->error));
        }
    }
    if (rank != to->rank || memcmp(sizes, to->sizes, rank * sizeof *sizes) != 0) {
        const taper_sizes_text a = taper_sizes_print(to->rank, to->sizes), b = taper_sizes_print(rank, sizes);
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "output with shape %s doesn't match the broadcast shape %s",
                   a.text, b.text);
    }
    return apply(call, ew, &d, to, false);
}
