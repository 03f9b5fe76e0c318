// SPDX-License-Identifier: BSD-2-Clause
// einsum. Every operand is seen with one dimension per subscript (size 1 where it has none): those of the output in
// their order, then those that are summed. Operands are then joined from the left: by multiplying where nothing can be
// summed yet, by batched matrix products otherwise. The order of dimensions in memory follows PyTorch's, because the
// strides of results do.
#include "ops/engine/matmul.h"
#include "ops/engine/reduce.h"
#include "ops/list/kernels.h"
#include "ops/math/elementwise_ops.h"

enum { LABELS = 52, ELLIPSIS = 52, DIMS = 64, MAX_OPERANDS = 64 };

typedef struct subscripts {
    uint8_t labels[DIMS];
    size_t count;
    bool ellipsis;
} subscripts;

// A tensor seen with the dimensions of the equation.
typedef struct operand {
    taper_tensor *tensor; // owned: storage and dtype
    int64_t offset;
    int64_t sizes[DIMS], strides[DIMS];
} operand;

typedef struct equation {
    size_t dims, out_dims;    // all dimensions; the first out_dims are the result's
    size_t place[LABELS + 1]; // of each label (of the ellipsis: its first)
    size_t ellipsis_dims;
    int64_t sizes[DIMS]; // largest of the operands'
    int uses[DIMS];      // operands that are larger than 1 there and not yet summed
} equation;

// ---- the text

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

// Gives every label its place: the output's first (text behind "->", or NULL), then what is summed.
static taper_status place_labels(taper_error *error, const char *output, const int *counts, equation *eq)
{
    bool ellipsis_placed = false;
    for (size_t i = 0; i <= LABELS; i++) {
        eq->place[i] = DIMS;
    }
    if (output == NULL) { // the ellipsis, then every label that occurs once, by alphabet
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

// The tensor with the equation's dimensions; repeated labels take the diagonal.
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
                out->strides[at] = taper_add_stride(out->strides[at], tensor->strides[dim]);
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

// ---- arithmetic on operands

// The operand as a tensor of its dimensions larger than 1, in the given order.
static taper_status as_tensor(taper_error *error, const operand *o, const size_t *order, size_t count,
                              taper_tensor *twin)
{
    int64_t sizes[TAPER_MAX_RANK] = {0}, strides[TAPER_MAX_RANK] = {0};
    size_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (o->sizes[order[i]] == 1) {
            continue;
        }
        if (rank == TAPER_MAX_RANK) {
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "einsum(): an intermediate result has more than %d dimensions",
                       TAPER_MAX_RANK);
        }
        sizes[rank] = o->sizes[order[i]];
        strides[rank++] = o->strides[order[i]];
    }
    *twin = taper_tensor_twin(o->tensor, rank, sizes, strides);
    twin->offset = o->offset;
    return TAPER_OK;
}

// A contiguous copy with the dimensions in the given order (which names all of them).
static taper_status copy_ordered(taper_run *run, size_t dims, const operand *from, const size_t *order, operand *to)
{
    taper_tensor twin, *copy = NULL;
    TAPER_TRY(as_tensor(run->error, from, order, dims, &twin));
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)twin.dtype, twin.rank, twin.sizes, NULL, &copy, run->error));
    const taper_status status = taper_run_copy(run, copy, &twin);
    if (status != TAPER_OK) {
        taper_tensor_drop(copy);
        return status;
    }
    to->tensor = copy;
    to->offset = 0;
    int64_t step = 1;
    for (size_t i = dims; i-- > 0;) {
        to->sizes[order[i]] = from->sizes[order[i]];
        to->strides[order[i]] = step;
        step *= taper_max_i64(from->sizes[order[i]], 1);
    }
    return TAPER_OK;
}

// A new operand of these sizes, contiguous in the given order of dimensions.
static taper_status new_operand(taper_run *run, taper_dtype dtype, size_t dims, const int64_t *sizes,
                                const size_t *order, operand *to)
{
    int64_t count = 1, step = 1;
    for (size_t i = 0; i < dims; i++) {
        if (!taper_mul_i64(count, sizes[i], &count)) {
            TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "einsum(): an intermediate result is too large");
        }
    }
    TAPER_TRY(taper_tensor_new(run->heap, dtype, 1, &count, NULL, &to->tensor, run->error));
    to->offset = 0;
    for (size_t i = dims; i-- > 0;) {
        to->sizes[order[i]] = sizes[order[i]];
        to->strides[order[i]] = step;
        step *= taper_max_i64(sizes[order[i]], 1);
    }
    return TAPER_OK;
}

