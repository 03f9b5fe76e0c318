// SPDX-License-Identifier: BSD-2-Clause
// Helpers and codes that the operators on lists and dicts share.
#ifndef TAPER_OPS_CONTAINER_H
#define TAPER_OPS_CONTAINER_H

#include "ops/call/call.h"

enum { WORK_OF_AN_ITEM = 8 }; // work that is charged for one copied or compared item (taper_run_spend)

// Compares two list items as PyTorch's == does: numbers, strings and devices by value, tensors of one element by that
// element. Fails for containers and other tensors.
TAPER_MUST_USE taper_status taper_items_equal(taper_run *run, taper_val a, taper_val b, bool *equal);
// Sets *at to the position of index in the list; a negative index counts from the end. Fails with "list index out of
// range" if the list has no such item.
TAPER_MUST_USE taper_status taper_list_position(taper_run *run, const taper_list *list, int64_t index, size_t *at);
// Makes an empty list with room for `capacity` items and sets it as result 0. *list is borrowed from the result.
TAPER_MUST_USE taper_status taper_ret_list(taper_call *call, const taper_type *element, size_t capacity,
                                           taper_list **list);

typedef enum taper_list_code {
    TAPER_LIST_MIN,
    TAPER_LIST_MAX,
    TAPER_LIST_SUM,
    TAPER_LIST_ANY,
    TAPER_LIST_ALL,

    TAPER_DICT_GET,     // returns None if the key is absent
    TAPER_DICT_ITEM,    // raises KeyError if the key is absent
    TAPER_DICT_DEFAULT, // returns the third argument if the key is absent
    TAPER_DICT_POP,
    TAPER_DICT_POP_DEFAULT,
    TAPER_DICT_DELETE,
    TAPER_DICT_SETDEFAULT,
    TAPER_DICT_KEYS,
    TAPER_DICT_VALUES,
    TAPER_DICT_ITEMS
} taper_list_code;

#endif
