// SPDX-License-Identifier: BSD-2-Clause
// einsum. Each operand is viewed with one dimension per subscript, of size 1 if the operand lacks the subscript. The
// subscripts of the output come first, in their order, then the subscripts that are summed. Operands are then joined
// from the left, by a multiplication if nothing can be summed yet, otherwise by batched matrix products. The order of
// dimensions in memory is the same as in PyTorch, because the strides of results depend on it.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/einsum_path.h"
#include "ops/engine/view_move.h"
#include "ops/linalg/einsum_products.h"

enum { LABELS = 52, ELLIPSIS = 52, DIMS = TAPER_EINSUM_DIMS, MAX_OPERANDS = 64 };

typedef taper_einsum_operand operand;

typedef struct subscripts {
    uint8_t labels[DIMS];
    size_t count;
    bool ellipsis;
} subscripts;

typedef struct equation {
    size_t dims, out_dims;    // number of dimensions; the first out_dims belong to the result
    size_t place[LABELS + 1]; // first dimension of each label, and of the ellipsis
    size_t ellipsis_dims;
    int64_t sizes[DIMS]; // largest size of each dimension among the operands
    int uses[DIMS];      // for each dimension, number of operands with a size above 1 that are not joined yet
} equation;

// ---- reading the equation's text

static taper_status parse_operand(taper_error *error, const char **text, size_t which, subscripts *out)
{
    out->count = 0;
    out->ellipsis = false;
    const char *p = *text;
    for (; *p != '\0' && *p != ','; p++) {
        if (*p == ' ') {
            continue;
        }
        if (*p == '-' && p[1] == '>') {
            break;
        }
        uint8_t label;
        if (*p == '.') {
            if (p[1] != '.' || p[2] != '.' || out->ellipsis) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "einsum(): found '.' for operand %zu %s", which,
                           out->ellipsis ? "for which an ellipsis was already found"
                                         : "that is not part of any ellipsis");
            }
            p += 2;
            label = ELLIPSIS;
            out->ellipsis = true;
        } else if (*p >= 'A' && *p <= 'Z') {
            label = (uint8_t)(*p - 'A');
        } else if (*p >= 'a' && *p <= 'z') {
            label = (uint8_t)(*p - 'a' + 26);
        } else {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "einsum(): invalid subscript '%c', subscripts must be in [a-zA-Z]",
                       *p);
        }
        if (out->count == DIMS) {
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "einsum(): operand %zu has more than %d subscripts", which,
                       DIMS);
        }
        out->labels[out->count++] = label;
    }
    *text = p;
    return TAPER_OK;
}

static char letter(size_t label)
{
    return (char)(label < 26 ? 'A' + (int)label : 'a' + (int)label - 26);
}

// Assigns a dimension to each label: first the labels of the output (the text after "->", or NULL), then the labels
// that are summed.
static taper_status place_labels(taper_error *error, const char *output, const int *counts, equation *eq)
{
    bool ellipsis_placed = false;
    for (size_t i = 0; i <= LABELS; i++) {
        eq->place[i] = DIMS;
    }
    // Without an output text, the ellipsis comes first. It is followed by every label that occurs once, in alphabetical
    // order.
    if (output == NULL) {
        eq->place[ELLIPSIS] = 0;
        eq->dims = eq->ellipsis_dims;
        ellipsis_placed = true;
        for (size_t i = 0; i < LABELS; i++) {
            if (counts[i] == 1) {
                eq->place[i] = eq->dims++;
            }
        }
    } else {
        subscripts out;
        const char *p = output;
        TAPER_TRY(parse_operand(error, &p, 0, &out));
        if (*p != '\0') {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "einsum(): invalid output subscripts '%s'", output);
        }
        for (size_t i = 0; i < out.count; i++) {
            const size_t label = out.labels[i];
            if (label == ELLIPSIS) {
                eq->place[ELLIPSIS] = eq->dims;
                eq->dims += eq->ellipsis_dims;
                ellipsis_placed = true;
                continue;
            }
            if (eq->place[label] != DIMS) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                           "einsum(): output subscript %c appears more than once in the output", letter(label));
            }
            if (counts[label] == 0) {
                TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                           "einsum(): output subscript %c does not appear in the equation for any input operand",
                           letter(label));
            }
            eq->place[label] = eq->dims++;
        }
    }
    eq->out_dims = eq->dims;
    if (!ellipsis_placed) {
        eq->place[ELLIPSIS] = eq->dims;
        eq->dims += eq->ellipsis_dims;
    }
    for (size_t i = 0; i < LABELS; i++) {
        if (counts[i] > 0 && eq->place[i] == DIMS) {
            eq->place[i] = eq->dims++;
        }
    }
    if (eq->dims > DIMS - 2 || eq->out_dims > TAPER_MAX_RANK) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "einsum(): the result would have %zu dimensions, at most %d are supported", eq->out_dims,
                   TAPER_MAX_RANK);
    }
    return TAPER_OK;
}

