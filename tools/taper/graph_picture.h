// SPDX-License-Identifier: BSD-2-Clause
// Draws a graph, in the text form of taper_inspect_graph, as nodes in layers. Each node is below the nodes whose
// results it takes.
#ifndef TAPER_TOOLS_GRAPH_PICTURE_H
#define TAPER_TOOLS_GRAPH_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct graph_picture {
    const char *title;
    const char *text;          // text of the graph, NUL-terminated
    const char *const *shapes; // texts of the values' shapes, indexed by value number; an entry is NULL if unknown
    size_t shape_count;
} graph_picture;

// Writes the picture to a file whose name ends in .svg or .html. Failures are reported.
bool graph_picture_write(const graph_picture *picture, const char *path);

#endif
