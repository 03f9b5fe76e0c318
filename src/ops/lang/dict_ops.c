// SPDX-License-Identifier: BSD-2-Clause
// Operators on dicts. One kernel serves all key types.
#include "ops/call/call.h"
#include "ops/lang/container.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_ops.h"

static taper_status dict_and_key(const taper_call *call, taper_dict **dict, taper_val *key)
{
    TAPER_TRY(taper_arg_dict(call, 0, dict));
    if (call->arg_count < 2) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "the key is missing");
    }
    *key = call->args[1];
    return TAPER_OK;
}

static TAPER_COLD taper_status key_error(taper_call *call, taper_val key)
{
    taper_run_text text;
    taper_run_text_begin(&text, call->run);
    taper_status status = taper_print_value(call->run, &text.text, key, (taper_print_style){.floats = 'g'});
    if (status == TAPER_OK) {
        status = taper_fail(call->run->error, TAPER_ERROR_RAISED, "KeyError: %s", taper_text_get(&text.text));
    }
    taper_run_text_end(&text);
    return status;
}

static taper_status third(const taper_call *call, taper_val *value)
{
    if (call->arg_count < 3) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 2 is missing");
    }
    *value = call->args[2];
    return TAPER_OK;
}

// Kernel of __getitem__, get and get.default; the operator's code says what is returned for an absent key.
TAPER_KERNEL(taper_op_dict_get)
{
    taper_dict *dict = NULL;
    taper_val key = taper_val_none(), value = taper_val_none();
    TAPER_TRY(dict_and_key(call, &dict, &key));
    const taper_val *found = taper_dict_find(dict, key);
    if (found != NULL) {
        value = *found;
    } else if (taper_call_code(call) == TAPER_DICT_ITEM) {
        return key_error(call, key);
    } else if (taper_call_code(call) == TAPER_DICT_DEFAULT) {
        TAPER_TRY(third(call, &value));
    }
    taper_ret(call, 0, taper_val_retain(value));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_dict_set)
{
    taper_dict *dict = NULL;
    taper_val key = taper_val_none(), value = taper_val_none();
    TAPER_TRY(dict_and_key(call, &dict, &key));
    TAPER_TRY(third(call, &value));
    return taper_dict_set(dict, taper_val_retain(key), taper_val_retain(value), call->run->error);
}

TAPER_KERNEL(taper_op_dict_setdefault)
{
    taper_dict *dict = NULL;
    taper_val key = taper_val_none(), value = taper_val_none();
    TAPER_TRY(dict_and_key(call, &dict, &key));
    TAPER_TRY(third(call, &value));
    const taper_val *found = taper_dict_find(dict, key);
    if (found != NULL) {
        value = *found;
    } else {
        TAPER_TRY(taper_dict_set(dict, taper_val_retain(key), taper_val_retain(value), call->run->error));
    }
    taper_ret(call, 0, taper_val_retain(value));
    return TAPER_OK;
}

// Kernel of pop, pop with a default, and Delete.
TAPER_KERNEL(taper_op_dict_pop)
{
    const unsigned code = taper_call_code(call);
    taper_dict *dict = NULL;
    taper_val key = taper_val_none(), value = taper_val_none();
    TAPER_TRY(dict_and_key(call, &dict, &key));
    // Charges the run for the removal, which inserts all other items again.
    TAPER_TRY(taper_run_spend(call->run, dict->count * WORK_OF_AN_ITEM));
    if (!taper_dict_remove(dict, key, &value)) {
        if (code != TAPER_DICT_POP_DEFAULT) {
            return key_error(call, key);
        }
        TAPER_TRY(third(call, &value));
        (void)taper_val_retain(value);
    }
    if (code == TAPER_DICT_DELETE) {
        taper_val_release(value);
    } else {
        taper_ret(call, 0, value);
    }
    return TAPER_OK;
}

static taper_status new_pair(taper_call *call, taper_val key, taper_val value, taper_val *pair)
{
    taper_tuple *tuple = taper_tuple_new(call->run->heap, NULL, 2);
    if (tuple == NULL) {
        return taper_fail_memory(call->run->error);
    }
    tuple->items[0] = taper_val_retain(key);
    tuple->items[1] = taper_val_retain(value);
    *pair = TAPER_VAL(tuple);
    return TAPER_OK;
}

