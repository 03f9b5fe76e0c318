// SPDX-License-Identifier: BSD-2-Clause
// What the operators on lists and dicts share.
#ifndef TAPER_OPS_CONTAINER_H
#define TAPER_OPS_CONTAINER_H

#include "ops/call/call.h"

enum { WORK_OF_AN_ITEM = 8 }; // that is copied, or compared; taper_run_spend

// PyTorch's == of two list items: numbers, strings, devices; tensors of one element by value. Containers are refused.
TAPER_MUST_USE taper_status taper_items_equal(taper_run *run, taper_val a, taper_val b, bool *equal);
// Wraps a negative index and checks it: "list index out of range".
TAPER_MUST_USE taper_status taper_list_position(taper_run *run, const taper_list *list, int64_t index, size_t *at);
// A new list as result 0.
TAPER_MUST_USE taper_status taper_ret_list(taper_call *call, const taper_type *element, size_t capacity,
                                           taper_list **list);

typedef enum taper_list_code {
    TAPER_LIST_MIN,
    TAPER_LIST_MAX,
    TAPER_LIST_SUM,
    TAPER_LIST_ANY,
    TAPER_LIST_ALL,

    TAPER_DICT_GET,     // None when absent
    TAPER_DICT_ITEM,    // KeyError
    TAPER_DICT_DEFAULT, // the third argument
    TAPER_DICT_POP,
    TAPER_DICT_POP_DEFAULT,
    TAPER_DICT_DELETE,
    TAPER_DICT_SETDEFAULT,
    TAPER_DICT_KEYS,
    TAPER_DICT_VALUES,
    TAPER_DICT_ITEMS
} taper_list_code;

#endif
