// SPDX-License-Identifier: BSD-2-Clause
// Operators on lists. The overloads of an operator for all element types use one kernel, because items are values that
// know their kind.
#include "ops/call/call.h"
#include "ops/lang/container.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_ops.h"

static taper_status arg_value(const taper_call *call, size_t at, taper_val *value)
{
    if (at >= call->arg_count) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument %zu is missing", at);
    }
    *value = call->args[at];
    return TAPER_OK;
}

static void ret_same(taper_call *call, taper_list *list) // for schemas that return the list itself: "-> t[](a!)"
{
    taper_ret(call, 0, taper_val_retain(taper_val_of(&list->head.head)));
}

static taper_status append_all(taper_call *call, taper_list *list, const taper_list *from, size_t start, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        // `from` may be the list itself, whose items move as it grows, so from->items is read in each turn
        TAPER_TRY(taper_run_spend(call->run, WORK_OF_AN_ITEM));
        TAPER_TRY(taper_list_append(list, taper_val_retain(from->items[start + i]), call->run->error));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_getitem)
{
    taper_list *list;
    int64_t index;
    size_t at = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &index));
    TAPER_TRY(taper_list_position(call->run, list, index, &at));
    taper_ret(call, 0, taper_val_retain(list->items[at]));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_setitem)
{
    taper_list *list;
    int64_t index;
    size_t at = 0;
    taper_val value = taper_val_none();
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &index));
    TAPER_TRY(arg_value(call, 2, &value));
    TAPER_TRY(taper_list_position(call->run, list, index, &at));
    taper_val_replace(&list->items[at], taper_val_retain(value));
    ret_same(call, list);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_append)
{
    taper_list *list;
    taper_val value = taper_val_none();
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(arg_value(call, 1, &value));
    TAPER_TRY(taper_list_append(list, taper_val_retain(value), call->run->error));
    ret_same(call, list);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_extend)
{
    taper_list *list, *other;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_list(call, 1, &other));
    return append_all(call, list, other, 0, other->count);
}

TAPER_KERNEL(taper_op_list_add_)
{
    TAPER_TRY(taper_op_list_extend(call));
    ret_same(call, call->args[0].as.list);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_insert)
{
    taper_list *list;
    int64_t index;
    taper_val value = taper_val_none();
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &index));
    TAPER_TRY(arg_value(call, 2, &value));
    const int64_t count = (int64_t)list->count;
    const int64_t at = index >= count ? count : index >= 0 ? index : index < -count ? 0 : index + count;
    TAPER_TRY(taper_run_spend(call->run, (uint64_t)(count - at)));
    return taper_list_insert(list, (size_t)at, taper_val_retain(value), call->run->error);
}

TAPER_KERNEL(taper_op_list_pop)
{
    taper_list *list;
    int64_t index;
    size_t at = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int_or(call, 1, -1, &index));
    if (list->count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "pop from empty list");
    }
    TAPER_TRY(taper_list_position(call->run, list, index, &at));
    TAPER_TRY(taper_run_spend(call->run, list->count - at));
    taper_ret(call, 0, taper_list_remove(list, at));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_delete)
{
    taper_list *list;
    int64_t index;
    size_t at = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &index));
    if (list->count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "pop index out of range");
    }
    TAPER_TRY(taper_list_position(call->run, list, index, &at));
    TAPER_TRY(taper_run_spend(call->run, list->count - at));
    taper_val_release(taper_list_remove(list, at));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_clear)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    taper_list_clear(list);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_reverse)
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_run_spend(call->run, list->count));
    for (size_t i = 0; i < list->count / 2; i++) {
        const taper_val swap = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = swap;
    }
    return TAPER_OK;
}

// Kernel of copy.t and list.t.
TAPER_KERNEL(taper_op_list_copy)
{
    taper_list *list, *copy = NULL;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_ret_list(call, list->element, list->count, &copy));
    return append_all(call, copy, list, 0, list->count);
}

TAPER_KERNEL(taper_op_list_add)
{
    taper_list *a, *b, *sum = NULL;
    TAPER_TRY(taper_arg_list(call, 0, &a));
    TAPER_TRY(taper_arg_list(call, 1, &b));
    TAPER_TRY(taper_ret_list(call, a->element != NULL ? a->element : b->element, a->count + b->count, &sum));
    TAPER_TRY(append_all(call, sum, a, 0, a->count));
    return append_all(call, sum, b, 0, b->count);
}

// Sets *count to the number of items in n repetitions of the list, which is 0 for a negative n.
static taper_status repeated(const taper_call *call, const taper_list *list, int64_t n, size_t *count)
{
    *count = 0;
    if (n > 0 && list->count != 0) {
        if ((uint64_t)n > TAPER_LIMIT_CONTAINER_ITEMS || (uint64_t)n * list->count > TAPER_LIMIT_CONTAINER_ITEMS) {
            return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "a list grows beyond %d items",
                              TAPER_LIMIT_CONTAINER_ITEMS);
        }
        *count = (size_t)n * list->count;
    }
    return TAPER_OK;
}

