// SPDX-License-Identifier: BSD-2-Clause
// Reads the exact form of graphs (taper_graph_print_exact) back. For tests: the text is trusted to be small, not to be
// right. What may be left out: the trailing arguments of an operator that have defaults.
#ifndef TAPER_TESTS_GRAPH_PARSE_H
#define TAPER_TESTS_GRAPH_PARSE_H

#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct graph_reader {
    const taper_allocator *allocator;
    taper_types *types;
    taper_heap *heap; // of constants
    taper_registry *registry;
    const char *text; // in: where to start; out: behind what was read
    int line;         // of text; kept
    taper_error *error;
    struct value_name *names;
    size_t name_count, name_capacity;
} graph_reader;

// A graph from "graph NAME(" to the end of its return line.
TAPER_MUST_USE taper_status read_graph(graph_reader *r, taper_graph **graph);
// A constant, as it stands among the inputs of a node. *frozen: a list marked so.
TAPER_MUST_USE taper_status read_value(graph_reader *r, taper_val *value, bool *frozen);
// A type, up to the end of its name or closing bracket.
TAPER_MUST_USE taper_status read_type(graph_reader *r, const taper_type **type);

// ---- for graph_parse.c and value_parse.c

taper_status read_failed(graph_reader *r, const char *expected);
bool read_token(graph_reader *r, const char *token);  // skips blanks and comments first; false: nothing was read
size_t read_name(graph_reader *r, const char **name); // letters, digits, . : _ ; 0: none

#endif
