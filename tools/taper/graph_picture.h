// SPDX-License-Identifier: BSD-2-Clause
// A graph, as taper_inspect_graph prints it, as nodes in layers, each below what it needs.
#ifndef TAPER_TOOLS_GRAPH_PICTURE_H
#define TAPER_TOOLS_GRAPH_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct graph_picture {
    const char *title;
    const char *text;          // NUL-terminated
    const char *const *shapes; // by value number, or NULL where none is known
    size_t shape_count;
} graph_picture;

// A file that ends in .svg or .html. Failures are reported.
bool graph_picture_write(const graph_picture *picture, const char *path);

#endif
