// SPDX-License-Identifier: BSD-2-Clause
// Parses the exact form of graphs (taper_graph_print_exact), for tests. The text may contain errors but must be small.
// If an operator's last arguments have defaults, the text may omit them.
#ifndef TAPER_TESTS_GRAPH_PARSE_H
#define TAPER_TESTS_GRAPH_PARSE_H

#include "ir/graph.h"
#include "ops/list/registry.h"

typedef struct graph_reader {
    const taper_allocator *allocator;
    taper_types *types;
    taper_heap *heap; // heap of constants
    taper_registry *registry;
    const char *text; // before reading: start of the text; after reading: end of the text read
    int line;         // number of the current line, counted over all reads
    taper_error *error;
    struct value_name *names;
    size_t name_count, name_capacity;
} graph_reader;

// Reads a graph from "graph NAME(" to the end of its return line.
TAPER_MUST_USE taper_status read_graph(graph_reader *r, taper_graph **graph);
// Reads a constant among the inputs of a node. *frozen: true for a list marked as frozen.
TAPER_MUST_USE taper_status read_value(graph_reader *r, taper_val *value, bool *frozen);
// Reads a type up to the end of its name or its closing bracket.
TAPER_MUST_USE taper_status read_type(graph_reader *r, const taper_type **type);

// ---- for graph_parse.c and value_parse.c

taper_status read_failed(graph_reader *r, const char *expected);
// Skips blanks and comments first. If the token does not follow, returns false and reads nothing more.
bool read_token(graph_reader *r, const char *token);
// Returns the length of a name made of letters, digits and . : _ or 0 if no name follows.
size_t read_name(graph_reader *r, const char **name);

#endif
