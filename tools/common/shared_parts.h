// SPDX-License-Identifier: BSD-2-Clause
// Lists, tuples, dicts and objects that a value holds more than once. Written out each is there as often as it is held,
// and a few lines of a program can make a tuple that would take years: repetitions are counted, and end in an error.
#ifndef TAPER_TOOLS_SHARED_PARTS_H
#define TAPER_TOOLS_SHARED_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <taper/taper.h>

typedef struct shared_parts { // begins as zeros
    const void **met;         // by a hash of the address; NULL: free
    size_t size, count;
    size_t repeated; // parts that were written before
} shared_parts;

// Before the parts of a container that is not empty. *again: what holds it was met before; afterwards: so was it.
// false: too much is repeated, or there is no memory (reported).
bool shared_parts_enter(shared_parts *shared, const char *subject, const taper_value *value, bool *again);
void shared_parts_free(shared_parts *shared);

#endif
