// SPDX-License-Identifier: BSD-2-Clause
// Operators that need an order of items (sort, sorted, min, max) and folds over lists (sum, any, all).
#include "ops/container.h"
#include "ops/kernels.h"
#include "ops/scalar.h"

typedef struct entry {
    taper_val item;
    taper_val key; // a number or a borrowed string
} entry;

static double real(taper_val number)
{
    return number.tag == TAPER_DOUBLE ? number.as.f : (double)number.as.i;
}

static bool is_real(taper_val value)
{
    return value.tag == TAPER_INT || value.tag == TAPER_BOOLEAN || value.tag == TAPER_DOUBLE;
}

// a < b for two keys of one class (numbers or strings). NaN is below nothing.
static bool less(taper_val a, taper_val b)
{
    if (a.tag == TAPER_STRING) {
        const taper_string *s = a.as.string, *t = b.as.string;
        const int order = memcmp(s->data, t->data, taper_min_size(s->length, t->length));
        return order != 0 ? order < 0 : s->length < t->length;
    }
    if (a.tag != TAPER_DOUBLE && b.tag != TAPER_DOUBLE) {
        return a.as.i < b.as.i;
    }
    return real(a) < real(b);
}

static taper_status key_of(taper_run *run, taper_val item, taper_val *key)
{
    *key = item;
    if (item.tag == TAPER_TENSOR) {
        const int64_t count = taper_tensor_numel(item.as.tensor);
        if (count != 1) {
            return taper_fail(run->error, TAPER_ERROR_RAISED, "Boolean value of Tensor with %s is ambiguous",
                              count == 0 ? "no values" : "more than one value");
        }
        TAPER_TRY(taper_tensor_number(run, item.as.tensor, key));
    }
    if (!is_real(*key) && key->tag != TAPER_STRING) {
        const taper_status status =
            taper_fail(run->error, TAPER_ERROR_ARGUMENT, "items of kind %s have no order", taper_val_kind_name(*key));
        if (item.tag == TAPER_TENSOR) {
            taper_val_release(*key);
        }
        return status;
    }
    return TAPER_OK;
}

static void merge(const entry *from, entry *to, size_t low, size_t middle, size_t high, bool reverse)
{
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        bool second = a == middle;
        if (!second && b < high) {
            second = reverse ? less(from[a].key, from[b].key) : less(from[b].key, from[a].key);
        }
        to[i] = second ? from[b++] : from[a++];
    }
}

// Stable merge sort; the list's references only change places.
static taper_status sort(taper_run *run, taper_list *list, bool reverse)
{
    const size_t count = list->count, bytes = 2 * count * sizeof(entry);
    if (count < 2) {
        return TAPER_OK;
    }
    entry *from = taper_heap_alloc(run->heap, bytes), *const block = from;
    if (from == NULL) {
        return taper_fail_memory(run->error);
    }
    entry *to = from + count;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        from[i].item = list->items[i];
        status = key_of(run, list->items[i], &from[i].key);
        if (status == TAPER_OK && (from[i].key.tag == TAPER_STRING) != (from[0].key.tag == TAPER_STRING)) {
            status = taper_fail(run->error, TAPER_ERROR_ARGUMENT, "str and %s items have no order among them",
                                taper_val_kind_name(from[from[i].key.tag == TAPER_STRING ? 0 : i].key));
        }
    }
    for (size_t width = 1; width < count && status == TAPER_OK; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            merge(from, to, low, taper_min_size(low + width, count), taper_min_size(low + 2 * width, count), reverse);
        }
        entry *swap = from;
        from = to;
        to = swap;
        status = taper_run_check(run);
    }
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        list->items[i] = from[i].item;
    }
    taper_heap_free(run->heap, block, bytes);
    return status;
}

taper_status taper_op_list_sort(taper_call *call)
{
    taper_list *list;
    bool reverse;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_bool(call, 1, &reverse));
    return sort(call->run, list, reverse);
}

taper_status taper_op_list_sorted(taper_call *call)
{
    TAPER_TRY(taper_op_list_copy(call));
    return sort(call->run, call->rets[0].as.list, false);
}

// ---- min, max