// Replaces the operand by its sums over the marked dimensions (which stay, with size 1).
static taper_status sum_over(taper_run *run, size_t dims, operand *o, const bool *summed)
{
    static const taper_op no_row;
    size_t natural[DIMS];
    taper_tensor twin;
    taper_val sums = taper_val_none();
    for (size_t i = 0; i < dims; i++) {
        natural[i] = i;
    }
    TAPER_TRY(as_tensor(run->error, o, natural, dims, &twin));
    taper_reduce r = taper_reduce_make(&twin, &taper_reduce_sum, (taper_dtype)twin.dtype);
    for (size_t i = 0, at = 0; i < dims; i++) {
        if (o->sizes[i] != 1) {
            r.over[at++] = summed[i];
        }
    }
    taper_call call = {.run = run, .op = &no_row, .rets = &sums, .ret_count = 1};
    const taper_status status = taper_reduce_run(&call, &r);
    if (status != TAPER_OK) {
        taper_val_release(sums);
        return status;
    }
    taper_tensor_drop(o->tensor);
    o->tensor = sums.as.tensor;
    o->offset = 0;
    int64_t step = 1;
    for (size_t i = dims; i-- > 0;) {
        o->sizes[i] = summed[i] ? 1 : o->sizes[i];
        o->strides[i] = step;
        step *= taper_max_i64(o->sizes[i], 1);
    }
    return TAPER_OK;
}

// ---- joining two operands

// The strides of an elementwise product, where it has few enough dimensions for the rule to be asked.
static void product_strides(size_t dims, const operand *a, const operand *b, operand *to)
{
    size_t last = dims;
    while (last > 0 && a->sizes[last - 1] == 1 && b->sizes[last - 1] == 1) {
        last--;
    }
    if (last > TAPER_MAX_RANK) {
        return;
    }
    taper_tensor x = taper_tensor_twin(a->tensor, last, a->sizes, a->strides),
                 y = taper_tensor_twin(b->tensor, last, b->sizes, b->strides);
    taper_tensor *const both[] = {&x, &y};
    taper_ew_result_strides(last, to->sizes, both, 2, (taper_dtype)a->tensor->dtype, 0, to->strides);
}

