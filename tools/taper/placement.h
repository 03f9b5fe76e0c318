// SPDX-License-Identifier: BSD-2-Clause
// Collects the outcome of a conversion for NNAPI for each operator: the number of the NNAPI module that runs the
// operator, or the reason why no module runs it.
#ifndef TAPER_TOOLS_PLACEMENT_H
#define TAPER_TOOLS_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <taper/taper_compile.h>

typedef struct placement_item {
    char *op;
    const char *why; // reason why the operator is not in an NNAPI module; NULL if it is in a module
    uint32_t value;
    int segment;
    double work;
} placement_item;

typedef struct placement {
    placement_item *items;
    size_t count, capacity;
    size_t *last; // indexed by value number: 1 + index of the value's last item; 0 if it has none
    size_t last_count;
    bool failed; // true if memory ran out
} placement;

// Callback for taper_optimize_options.report; `user` points to a placement, which the caller has set to zeros.
void placement_add(void *user, const taper_placement *told);
// Prints one line for each reason, or one line for each operator if `every` is true.
void placement_print(const placement *p, bool every);
void placement_free(placement *p);

#endif
