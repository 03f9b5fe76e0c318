// SPDX-License-Identifier: BSD-2-Clause
// What is known of a value before the run: its kind, that it is not None, a tensor's dtype.
#ifndef TAPER_COMPILER_FACTS_H
#define TAPER_COMPILER_FACTS_H

#include "compiler/pass.h"

// TAPER_TYPE_INT, FLOAT, BOOL or STRING where the value is sure to be one; otherwise TAPER_TYPE_ANY.
taper_type_kind taper_known_type_kind(const taper_ir_value *value);
bool taper_known_not_none(const taper_ir_value *value);
// Whether an argument behind the first is a complex number, or may be one.
bool taper_takes_complex_number(const taper_node *node);
// The dtypes of a graph's tensors, as far as they follow from constants and from operators that raise for any other.
// Learned node by node, in order, each after the nodes in its blocks.
typedef struct taper_dtypes {
    const taper_allocator *allocator;
    uint8_t *known; // by value id: dtype + 1; 0: not known
    size_t count;
} taper_dtypes;
// Where anything changes dtypes in place (taper_ranks_change) nothing is learned.
TAPER_MUST_USE taper_status taper_dtypes_create(taper_compilation *compilation, const taper_graph *graph,
                                                taper_dtypes *dtypes);
void taper_dtypes_free(taper_dtypes *dtypes);
void taper_dtypes_learn(taper_dtypes *dtypes, const taper_node *node);
bool taper_known_dtype(const taper_dtypes *dtypes, const taper_ir_value *value, taper_dtype *dtype);

#endif
