// SPDX-License-Identifier: BSD-2-Clause
// What is known of a segment's values in a call of it: arguments and shapes.
#ifndef TAPER_BACKENDS_SEGMENT_VALUES_H
#define TAPER_BACKENDS_SEGMENT_VALUES_H

#include "backends/common/node_reader.h"
#include "base/pointer_map.h"
#include "ops/backend.h"

typedef struct taper_segment_values {
    const taper_call *call;
    const taper_block *body;
    const taper_allocator *allocator;
    taper_shapes shapes;    // of values inside
    taper_pointer_map args; // numbers of arguments, by values from outside
    taper_val *numbers;     // what is known of sizes (shape_nodes.h), as shapes are found; None: nothing. Owned
} taper_segment_values;

// Good for as long as the call. To be freed also on failure.
TAPER_MUST_USE taper_status taper_segment_values_init(const taper_segment *segment, const taper_call *call,
                                                      const taper_allocator *allocator, taper_segment_values *values);
void taper_segment_values_free(taper_segment_values *values);

// The number of a value from outside among the arguments; SIZE_MAX: it is made inside.
size_t taper_segment_values_argument(const taper_segment_values *values, const taper_ir_value *value);
// taper_node_reader.know; user: the values.
void taper_segment_values_know(void *user, const taper_ir_value *value, taper_known_value *known);
// A node without outputs is a check of the model, which holds for tensors of these shapes, or may not: then the plain
// nodes say so.
bool taper_segment_values_check_holds(const taper_segment_values *values, const taper_node *check);

#endif
