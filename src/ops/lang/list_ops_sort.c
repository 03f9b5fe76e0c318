// SPDX-License-Identifier: BSD-2-Clause
// Operators that need an order of items (sort, sorted, min, max) and folds over lists (sum, any, all).
#include "ir/tensor.h"
#include "ops/lang/container.h"
#include "ops/lang/scalar.h"
#include "ops/list/shared_kernels.h"

// Largest number of keys of an item. No tuple that is meant to be sorted has more keys, but a tuple may contain another
// tuple many times.
enum { MOST_KEYS = 4096 };

typedef struct entry {
    taper_val item;
    // The item's keys: numbers and borrowed strings. For a tuple they are its size and the keys of its items.
    const taper_val *keys;
} entry;

static double real(taper_val number)
{
    return number.tag == TAPER_DOUBLE ? number.as.f : (double)number.as.i;
}

static bool is_real(taper_val value)
{
    return value.tag == TAPER_INT || value.tag == TAPER_BOOLEAN || value.tag == TAPER_DOUBLE;
}

// Returns a < b for two keys of one class (numbers or strings). NaN is less than no number, and no number is less than
// NaN.
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
        TAPER_TRY(
            taper_tensor_fetch(item.as.tensor, run->error)); // a tensor inside a container may still be on a device
        TAPER_TRY(taper_tensor_number(run, item.as.tensor, key));
    }
    if (!is_real(*key) && key->tag != TAPER_STRING) {
        const taper_status status =
            taper_fail(run->error, TAPER_ERROR_ARGUMENT, "items of kind %s have no order%s", taper_val_kind_name(*key),
                       key->tag == TAPER_OBJECT ? " here, __lt__ is not called: sort tuples of their keys" : "");
        if (item.tag == TAPER_TENSOR) {
            taper_val_release(*key);
        }
        return status;
    }
    return TAPER_OK;
}

// Appends the keys of an item at keys[*count] and increases *count. If keys is NULL, it only counts. It fails if there
// are more than `most` keys. A tuple's size is a key too, so that an empty tuple that is shared many times counts.
static taper_status keys_of(taper_run *run, taper_val item, size_t depth, size_t most, taper_val *keys, size_t *count)
{
    const bool tuple = item.tag == TAPER_TUPLE && depth < TAPER_LIMIT_VALUE_DEPTH;
    if (*count >= most) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          keys == NULL ? "a tuple has too many items"
                                       : "tuples of other sizes have no order among them");
    }
    if (keys != NULL && tuple) {
        keys[*count] = taper_val_int((int64_t)item.as.tuple->count);
    } else if (keys != NULL) {
        TAPER_TRY(key_of(run, item, &keys[*count]));
    }
    ++*count;
    for (size_t i = 0; tuple && i < item.as.tuple->count; i++) {
        TAPER_TRY(keys_of(run, item.as.tuple->items[i], depth + 1, most, keys, count));
    }
    return TAPER_OK;
}

// Returns true if a comes before b. The first keys that differ decide it. NaN differs from every key, and is not less
// than any key.
static bool comes_first(taper_run *run, const taper_val *a, const taper_val *b, size_t keys)
{
    for (size_t i = 0; i < keys; i++) {
        if (a[i].tag == TAPER_STRING &&
            !taper_run_goes_on(run, taper_min_size(a[i].as.string->length, b[i].as.string->length) / 4)) {
            return false;
        }
        if (less(a[i], b[i])) {
            return true;
        }
        if (less(b[i], a[i]) || (a[i].tag != TAPER_STRING && (real(a[i]) != real(a[i]) || real(b[i]) != real(b[i])))) {
            return false;
        }
    }
    return false;
}

static void merge(taper_run *run, const entry *from, entry *to, size_t low, size_t middle, size_t high, size_t keys,
                  bool reverse)
{
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        bool second = a == middle;
        if (!second && b < high) {
            second = reverse ? comes_first(run, from[a].keys, from[b].keys, keys)
                             : comes_first(run, from[b].keys, from[a].keys, keys);
        }
        to[i] = second ? from[b++] : from[a++];
    }
}