// Views the tensor with the equation's dimensions. A label that occurs twice selects the diagonal.
static taper_status lay_out(taper_error *error, equation *eq, const subscripts *subs, const taper_tensor *tensor,
                            size_t which, operand *out)
{
    const size_t covered = subs->ellipsis ? tensor->rank + 1u - subs->count : 0;
    bool seen[DIMS] = {false};
    for (size_t i = 0; i < eq->dims; i++) {
        out->sizes[i] = 1;
        out->strides[i] = 1;
    }
    out->offset = tensor->offset;
    size_t dim = 0;
    for (size_t i = 0; i < subs->count; i++) {
        const bool dots = subs->labels[i] == ELLIPSIS;
        const size_t count = dots ? covered : 1;
        for (size_t j = 0; j < count; j++, dim++) {
            const size_t at = dots ? eq->place[ELLIPSIS] + eq->ellipsis_dims - covered + j : eq->place[subs->labels[i]];
            const int64_t size = tensor->sizes[dim];
            if (seen[at]) {
                if (out->sizes[at] != size) {
                    TAPER_FAIL(
                        error, TAPER_ERROR_ARGUMENT,
                        "einsum(): subscript %c is repeated for operand %zu but the sizes don't match, %lld != %lld",
                        letter(subs->labels[i]), which, (long long)size, (long long)out->sizes[at]);
                }
                out->strides[at] = taper_wrap_add(out->strides[at], tensor->strides[dim]);
                continue;
            }
            seen[at] = true;
            out->sizes[at] = size;
            out->strides[at] = tensor->strides[dim];
            if (size != 1) {
                if (eq->sizes[at] != 1 && eq->sizes[at] != size) {
                    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                               "einsum(): subscript %c has size %lld for operand %zu which does not broadcast with "
                               "previously seen size %lld",
                               dots ? '.' : letter(subs->labels[i]), (long long)size, which, (long long)eq->sizes[at]);
                }
                eq->sizes[at] = size;
                eq->uses[at]++;
            }
        }
    }
    return TAPER_OK;
}

// ---- joining two operands

// Returns the dtype of a sum over elements of this dtype.
static taper_dtype sum_dtype(taper_dtype dtype)
{
    return taper_dtype_is_integral(dtype) || dtype == TAPER_BOOL ? TAPER_I64 : dtype;
}

