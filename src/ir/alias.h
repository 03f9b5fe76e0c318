// SPDX-License-Identifier: BSD-2-Clause
// Which values of a graph may share memory, and which memory anything writes to. The answer holds for the whole graph,
// whatever the order of its nodes: values that may be connected, by views, containers, branches or loops, are in one
// set. The set "outside" is what others know too: parameters, constants, attributes, what methods were called with.
#ifndef TAPER_IR_ALIAS_H
#define TAPER_IR_ALIAS_H

#include "ir/graph.h"

typedef struct taper_aliases taper_aliases;

TAPER_MUST_USE taper_status taper_aliases_create(const taper_graph *graph, taper_aliases **aliases, taper_error *error);
void taper_aliases_destroy(taper_aliases *aliases);

// The number of the value's set, below taper_aliases_count. Values made after the analysis are outside.
uint32_t taper_aliases_set(const taper_aliases *aliases, const taper_ir_value *value);
uint32_t taper_aliases_outside(const taper_aliases *aliases);
size_t taper_aliases_count(const taper_aliases *aliases);
// Whether any node writes to the value or to something that may share its memory.
bool taper_aliases_written(const taper_aliases *aliases, const taper_ir_value *value);
bool taper_aliases_outside_written(const taper_aliases *aliases);
// Whether the value, or something that may share its memory, is outside or returned.
bool taper_aliases_escapes(const taper_aliases *aliases, const taper_ir_value *value);

// Whether it is a number, string or None, as far as types tell: nothing can change it, and nobody can tell two apart.
bool taper_value_is_plain(const taper_ir_value *value);
// Whether node writes to what its input `index` is (or holds).
bool taper_node_writes(const taper_node *node, size_t index);
// Whether the value is an output of an operator that makes it anew, sharing memory with none of its inputs.
bool taper_value_is_fresh(const taper_ir_value *value);
// Whether a direct user of the value may hand on its memory (as a view, in a container, as a result), write to it, or
// hand on the very object (a view is another object). If not, all users look at it and are done. Of values with very
// many users the careful answer is given.
bool taper_value_memory_handed_on(const taper_ir_value *value);
bool taper_value_object_handed_on(const taper_ir_value *value);
// The same of one user.
bool taper_use_hands_on_memory(const taper_value_use *use);
// Whether every user of this list or dict looks at its items only: nobody changes it or hands it on.
bool taper_value_is_only_read(const taper_ir_value *container);

#endif