// Removes and returns the first pair, as PyTorch does. Python removes the last pair.
TAPER_KERNEL(taper_op_dict_popitem)
{
    taper_dict *dict = NULL;
    taper_val pair, value;
    TAPER_TRY(taper_arg_dict(call, 0, &dict));
    if (dict->count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "popitem(): dictionary is empty");
    }
    TAPER_TRY(taper_run_spend(call->run, dict->count * WORK_OF_AN_ITEM));
    TAPER_TRY(new_pair(call, taper_dict_key(dict, 0), taper_dict_value(dict, 0), &pair));
    taper_ret(call, 0, pair);
    if (taper_dict_remove(dict, pair.as.tuple->items[0], &value)) {
        taper_val_release(value);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_dict_contains)
{
    taper_dict *dict = NULL;
    taper_val key = taper_val_none();
    TAPER_TRY(dict_and_key(call, &dict, &key));
    taper_ret(call, 0, taper_val_bool(taper_dict_find(dict, key) != NULL));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_dict_clear)
{
    taper_dict *dict = NULL;
    TAPER_TRY(taper_arg_dict(call, 0, &dict));
    taper_dict_clear(dict);
    return TAPER_OK;
}

static taper_status add_all(taper_call *call, taper_dict *dict, const taper_dict *from)
{
    const size_t count = from->count; // from->count does not change if a dict is updated with itself
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_run_spend(call->run, 5 * WORK_OF_AN_ITEM));
        TAPER_TRY(taper_dict_set(dict, taper_val_retain(taper_dict_key(from, i)),
                                 taper_val_retain(taper_dict_value(from, i)), call->run->error));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_dict_update)
{
    taper_dict *dict, *other;
    TAPER_TRY(taper_arg_dict(call, 0, &dict));
    TAPER_TRY(taper_arg_dict(call, 1, &other));
    return add_all(call, dict, other);
}

static taper_status ret_dict(taper_call *call, const taper_type *key, const taper_type *value, taper_dict **dict)
{
    *dict = taper_dict_new(call->run->heap, key, value);
    if (*dict == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(*dict));
    return TAPER_OK;
}

// Kernel of copy and dict(dict).
TAPER_KERNEL(taper_op_dict_copy)
{
    taper_dict *dict, *copy = NULL;
    TAPER_TRY(taper_arg_dict(call, 0, &dict));
    TAPER_TRY(ret_dict(call, dict->key, dict->value, &copy));
    return add_all(call, copy, dict);
}

// Makes dict() without arguments, which is a Dict[str, Tensor].
TAPER_KERNEL(taper_op_dict_empty)
{
    taper_dict *dict = NULL;
    return ret_dict(call, &taper_type_string, &taper_type_tensor, &dict);
}

// Makes dict([(key, value), …]).
TAPER_KERNEL(taper_op_dict_from_pairs)
{
    taper_list *list;
    taper_dict *dict = NULL;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    const taper_type *pair = list->element;
    const bool known = pair != NULL && pair->kind == TAPER_TYPE_TUPLE && pair->count == 2;
    TAPER_TRY(ret_dict(call, known ? pair->items[0] : NULL, known ? pair->items[1] : NULL, &dict));
    for (size_t i = 0; i < list->count; i++) {
        const taper_val item = list->items[i];
        TAPER_TRY(taper_run_spend(call->run, 5 * WORK_OF_AN_ITEM));
        if (item.tag != TAPER_TUPLE || item.as.tuple->count != 2) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu of the list is no pair", i);
        }
        TAPER_TRY(taper_dict_set(dict, taper_val_retain(item.as.tuple->items[0]),
                                 taper_val_retain(item.as.tuple->items[1]), call->run->error));
    }
    return TAPER_OK;
}

// Kernel of keys, values and items.
TAPER_KERNEL(taper_op_dict_list)
{
    const unsigned code = taper_call_code(call);
    taper_dict *dict = NULL;
    taper_list *list = NULL;
    TAPER_TRY(taper_arg_dict(call, 0, &dict));
    const taper_type *element = code == TAPER_DICT_KEYS ? dict->key : dict->value;
    if (code == TAPER_DICT_ITEMS) {
        element = NULL;
        if (dict->key != NULL && dict->value != NULL) {
            const taper_type *const parts[] = {dict->key, dict->value};
            TAPER_TRY(taper_type_make(taper_heap_types(call->run->heap), TAPER_TYPE_TUPLE, NULL, parts, NULL, 2,
                                      &element, call->run->error));
        }
    }
    TAPER_TRY(taper_ret_list(call, element, dict->count, &list));
    for (size_t i = 0; i < dict->count; i++) {
        taper_val item;
        TAPER_TRY(taper_run_spend(call->run, 5 * WORK_OF_AN_ITEM));
        if (code == TAPER_DICT_ITEMS) {
            TAPER_TRY(new_pair(call, taper_dict_key(dict, i), taper_dict_value(dict, i), &item));
        } else {
            item = taper_val_retain(code == TAPER_DICT_KEYS ? taper_dict_key(dict, i) : taper_dict_value(dict, i));
        }
        TAPER_TRY(taper_list_append(list, item, call->run->error));
    }
    return TAPER_OK;
}