// Replaces `a` by the product of `a` and `b`, summed over the dimensions that no later operand uses. *of_a and of_b are
// the dtypes that PyTorch's operands would have: elementwise products promote, matrix products require equal dtypes.
static taper_status join(taper_call *call, equation *eq, operand *a, operand *b, taper_dtype *of_a, taper_dtype of_b)
{
    taper_run *const run = call->run;
    bool summed[DIMS] = {false}, in_a[DIMS] = {false}, in_b[DIMS] = {false}, any = false, any_a = false, any_b = false;
    for (size_t i = eq->out_dims; i < eq->dims; i++) {
        if (a->sizes[i] != 1 && b->sizes[i] != 1) {
            if (--eq->uses[i] == 1) {
                summed[i] = any = true;
                eq->uses[i] = 0;
            }
        } else if (eq->uses[i] == 1 && (a->sizes[i] != 1 || b->sizes[i] != 1)) {
            *(a->sizes[i] != 1 ? &any_a : &any_b) = true;
            (a->sizes[i] != 1 ? in_a : in_b)[i] = true;
            eq->uses[i] = 0;
        }
    }
    if (any_a) {
        TAPER_TRY(taper_einsum_sum(run, eq->dims, a, in_a));
        *of_a = sum_dtype(*of_a);
    }
    if (any_b) {
        TAPER_TRY(taper_einsum_sum(run, eq->dims, b, in_b));
        of_b = sum_dtype(of_b);
    }
    if (any && *of_a != of_b) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but found %s",
                   taper_dtype_torch_name(*of_a), taper_dtype_torch_name(of_b));
    }
    *of_a = taper_promote(*of_a, of_b);
    if (any && of_b == TAPER_BOOL) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "einsum(): sums of products are not implemented for 'Bool'");
    }
    operand product = {0};
    const taper_status status = any ? taper_einsum_contract(call, eq->dims, a, b, summed, &product)
                                    : taper_einsum_multiply(run, eq->dims, a, b, &product);
    if (status != TAPER_OK) {
        taper_tensor_drop(product.tensor);
        return status;
    }
    taper_tensor_drop(a->tensor);
    *a = product;
    return TAPER_OK;
}

// ---- the operator einsum

static taper_status check_counts(taper_error *error, const subscripts *subs, const taper_tensor *tensor, size_t which)
{
    const size_t labels = subs->count - (subs->ellipsis ? 1u : 0u);
    if (subs->ellipsis ? labels > tensor->rank : labels != tensor->rank) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "einsum(): the number of subscripts in the equation (%zu) does not match the number of dimensions "
                   "(%u) for operand %zu%s",
                   labels, tensor->rank, which, subs->ellipsis ? "" : " and no ellipsis was given");
    }
    return TAPER_OK;
}

typedef struct einsum_work {
    subscripts subs[MAX_OPERANDS];
    taper_tensor *tensors[MAX_OPERANDS]; // the operands, borrowed from the call
    operand *operands;                   // the operands in the working dtype; products replace them
    taper_dtype common;                  // promoted dtype of all operands
    equation eq;
} einsum_work;

static taper_status parse(taper_call *call, const char *text, size_t count, einsum_work *w)
{
    taper_error *error = call->run->error;
    int counts[LABELS + 1] = {0};
    const char *p = text;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_arg_tensor_item(call, 1, i, false, &w->tensors[i]));
        TAPER_TRY(parse_operand(error, &p, i, &w->subs[i]));
        TAPER_TRY(check_counts(error, &w->subs[i], w->tensors[i], i));
        for (size_t j = 0; j < w->subs[i].count; j++) {
            counts[w->subs[i].labels[j]]++;
        }
        if (w->subs[i].ellipsis) {
            w->eq.ellipsis_dims = taper_max_size(w->eq.ellipsis_dims, w->tensors[i]->rank + 1u - w->subs[i].count);
        }
        if (i + 1 < count && *p != ',') {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "einsum(): more operands were provided than specified in the equation");
        }
        p += i + 1 < count ? 1 : 0;
        const taper_dtype dtype = (taper_dtype)w->tensors[i]->dtype;
        if (taper_dtype_is_quantized(dtype)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "einsum(): not implemented for '%s'",
                       taper_dtype_torch_name(dtype));
        }
        w->common = i == 0 ? dtype : taper_promote(w->common, dtype);
    }
    if (*p == ',') {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "einsum(): fewer operands were provided than specified in the equation");
    }
    return place_labels(error, *p == '\0' ? NULL : p + 2, counts, &w->eq);
}

