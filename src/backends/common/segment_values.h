// SPDX-License-Identifier: BSD-2-Clause
// The arguments and shapes of a segment's values in one call.
#ifndef TAPER_BACKENDS_SEGMENT_VALUES_H
#define TAPER_BACKENDS_SEGMENT_VALUES_H

#include "backends/common/node_reader.h"
#include "base/pointer_map.h"
#include "ops/backend.h"

typedef struct taper_segment_values {
    const taper_call *call;
    const taper_block *body;
    const taper_allocator *allocator;
    taper_shapes shapes;    // shapes of the values made by the segment's nodes
    taper_pointer_map args; // maps each value from outside the segment to its argument number
    taper_val *numbers;     // known results of nodes that compute with sizes (shape_nodes.h), None if unknown; owned
} taper_segment_values;

// Collects the values, which are valid during the call. The caller must call taper_segment_values_free, also on
// failure.
TAPER_MUST_USE taper_status taper_segment_values_init(const taper_segment *segment, const taper_call *call,
                                                      const taper_allocator *allocator, taper_segment_values *values);
void taper_segment_values_free(taper_segment_values *values);

// Returns the argument number of a value from outside the segment, or SIZE_MAX for a value made inside it.
size_t taper_segment_values_argument(const taper_segment_values *values, const taper_ir_value *value);
// Fills *known with what is known about a value, as taper_node_reader.know requires. `user` is the
// taper_segment_values.
void taper_segment_values_know(void *user, const taper_ir_value *value, taper_known_value *known);
// Returns true if a check of the model (a node without outputs) passes for tensors of these shapes. If the check would
// fail, the segment's nodes must run on the CPU, which reports the error.
bool taper_segment_values_check_holds(const taper_segment_values *values, const taper_node *check);

#endif
