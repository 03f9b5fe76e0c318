// SPDX-License-Identifier: BSD-2-Clause
// Reads arguments of nodes for backends. While a backend claims nodes, few facts are known. While it records a call,
// everything is known except the contents of tensors.
#ifndef TAPER_BACKENDS_NODE_READER_H
#define TAPER_BACKENDS_NODE_READER_H

#include "ir/graph.h"
#include "ir/infer.h"

// Facts about an input or output of a node.
typedef struct taper_known_value {
    const taper_val *constant; // value, if it is the same in every run, otherwise NULL
    taper_shape shape; // shape of a tensor that is not constant; parts may be unknown while the backend claims nodes
    bool quantized;    // true for a quantized tensor from outside the segment; `scale` and `zero_point` are then set
    double scale;
    int64_t zero_point;
} taper_known_value;

typedef struct taper_node_reader {
    void (*know)(void *user, const taper_ir_value *value, taper_known_value *known);
    void *user;
    // True if numbers that are not known yet will be known later. Until then, the functions below read an argument that
    // is such a number as its default (`otherwise`), or as 0 in a list.
    bool later;
    const char *why; // reason of the last refusal, a static text
} taper_node_reader;

// Refuses the node, so that the CPU runs it. `why` is a static text. Returns TAPER_DECLINED.
taper_status taper_read_refuse(taper_node_reader *reader, const char *why);
#define TAPER_READ_REFUSE(reader, condition, why)                                                                      \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            return taper_read_refuse(reader, why);                                                                     \
        }                                                                                                              \
    } while (0)

taper_known_value taper_read_value(const taper_node_reader *reader, const taper_ir_value *value);
// Returns the argument called `name`, or NULL if the schema has no such argument.
const taper_ir_value *taper_read_argument(const taper_node *node, const char *name);
// Returns the constant, or NULL if `value` is NULL or is not a constant.
const taper_val *taper_read_constant(const taper_node_reader *reader, const taper_ir_value *value);
// Returns a constant tensor, or NULL if the value is anything else.
taper_tensor *taper_read_tensor(const taper_node_reader *reader, const taper_ir_value *value);
// The functions below read the argument called `name`. They refuse an argument that is not constant, and return
// `otherwise` if the argument is None or if the schema has no such argument.
TAPER_MUST_USE taper_status taper_read_int(taper_node_reader *reader, const taper_node *node, const char *name,
                                           int64_t otherwise, int64_t *number);
TAPER_MUST_USE taper_status taper_read_number(taper_node_reader *reader, const taper_node *node, const char *name,
                                              double otherwise, double *number);
TAPER_MUST_USE taper_status taper_read_ints(taper_node_reader *reader, const taper_node *node, const char *name,
                                            size_t want, int64_t otherwise, int64_t *numbers);
// Reads a list of up to TAPER_MAX_RANK numbers.
TAPER_MUST_USE taper_status taper_read_int_list(taper_node_reader *reader, const taper_ir_value *value,
                                                int64_t *numbers, size_t *count);

#endif