// Fills w->operands with the operands in the working dtype, viewed with the equation's dimensions.
static taper_status take(taper_run *run, einsum_work *w, size_t count)
{
    for (size_t i = 0; i < w->eq.dims; i++) {
        w->eq.sizes[i] = 1;
        w->eq.uses[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        taper_tensor *tensor = NULL;
        TAPER_TRY(taper_tensor_cast(run, w->tensors[i], taper_work_dtype(w->common), &tensor));
        w->operands[i].tensor = tensor;
        TAPER_TRY(lay_out(run->error, &w->eq, &w->subs[i], tensor, i, &w->operands[i]));
    }
    return TAPER_OK;
}

// ---- the order of the products

static uint64_t dims_of(const equation *eq, const operand *o)
{
    uint64_t dims = 0;
    for (size_t d = 0; d < eq->dims; d++) {
        dims |= o->sizes[d] != 1 ? UINT64_C(1) << d : 0;
    }
    return dims;
}

// Finds the order of dimensions in which the last product stores its elements, if the operands are multiplied from left
// to right. Returns false if that product has no sums.
static bool last_order(const equation *eq, const uint64_t *operands, size_t count, size_t *order)
{
    const uint64_t result = ((UINT64_C(1) << eq->out_dims) - 1), right = operands[count - 1];
    uint64_t left = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        left |= operands[i];
    }
    left &= result | right;
    const uint64_t both = left & right & result, sums = left & right & ~result, own = left & ~right;
    const uint64_t all = (UINT64_C(1) << eq->dims) - 1; // an equation has at most DIMS - 2 dimensions
    const uint64_t groups[] = {both, own, sums, all & ~(both | own | sums)};
    size_t at = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (size_t d = 0; d < eq->dims; d++) {
            if ((groups[g] >> d & 1) != 0) {
                order[at++] = d;
            }
        }
    }
    return sums != 0;
}

// Chooses the order of the products. Operands of several dtypes are multiplied from left to right, because PyTorch's
// errors and the dtype of the sums depend on this order. Returns true if it chose an order other than from left to
// right; `order` is then the order of dimensions that the result must get.
static bool choose_path(const einsum_work *w, size_t count, taper_einsum_step *steps, size_t *order)
{
    uint64_t dims[MAX_OPERANDS];
    if (count < 3 || taper_dtype_is_integral(w->common) || w->common == TAPER_BOOL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        dims[i] = dims_of(&w->eq, &w->operands[i]);
        if (w->tensors[i]->dtype != (uint8_t)w->common) {
            return false;
        }
    }
    return last_order(&w->eq, dims, count, order) &&
           taper_einsum_path(count, dims, (UINT64_C(1) << w->eq.out_dims) - 1, w->eq.sizes, steps);
}

static taper_status run_path(taper_call *call, einsum_work *w, size_t count, taper_dtype *dtype)
{
    taper_einsum_step steps[MAX_OPERANDS];
    size_t order[DIMS];
    for (size_t i = 1; i < count; i++) {
        steps[i - 1] = (taper_einsum_step){0, (uint8_t)i};
    }
    const bool chosen = !call->run->portable && choose_path(w, count, steps, order);
    for (size_t i = 0; i + 1 < count; i++) {
        operand *const left = &w->operands[steps[i].left], *const right = &w->operands[steps[i].right];
        TAPER_TRY(join(call, &w->eq, left, right, dtype, (taper_dtype)w->tensors[i + 1]->dtype));
        taper_tensor_drop(right->tensor);
        right->tensor = NULL;
    }
    return chosen ? taper_einsum_arrange(call->run, w->eq.dims, &w->operands[0], order) : TAPER_OK;
}