static taper_status multiply(taper_run *run, size_t dims, const operand *a, const operand *b, operand *to)
{
    size_t natural[DIMS];
    int64_t sizes[DIMS];
    taper_tensor target;
    for (size_t i = 0; i < dims; i++) {
        natural[i] = i;
        sizes[i] = a->sizes[i] == 1 ? b->sizes[i] : a->sizes[i];
    }
    TAPER_TRY(new_operand(run, (taper_dtype)a->tensor->dtype, dims, sizes, natural, to));
    product_strides(dims, a, b, to);
    TAPER_TRY(as_tensor(run->error, to, natural, dims, &target));
    const operand *const factors[] = {a, b};
    taper_tensor twins[2];
    taper_ew ew = taper_ew_make(&taper_ew_mul);
    for (size_t k = 0; k < 2; k++) {
        int64_t own[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
        for (size_t d = 0, at = 0; d < dims; d++) {
            if (sizes[d] != 1) {
                own[at] = factors[k]->sizes[d];
                strides[at++] = factors[k]->strides[d];
            }
        }
        twins[k] = taper_tensor_twin(factors[k]->tensor, target.rank, own, strides);
        twins[k].offset = factors[k]->offset;
        taper_ew_input_tensor(&ew, &twins[k]);
    }
    taper_call call = {.run = run};
    return taper_ew_into(&call, &ew, &target);
}

// A product with sums: dimensions of both sides, of the left, summed ones, of the right.
static taper_status contract(taper_run *run, size_t dims, const operand *a, const operand *b, const bool *summed,
                             operand *to)
{
    size_t both[DIMS], left[DIMS], sums[DIMS], right[DIMS], order[DIMS], order_a[DIMS], order_b[DIMS];
    size_t n_both = 0, n_left = 0, n_sums = 0, n_right = 0, n = 0, na = 0, nb = 0;
    int64_t sizes[DIMS], batch = 1, m = 1, k = 1, columns = 1;
    for (size_t i = 0; i < dims; i++) {
        sizes[i] = summed[i] ? 1 : a->sizes[i] == 1 ? b->sizes[i] : a->sizes[i];
        if (summed[i]) {
            sums[n_sums++] = i;
            k *= a->sizes[i];
        } else if (a->sizes[i] != 1 && b->sizes[i] != 1) {
            both[n_both++] = i;
            batch *= a->sizes[i];
        } else if (a->sizes[i] != 1) {
            left[n_left++] = i;
            m *= a->sizes[i];
        } else {
            right[n_right++] = i;
            columns *= b->sizes[i];
        }
    }
    // [both, left, sums] and [both, sums, right] as contiguous copies; the rest of each side's dimensions has size 1.
    for (size_t i = 0; i < n_both; i++) {
        order[n++] = order_a[na++] = order_b[nb++] = both[i];
    }
    for (size_t i = 0; i < n_left; i++) {
        order[n++] = order_a[na++] = left[i];
    }
    for (size_t i = 0; i < n_sums; i++) {
        order[n++] = order_a[na++] = order_b[nb++] = sums[i];
    }
    for (size_t i = 0; i < n_right; i++) {
        order[n++] = order_a[na++] = order_b[nb++] = right[i];
    }
    for (size_t i = 0; i < n_left; i++) {
        order_b[nb++] = left[i];
    }
    operand x = {0}, y = {0};
    taper_status status = copy_ordered(run, dims, a, order_a, &x);
    if (status == TAPER_OK) {
        status = copy_ordered(run, dims, b, order_b, &y);
    }
    if (status == TAPER_OK) {
        status = new_operand(run, (taper_dtype)a->tensor->dtype, dims, sizes, order, to);
    }
    const int64_t item = (int64_t)taper_tensor_item(a->tensor);
    for (int64_t i = 0; i < batch && status == TAPER_OK; i++) {
        const taper_gemm gemm = {.dtype = (taper_dtype)a->tensor->dtype,
                                 .m = m,
                                 .n = columns,
                                 .k = k,
                                 .a = (const char *)taper_tensor_data(x.tensor) + i * m * k * item,
                                 .a_row = k,
                                 .a_column = 1,
                                 .b = (const char *)taper_tensor_data(y.tensor) + i * k * columns * item,
                                 .b_row = columns,
                                 .b_column = 1,
                                 .c = (char *)taper_tensor_mutable(to->tensor) + i * m * columns * item,
                                 .c_row = columns,
                                 .c_column = 1};
        status = taper_gemm_run(run, &gemm);
    }
    taper_tensor_drop(x.tensor);
    taper_tensor_drop(y.tensor);
    return status;
}

// a becomes the product of both, summed over what no later operand uses.
static taper_status join(taper_run *run, equation *eq, operand *a, operand *b, bool boolean)
{
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
        TAPER_TRY(sum_over(run, eq->dims, a, in_a));
    }
    if (any_b) {
        TAPER_TRY(sum_over(run, eq->dims, b, in_b));
    }
    if (any && boolean) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "einsum(): sums of products are not implemented for 'Bool'");
    }
    operand product = {0};
    const taper_status status =
        any ? contract(run, eq->dims, a, b, summed, &product) : multiply(run, eq->dims, a, b, &product);
    if (status != TAPER_OK) {
        taper_tensor_drop(product.tensor);
        return status;
    }
    taper_tensor_drop(a->tensor);
    *a = product;
    return TAPER_OK;
}

// ---- the operator

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
    taper_tensor *tensors[MAX_OPERANDS]; // borrowed
    operand first, next;
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
        if (w->tensors[i]->dtype != w->tensors[0]->dtype) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but found %s",
                       taper_dtype_torch_name((taper_dtype)w->tensors[0]->dtype),
                       taper_dtype_torch_name((taper_dtype)w->tensors[i]->dtype));
        }
    }
    if (*p == ',') {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "einsum(): fewer operands were provided than specified in the equation");
    }
    return place_labels(error, *p == '\0' ? NULL : p + 2, counts, &w->eq);
}

// The operand in the working dtype, laid out.
static taper_status take(taper_run *run, einsum_work *w, size_t which, operand *o)
{
    taper_tensor *tensor = NULL;
    memset(o, 0, sizeof *o);
    TAPER_TRY(
        taper_tensor_cast(run, w->tensors[which], taper_work_dtype((taper_dtype)w->tensors[which]->dtype), &tensor));
    o->tensor = tensor;
    const taper_status status = lay_out(run->error, &w->eq, &w->subs[which], tensor, which, o);
    return status;
}

