// SPDX-License-Identifier: BSD-2-Clause
// Counts containers to which a value refers more than once. Output repeats such a container at each reference. A short
// program can make a tuple whose output would take years, so too many repetitions are an error.
#ifndef TAPER_TOOLS_SHARED_PARTS_H
#define TAPER_TOOLS_SHARED_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <taper/taper.h>

typedef struct shared_parts { // initialize with zeros
    const void **met;         // hash table of containers already written, with open addressing; NULL in a free entry
    size_t size, count;
    size_t repeated; // number of containers written more than once
} shared_parts;

// Call this before the items of a non-empty container are written. On entry, *again is true if the parent container was
// written before; on return, it is true if this container was written before. If there are too many repetitions, or
// memory runs out, reports an error and returns false.
bool shared_parts_enter(shared_parts *shared, const char *subject, const taper_value *value, bool *again);
void shared_parts_free(shared_parts *shared);

#endif