// Fills entries and keys, with `width` keys for each item. Fails unless all items have keys of the same kinds in the
// same order.
static taper_status fill(taper_run *run, const taper_list *list, size_t width, entry *entries, taper_val *keys)
{
    for (size_t i = 0; i < list->count; i++, keys += width) {
        size_t found = 0;
        entries[i] = (entry){.item = list->items[i], .keys = keys};
        TAPER_TRY(keys_of(run, list->items[i], 0, width, keys, &found));
        if (found != width) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "tuples of other sizes have no order among them");
        }
        for (size_t k = 0; k < width; k++) {
            const taper_val first = entries[0].keys[k];
            if ((keys[k].tag == TAPER_STRING) != (first.tag == TAPER_STRING)) {
                return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "str and %s items have no order among them",
                                  taper_val_kind_name(keys[k].tag == TAPER_STRING ? first : keys[k]));
            }
        }
    }
    return TAPER_OK;
}

// Sorts by a stable merge sort. The list keeps its references and only changes their order.
static taper_status sort(taper_run *run, taper_list *list, bool reverse)
{
    const size_t count = list->count;
    size_t width = 0, key_bytes, bytes;
    if (count < 2) {
        return TAPER_OK;
    }
    TAPER_TRY(keys_of(run, list->items[0], 0, MOST_KEYS, NULL, &width));
    if (!taper_mul_size(count, width * sizeof(taper_val), &key_bytes) ||
        !taper_add_size(key_bytes, 2 * count * sizeof(entry), &bytes)) {
        return taper_fail_memory(run->error);
    }
    entry *from = taper_heap_alloc(run->heap, bytes), *const block = from;
    if (from == NULL) {
        return taper_fail_memory(run->error);
    }
    entry *to = from + count;
    taper_status status = fill(run, list, width, from, (taper_val *)(void *)(to + count));
    for (size_t run_width = 1; run_width < count && status == TAPER_OK; run_width *= 2) {
        for (size_t low = 0; low < count && status == TAPER_OK; low += 2 * run_width) {
            status = taper_run_spend(run, taper_min_size(2 * run_width, count) * 10 * width);
            merge(run, from, to, low, taper_min_size(low + run_width, count),
                  taper_min_size(low + 2 * run_width, count), width, reverse);
        }
        entry *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        list->items[i] = from[i].item;
    }
    taper_heap_free(run->heap, block, bytes);
    return status;
}

TAPER_KERNEL(taper_op_list_sort)
{
    taper_list *list;
    bool reverse;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_bool(call, 1, &reverse));
    return sort(call->run, list, reverse);
}

TAPER_KERNEL(taper_op_list_sorted)
{
    TAPER_TRY(taper_op_list_copy(call));
    return sort(call->run, call->rets[0].as.list, false);
}

// ---- min, max

// Returns the minimum or maximum of the items of one list.
TAPER_KERNEL(taper_op_list_extreme)
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
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu must be a number, but is %s", i,
                              taper_val_kind_name(item));
        }
        if (smallest ? less(item, best) : less(best, item)) {
            best = item;
        }
    }
    taper_ret(call, 0, best);
    return TAPER_OK;
}

// Returns the smaller or larger of two lists, which are compared item by item and then by length.
TAPER_KERNEL(taper_op_list_extreme_of_two)
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
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu must be a number, but is %s", i,
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

// ---- sum, any, all

// Returns the sum of a list of bools, ints, floats or complex numbers.
TAPER_KERNEL(taper_op_list_sum)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    uint64_t whole = 0;
    taper_pair sum = {0, 0};
    // The sum of an empty list has the type that the schema names.
    const unsigned gives = call->schema->rets[0].type->kind;
    uint32_t kind = gives == TAPER_TYPE_FLOAT ? TAPER_DOUBLE : gives == TAPER_TYPE_COMPLEX ? TAPER_COMPLEX : TAPER_INT;
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
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu must be a number, but is %s", i,
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

TAPER_KERNEL(taper_op_list_any_all)
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
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu must be a number, but is %s", i,
                              taper_val_kind_name(item));
        }
    }
    taper_ret(call, 0, taper_val_bool(result));
    return TAPER_OK;
}
