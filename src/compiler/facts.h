// SPDX-License-Identifier: BSD-2-Clause
// Finds facts about a value before the run: its kind, that it is not None, the dtype of a tensor.
#ifndef TAPER_COMPILER_FACTS_H
#define TAPER_COMPILER_FACTS_H

#include "compiler/pass.h"

// Returns TAPER_TYPE_INT, FLOAT, BOOL or STRING if the value always has this kind, otherwise TAPER_TYPE_ANY.
taper_type_kind taper_known_type_kind(const taper_ir_value *value);
bool taper_known_not_none(const taper_ir_value *value);
// Returns true if an argument after the first is a complex number, or may be one.
bool taper_takes_complex_number(const taper_node *node);
// The dtypes of a graph's tensors, if they follow from constants and from operators that raise for every other dtype.
// The caller passes each node in order: first the nodes in a node's blocks, then the node itself.
typedef struct taper_dtypes {
    const taper_allocator *allocator;
    uint8_t *known; // dtype + 1 of the value with that id, or 0 if unknown
    size_t count;
} taper_dtypes;
// Creates the table. If any graph changes dtypes in place (taper_ranks_change), the table remains empty.
TAPER_MUST_USE taper_status taper_dtypes_create(taper_compilation *compilation, const taper_graph *graph,
                                                taper_dtypes *dtypes);
void taper_dtypes_free(taper_dtypes *dtypes);
void taper_dtypes_learn(taper_dtypes *dtypes, const taper_node *node);
bool taper_known_dtype(const taper_dtypes *dtypes, const taper_ir_value *value, taper_dtype *dtype);

#endif