// Computes the strides of PyTorch's result. PyTorch removes the summed dimensions, which have size 1 by then, by a
// view. Other dimensions of size 1 then get the strides of the contiguous run of dimensions that they belong to.
static void view_strides(const operand *o, size_t dims, size_t out_dims, int64_t *strides)
{
    int64_t step = o->strides[dims - 1], run = 1, seen = 1;
    size_t to = out_dims;
    for (size_t d = dims; d-- > 0;) {
        run *= o->sizes[d];
        if (d > 0 && (o->sizes[d - 1] == 1 || o->strides[d - 1] == taper_wrap_mul(run, step))) {
            continue;
        }
        while (to > 0 && (seen < run || o->sizes[to - 1] == 1)) {
            strides[--to] = taper_wrap_mul(seen, step);
            seen *= o->sizes[to];
        }
        step = d > 0 ? o->strides[d - 1] : 0;
        run = seen = 1;
    }
}

static taper_status finish(taper_call *call, einsum_work *w, taper_dtype dtype, bool product)
{
    taper_run *run = call->run;
    operand *o = &w->operands[0];
    bool summed[DIMS] = {false}, any = false;
    for (size_t i = w->eq.out_dims; i < w->eq.dims; i++) {
        summed[i] = o->sizes[i] != 1;
        any = any || summed[i];
    }
    if (any) {
        TAPER_TRY(taper_einsum_sum(run, w->eq.dims, o, summed));
    }
    bool empty = false;
    for (size_t i = 0; i < w->eq.dims; i++) {
        empty = empty || o->sizes[i] == 0;
    }
    int64_t strides[DIMS];
    if (product && !empty && w->eq.dims > w->eq.out_dims) {
        memcpy(strides, o->strides, sizeof strides);
        view_strides(o, w->eq.dims, w->eq.out_dims, strides);
        memcpy(o->strides, strides, sizeof strides);
    }
    taper_tensor *result = NULL;
    TAPER_TRY(
        taper_tensor_alias(run->heap, o->tensor, o->offset, w->eq.out_dims, o->sizes, o->strides, &result, run->error));
    return taper_ret_cast(call, 0, result, dtype);
}

static taper_status run_einsum(taper_call *call, size_t count, einsum_work *w)
{
    taper_run *run = call->run;
    const taper_string *text;
    TAPER_TRY(taper_arg_string(call, 0, &text));
    if (count == 0 || count > MAX_OPERANDS || strlen(text->data) != text->length) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "einsum(): must provide at least one operand (and at most %d)",
                   MAX_OPERANDS);
    }
    TAPER_TRY(parse(call, text->data, count, w));
    TAPER_TRY(take(run, w, count));
    taper_dtype dtype = (taper_dtype)w->tensors[0]->dtype;
    if (count == 1) {
        // Without sums the result is a view. Sums of integers are int64.
        bool any = false;
        const operand *o = &w->operands[0];
        for (size_t i = w->eq.out_dims; i < w->eq.dims; i++) {
            any = any || o->sizes[i] != 1;
        }
        if (!any) {
            taper_tensor *view = NULL;
            TAPER_TRY(taper_tensor_alias(run->heap, w->tensors[0], o->offset, w->eq.out_dims, o->sizes, o->strides,
                                         &view, run->error));
            return taper_ret_tensor(call, 0, view);
        }
        dtype = sum_dtype(dtype);
    }
    TAPER_TRY(run_path(call, w, count, &dtype));
    return finish(call, w, dtype, count > 1);
}

TAPER_KERNEL(taper_op_einsum)
{
    taper_list *operands = NULL;
    TAPER_TRY(taper_arg_list(call, 1, &operands));
    const size_t count = operands->count,
                 bytes = sizeof(einsum_work) + taper_min_size(count, MAX_OPERANDS) * sizeof(operand);
    einsum_work *work = taper_heap_alloc(call->run->heap, bytes);
    if (work == NULL) {
        return taper_fail_memory(call->run->error);
    }
    memset(work, 0, bytes);
    work->operands = (operand *)(void *)(work + 1);
    const taper_status status = run_einsum(call, count, work);
    for (size_t i = 0; i < count && i < MAX_OPERANDS; i++) {
        taper_tensor_drop(work->operands[i].tensor);
    }
    taper_heap_free(call->run->heap, work, bytes);
    return status;
}