// Kernel of mul.left_t and mul.right_.
TAPER_KERNEL(taper_op_list_mul)
{
    const size_t at = call->arg_count >= 1 && call->args[0].tag == TAPER_LIST ? 0 : 1;
    taper_list *list, *product = NULL;
    int64_t n;
    size_t count = 0;
    TAPER_TRY(taper_arg_list(call, at, &list));
    TAPER_TRY(taper_arg_int(call, 1 - at, &n));
    // Fails, as PyTorch does: PyTorch reserves memory for n times the items without testing the sign.
    if (n < 0 && list->count != 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "vector::reserve");
    }
    TAPER_TRY(repeated(call, list, n, &count));
    TAPER_TRY(taper_ret_list(call, list->element, count, &product));
    while (product->count < count) {
        TAPER_TRY(append_all(call, product, list, 0, list->count));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_mul_)
{
    taper_list *list;
    int64_t n;
    size_t count = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, 1, &n));
    TAPER_TRY(repeated(call, list, n, &count));
    if (count == 0) {
        taper_list_clear(list);
    }
    for (const size_t once = list->count; list->count < count;) {
        TAPER_TRY(append_all(call, list, list, 0, once));
    }
    ret_same(call, list);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_slice)
{
    taper_list *list, *part = NULL;
    int64_t start = 0, step = 1, count = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_slice_bounds(call, (int64_t)list->count, &start, &step, &count));
    TAPER_TRY(taper_ret_list(call, list->element, (size_t)count, &part));
    for (int64_t i = 0; i < count && taper_run_step(call->run, i, WORK_OF_AN_ITEM); i++) {
        TAPER_TRY(taper_list_append(part, taper_val_retain(list->items[start + i * step]), call->run->error));
    }
    return TAPER_OK;
}

// ---- searching for items

// Sets *at to the first position of value from `start` on, or to the list's count if there is no such item.
static taper_status search(taper_call *call, const taper_list *list, taper_val value, size_t start, size_t *at)
{
    for (*at = start; *at < list->count; ++*at) {
        bool equal;
        TAPER_TRY(taper_items_equal(call->run, list->items[*at], value, &equal));
        if (equal) {
            break;
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_contains)
{
    taper_list *list;
    taper_val value = taper_val_none();
    size_t at = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(arg_value(call, 1, &value));
    TAPER_TRY(search(call, list, value, 0, &at));
    taper_ret(call, 0, taper_val_bool(at < list->count));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_count)
{
    taper_list *list;
    taper_val value = taper_val_none();
    int64_t count = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(arg_value(call, 1, &value));
    for (size_t at = 0;; at++) {
        TAPER_TRY(search(call, list, value, at, &at));
        if (at == list->count) {
            break;
        }
        count++;
    }
    taper_ret(call, 0, taper_val_int(count));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_index)
{
    taper_list *list;
    taper_val value = taper_val_none();
    size_t at = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(arg_value(call, 1, &value));
    TAPER_TRY(search(call, list, value, 0, &at));
    if (at == list->count) {
        taper_run_text text;
        taper_run_text_begin(&text, call->run);
        taper_status status = TAPER_OK;
        if (value.tag == TAPER_DOUBLE) { // in PyTorch's message a float has 6 digits, and a bool is 0 or 1
            char digits[TAPER_DIGITS];
            taper_print_double(digits, 'g', 6, value.as.f);
            taper_text_string(&text.text, digits);
        } else if (value.tag == TAPER_BOOLEAN) {
            taper_text_string(&text.text, value.as.i != 0 ? "1" : "0");
        } else {
            status = taper_print_value(call->run, &text.text, value, (taper_print_style){.floats = 'g'});
        }
        if (status == TAPER_OK) {
            status =
                taper_fail(call->run->error, TAPER_ERROR_RAISED, "'%s' is not in list", taper_text_get(&text.text));
        }
        taper_run_text_end(&text);
        return status;
    }
    taper_ret(call, 0, taper_val_int((int64_t)at));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_list_remove)
{
    taper_list *list;
    taper_val value = taper_val_none();
    size_t at = 0;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(arg_value(call, 1, &value));
    TAPER_TRY(search(call, list, value, 0, &at));
    if (at == list->count) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "list.remove(x): x not in list");
    }
    taper_val_release(taper_list_remove(list, at));
    return TAPER_OK;
}

// Compares two lists of numbers, strings or tensors (eq and ne).
TAPER_KERNEL(taper_op_list_equal)
{
    taper_list *a, *b;
    TAPER_TRY(taper_arg_list(call, 0, &a));
    TAPER_TRY(taper_arg_list(call, 1, &b));
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        TAPER_TRY(taper_items_equal(call->run, a->items[i], b->items[i], &equal));
    }
    taper_ret(call, 0, taper_val_bool(equal == (taper_call_code(call) == TAPER_COMPARE_EQ)));
    return TAPER_OK;
}
