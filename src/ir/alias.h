// SPDX-License-Identifier: BSD-2-Clause
// Determines which values of a graph may share memory, and which memory some node writes to. The answers hold for the
// whole graph, whatever the order of its nodes: all values that views, containers, branches or loops may connect are in
// one alias set. The set "outside" contains the values that other code can reach too: parameters, constants, attributes
// and arguments of method calls.
#ifndef TAPER_IR_ALIAS_H
#define TAPER_IR_ALIAS_H

#include "ir/graph.h"

typedef struct taper_aliases taper_aliases;

TAPER_MUST_USE taper_status taper_aliases_create(const taper_graph *graph, taper_aliases **aliases, taper_error *error);
void taper_aliases_destroy(taper_aliases *aliases);

// Returns the number of the value's alias set, which is less than taper_aliases_count. For a value that was made after
// the analysis, returns taper_aliases_outside.
uint32_t taper_aliases_set(const taper_aliases *aliases, const taper_ir_value *value);
uint32_t taper_aliases_outside(const taper_aliases *aliases);
size_t taper_aliases_count(const taper_aliases *aliases);
// Returns true if any node writes to the value, or to memory that the value may share.
bool taper_aliases_written(const taper_aliases *aliases, const taper_ir_value *value);
bool taper_aliases_outside_written(const taper_aliases *aliases);
// Returns true if the value, or a value that may share its memory, is returned or can be reached by other code.
bool taper_aliases_escapes(const taper_aliases *aliases, const taper_ir_value *value);

// Returns true if the type of the value is a number, string or None. Nothing can change such a value, and equal
// values cannot be distinguished.
bool taper_value_is_plain(const taper_ir_value *value);
// Returns true if the node writes to its input `index` or to a value that the input contains.
bool taper_node_writes(const taper_node *node, size_t index);
// Returns true if an operator creates the value, and the value shares no memory with the operator's inputs.
bool taper_value_is_fresh(const taper_ir_value *value);
// Both functions return true if a direct user of the value may write to it, store it in a container, return it, or
// depend on its identity. An operator that only makes a view of the value counts for taper_value_memory_handed_on. It
// does not count for taper_value_object_handed_on, because the view is another object. If the result is false, all
// users only read the value. If a value has very many users, the functions return true without examining the users.
bool taper_value_memory_handed_on(const taper_ir_value *value);
bool taper_value_object_handed_on(const taper_ir_value *value);
// Returns the answer of taper_value_memory_handed_on for a single use.
bool taper_use_hands_on_memory(const taper_value_use *use);
// Returns true if every user of this list or dict only reads its items. In this case, nothing changes the list or dict,
// or hands it on.
bool taper_value_is_only_read(const taper_ir_value *container);

#endif