// min or max of the items of one list.
taper_status taper_op_list_extreme(taper_call *call)
{
    const bool smallest = taper_call_code(call) == TAPER_LIST_MIN;
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    if (list->count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "%s() arg is an empty sequence",
                          smallest ? "min" : "max");
    }
    taper_val best = list->items[0];
    for (size_t i = 0; i < list->count; i++) {
        const taper_val item = list->items[i];
        if (!is_real(item)) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu is no number but %s", i,
                              taper_val_kind_name(item));
        }
        if (smallest ? less(item, best) : less(best, item)) {
            best = item;
        }
    }
    taper_ret(call, 0, best);
    return TAPER_OK;
}

// min or max of two lists, compared item by item.
taper_status taper_op_list_extreme_of_two(taper_call *call)
{
    const bool smallest = taper_call_code(call) == TAPER_LIST_MIN;
    taper_list *a, *b;
    TAPER_TRY(taper_arg_list(call, 0, &a));
    TAPER_TRY(taper_arg_list(call, 1, &b));
    const size_t common = taper_min_size(a->count, b->count);
    int order = (a->count > b->count) - (a->count < b->count);
    for (size_t i = 0; i < common; i++) {
        const taper_val x = a->items[i], y = b->items[i];
        if (!is_real(x) || !is_real(y)) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu is no number but %s", i,
                              taper_val_kind_name(is_real(x) ? y : x));
        }
        if (x.tag == TAPER_DOUBLE || y.tag == TAPER_DOUBLE ? real(x) != real(y) : x.as.i != y.as.i) {
            order = smallest ? (less(x, y) ? -1 : 1) : (less(y, x) ? 1 : -1);
            break;
        }
    }
    taper_list *best = smallest ? (order <= 0 ? a : b) : (order >= 0 ? a : b);
    taper_ret(call, 0, taper_val_retain(taper_val_of(&best->head.head)));
    return TAPER_OK;
}

// ---- folds

// sum of a list of bools, ints, floats or complex numbers
taper_status taper_op_list_sum(taper_call *call)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    uint64_t whole = 0;
    taper_pair sum = {0, 0};
    // An empty list's kind is in its type, or else in the operator's name.
    const char *overload = strchr(call->op->schema, '.');
    uint32_t kind = overload != NULL && strncmp(overload, ".float", 6) == 0     ? TAPER_DOUBLE
                    : overload != NULL && strncmp(overload, ".complex", 8) == 0 ? TAPER_COMPLEX
                                                                                : TAPER_INT;
    for (size_t i = 0; i < list->count; i++) {
        const taper_val item = list->items[i];
        if (item.tag == TAPER_COMPLEX) {
            kind = TAPER_COMPLEX;
            sum.re += item.as.complex->re;
            sum.im += item.as.complex->im;
        } else if (item.tag == TAPER_DOUBLE) {
            kind = kind == TAPER_COMPLEX ? kind : TAPER_DOUBLE;
            sum.re += item.as.f;
        } else if (is_real(item)) {
            whole += (uint64_t)item.as.i;
        } else {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu is no number but %s", i,
                              taper_val_kind_name(item));
        }
    }
    if (kind == TAPER_COMPLEX) {
        return taper_ret_complex(call, 0, (taper_pair){sum.re + (double)(int64_t)whole, sum.im});
    }
    taper_ret(call, 0,
              kind == TAPER_DOUBLE ? taper_val_double(sum.re + (double)(int64_t)whole) : taper_val_int((int64_t)whole));
    return TAPER_OK;
}

taper_status taper_op_list_any_all(taper_call *call)
{
    const bool all = taper_call_code(call) == TAPER_LIST_ALL;
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    bool result = all;
    for (size_t i = 0; i < list->count && result == all; i++) {
        const taper_val item = list->items[i];
        if (item.tag == TAPER_STRING) {
            result = item.as.string->length != 0;
        } else if (is_real(item)) {
            result = real(item) != 0;
        } else {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu is no number but %s", i,
                              taper_val_kind_name(item));
        }
    }
    taper_ret(call, 0, taper_val_bool(result));
    return TAPER_OK;
}
