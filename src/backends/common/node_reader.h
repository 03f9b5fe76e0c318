// SPDX-License-Identifier: BSD-2-Clause
// Arguments of nodes, as backends read them while they claim (little is known) and record (everything that is not the
// content of a tensor is).
#ifndef TAPER_BACKENDS_NODE_READER_H
#define TAPER_BACKENDS_NODE_READER_H

#include "ir/graph.h"
#include "ir/infer.h"

// What is known of a value that nodes take or give.
typedef struct taper_known_value {
    const taper_val *constant; // the value itself, where it is the same in every run; NULL: it is not
    taper_shape shape;         // of a tensor that is no constant; while nodes are only asked about, any of it may be
                               // unknown
    bool quantized;            // of one that comes from outside
    double scale;
    int64_t zero_point;
} taper_known_value;

typedef struct taper_node_reader {
    void (*know)(void *user, const taper_ir_value *value, taper_known_value *known);
    void *user;
    bool later;      // numbers that are not known yet will be: they are taken for what stands where there are none
    const char *why; // the last refusal, a static text
} taper_node_reader;

// The node stays with the CPU; why is a static text. Gives TAPER_DECLINED.
taper_status taper_read_refuse(taper_node_reader *reader, const char *why);
#define TAPER_READ_REFUSE(reader, condition, why)                                                                      \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            return taper_read_refuse(reader, why);                                                                     \
        }                                                                                                              \
    } while (0)

taper_known_value taper_read_value(const taper_node_reader *reader, const taper_ir_value *value);
// The argument of that name; NULL: the schema has none.
const taper_ir_value *taper_read_argument(const taper_node *node, const char *name);
// Its value where it is constant; NULL: it is not, or there is no such argument.
const taper_val *taper_read_constant(const taper_node_reader *reader, const taper_ir_value *value);
// A constant tensor; NULL: it is none.
taper_tensor *taper_read_tensor(const taper_node_reader *reader, const taper_ir_value *value);
// These refuse where the argument is not constant, and give `otherwise` for None and for what the schema lacks.
TAPER_MUST_USE taper_status taper_read_int(taper_node_reader *reader, const taper_node *node, const char *name,
                                           int64_t otherwise, int64_t *number);
TAPER_MUST_USE taper_status taper_read_number(taper_node_reader *reader, const taper_node *node, const char *name,
                                              double otherwise, double *number);
TAPER_MUST_USE taper_status taper_read_ints(taper_node_reader *reader, const taper_node *node, const char *name,
                                            size_t want, int64_t otherwise, int64_t *numbers);
// Any count up to TAPER_MAX_RANK.
TAPER_MUST_USE taper_status taper_read_int_list(taper_node_reader *reader, const taper_ir_value *value,
                                                int64_t *numbers, size_t *count);

#endif
