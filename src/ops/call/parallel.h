// SPDX-License-Identifier: BSD-2-Clause
// Runs the work of an operator on all threads of its run.
#ifndef TAPER_OPS_PARALLEL_H
#define TAPER_OPS_PARALLEL_H

#include "ops/call/call.h"
#include "platform/threads.h"

// Calls task(argument, begin, end) for pieces of [0, count), with each item in one piece. work: about the nanoseconds
// that one thread of a fast machine needs for all items. `work` determines the length of the pieces: at least `grain`
// items (0 counts as 1; the last piece of a thread's part may have fewer). A piece takes at most 75 us, unless the
// grain is longer. The calling thread does work of less than 25 us alone, in one piece. That limit is 5 us if workers
// are awake, or if the calling thread did much such work since it last shared work. Fails if the host ends the run, and
// some pieces are then not done.
TAPER_MUST_USE taper_status taper_run_range(taper_run *run, taper_range_task task, void *argument, size_t count,
                                            size_t grain, double work);

// Returns the number of pieces for this work, for callers that split their work themselves.
size_t taper_run_pieces(const taper_run *run, double work);

// Scratch memory for pieces: one buffer, called a place, for each piece that can run at the same time. There are `most`
// pieces in total. A piece takes a place and leaves it. The content of a place is undefined, except a size_t at its
// beginning, which is 0 at first. A piece that begins with `item` of the range's `items` usually gets the place of the
// piece before it, because a core fetches data from memory far faster than data that another core wrote.
typedef struct taper_places {
    size_t count, all_bytes;
    char *data;
} taper_places;
// Returns false if memory is missing. If bytes is 0, the places are NULL.
TAPER_MUST_USE bool taper_places_open(const taper_run *run, size_t bytes, size_t most, taper_places *places);
void *taper_place_take(const taper_places *places, size_t item, size_t items);
void taper_place_leave(void *place);
void taper_places_close(const taper_run *run, taper_places *places);

// Returns the time of simple work on this number of floats, in nanoseconds.
static inline double taper_floats_work(double floats)
{
    return floats / 4;
}

// Runs a range of `count` items of `floats` floats each.
TAPER_MUST_USE taper_status taper_run_floats(taper_run *run, taper_range_task task, void *argument, size_t count,
                                             double floats);

#endif