// Sizes have to be known before the first join: what an operand is summed over depends on those that come later.
static taper_status measure(taper_run *run, einsum_work *w, size_t count)
{
    for (size_t i = 0; i < w->eq.dims; i++) {
        w->eq.sizes[i] = 1;
        w->eq.uses[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        operand probe = {0};
        TAPER_TRY(lay_out(run->error, &w->eq, &w->subs[i], w->tensors[i], i, &probe));
    }
    return TAPER_OK;
}

// PyTorch drops the summed dimensions, which have size 1 by then, by a view. That gives other dimensions of size 1 new
// strides: those of the run of dimensions, contiguous in each other, in which they lie.
static void view_strides(const operand *o, size_t dims, size_t out_dims, int64_t *strides)
{
    int64_t step = o->strides[dims - 1], run = 1, seen = 1;
    size_t to = out_dims;
    for (size_t d = dims; d-- > 0;) {
        run *= o->sizes[d];
        if (d > 0 && (o->sizes[d - 1] == 1 || o->strides[d - 1] == taper_mul_stride(run, step))) {
            continue;
        }
        while (to > 0 && (seen < run || o->sizes[to - 1] == 1)) {
            strides[--to] = taper_mul_stride(seen, step);
            seen *= o->sizes[to];
        }
        step = d > 0 ? o->strides[d - 1] : 0;
        run = seen = 1;
    }
}

static taper_status finish(taper_call *call, einsum_work *w, taper_dtype dtype, bool product)
{
    taper_run *run = call->run;
    operand *o = &w->first;
    bool summed[DIMS] = {false}, any = false;
    for (size_t i = w->eq.out_dims; i < w->eq.dims; i++) {
        summed[i] = o->sizes[i] != 1;
        any = any || summed[i];
    }
    if (any) {
        TAPER_TRY(sum_over(run, w->eq.dims, o, summed));
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
    TAPER_TRY(measure(run, w, count));
    taper_dtype dtype = (taper_dtype)w->tensors[0]->dtype;
    if (taper_dtype_is_quantized(dtype)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "einsum(): not implemented for '%s'",
                   taper_dtype_torch_name(dtype));
    }
    if (count == 1) {
        // A view when nothing is summed; sums of integers are int64.
        bool any = false;
        operand *o = &w->first;
        TAPER_TRY(lay_out(run->error, &w->eq, &w->subs[0], w->tensors[0], 0, o));
        for (size_t i = w->eq.out_dims; i < w->eq.dims; i++) {
            any = any || o->sizes[i] != 1;
        }
        if (!any) {
            taper_tensor *view = NULL;
            TAPER_TRY(taper_tensor_alias(run->heap, w->tensors[0], o->offset, w->eq.out_dims, o->sizes, o->strides,
                                         &view, run->error));
            return taper_ret_tensor(call, 0, view);
        }
        dtype = taper_dtype_is_integral(dtype) || dtype == TAPER_BOOL ? TAPER_I64 : dtype;
    }
    TAPER_TRY(take(run, w, 0, &w->first));
    TAPER_TRY(measure(run, w, count)); // take counted the uses again
    const bool boolean = w->tensors[0]->dtype == TAPER_BOOL;
    for (size_t i = 1; i < count; i++) {
        equation before = w->eq;
        TAPER_TRY(take(run, w, i, &w->next));
        w->eq = before;
        TAPER_TRY(join(run, &w->eq, &w->first, &w->next, boolean));
        taper_tensor_drop(w->next.tensor);
        w->next.tensor = NULL;
    }
    return finish(call, w, dtype, count > 1);
}

taper_status taper_op_einsum(taper_call *call)
{
    taper_list *operands = NULL;
    TAPER_TRY(taper_arg_list(call, 1, &operands));
    einsum_work *work = taper_heap_alloc(call->run->heap, sizeof *work);
    if (work == NULL) {
        return taper_fail_memory(call->run->error);
    }
    memset(work, 0, sizeof *work);
    const taper_status status = run_einsum(call, operands->count, work);
    taper_tensor_drop(work->first.tensor);
    taper_tensor_drop(work->next.tensor);
    taper_heap_free(call->run->heap, work, sizeof *work);
    return status;
}
