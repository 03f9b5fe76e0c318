// SPDX-License-Identifier: BSD-2-Clause
// What became of each operator when a model was converted for NNAPI: which module has it, or why none does.
#ifndef TAPER_TOOLS_PLACEMENT_H
#define TAPER_TOOLS_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <taper/taper_compile.h>

typedef struct placement_item {
    char *op;
    const char *why; // NULL: a module has it
    uint32_t value;
    int segment;
    double work;
} placement_item;

typedef struct placement {
    placement_item *items;
    size_t count, capacity;
    size_t *last; // by value: 1 + its item; 0: it has none
    size_t last_count;
    bool failed; // memory
} placement;

// taper_optimize_options.report; user: a placement of zeroes.
void placement_add(void *user, const taper_placement *told);
// A line for each reason, or for each operator (every).
void placement_print(const placement *p, bool every);
void placement_free(placement *p);

#endif
