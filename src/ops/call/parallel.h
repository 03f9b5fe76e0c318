// SPDX-License-Identifier: BSD-2-Clause
// Work of an operator on all threads of its run.
#ifndef TAPER_OPS_PARALLEL_H
#define TAPER_OPS_PARALLEL_H

#include "ops/call/call.h"
#include "platform/threads.h"

// Calls task(argument, begin, end) for pieces of [0, count), each item once. work is about the nanoseconds that all of
// it takes one thread of a fast machine; it decides how long the pieces are: at least `grain` items (0: 1; the last of
// a thread's part may be shorter), and so many that a piece takes 75 us at most, as far as the grain lets it. What
// takes less than 25 us (5 us when workers are up, or when there was much of it) the calling thread does alone, in one
// piece. Fails when the host wants the run to end; some pieces were not done then.
TAPER_MUST_USE taper_status taper_run_range(taper_run *run, taper_range_task task, void *argument, size_t count,
                                            size_t grain, double work);

// How many pieces that makes, for those who cut their work themselves.
size_t taper_run_pieces(const taper_run *run, double work);

// Scratch for pieces: a place for each that can run at the same time, of pieces that are `most` altogether. A piece
// takes one (whatever is in it, but for a size_t at its beginning, which is 0 at first) and leaves it. That which
// begins with `item` of the range's `items` mostly gets what the piece before it had: a core fetches what another one
// wrote far slower than memory.
typedef struct taper_places {
    size_t count, all_bytes;
    char *data;
} taper_places;
// False: there is no memory. bytes 0 is fine, the places are then nowhere.
TAPER_MUST_USE bool taper_places_open(const taper_run *run, size_t bytes, size_t most, taper_places *places);
void *taper_place_take(const taper_places *places, size_t item, size_t items);
void taper_place_leave(void *place);
void taper_places_close(const taper_run *run, taper_places *places);

// The nanoseconds that simple work on so many floats takes.
static inline double taper_floats_work(double floats)
{
    return floats / 4;
}

// A range of `count` items of so many floats each.
TAPER_MUST_USE taper_status taper_run_floats(taper_run *run, taper_range_task task, void *argument, size_t count,
                                             double floats);

#endif
