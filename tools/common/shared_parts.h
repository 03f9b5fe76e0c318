// SPDX-License-Identifier: BSD-2-Clause
// Counts containers that a value refers to more than once. Output repeats such a container at each reference. A short
// program can make a tuple whose output would take years, so that too many repetitions are an error.
#ifndef TAPER_TOOLS_SHARED_PARTS_H
#define TAPER_TOOLS_SHARED_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <taper/taper.h>

typedef struct shared_parts { // zero-initialized
    const void **met;         // open-addressing hash table of addresses; NULL for a free slot
    size_t size, count;
    size_t repeated; // number of parts written more than once
} shared_parts;

// Call this before the items of a non-empty container are written. On input, *again is true if the container's parent
// was met before; on return, it is true if the container was. Returns false after it has reported too many repetitions
// or lack of memory.
bool shared_parts_enter(shared_parts *shared, const char *subject, const taper_value *value, bool *again);
void shared_parts_free(shared_parts *shared);

#endif
