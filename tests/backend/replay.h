// SPDX-License-Identifier: BSD-2-Clause
// A layer that records the calls of a backend, with the shapes of arguments and results, one line for each call. It can
// also compare later calls with the record. For use by one thread at a time.
#ifndef TAPER_TESTS_REPLAY_H
#define TAPER_TESTS_REPLAY_H

#include "tests/backend/layer.h"

typedef struct replay {
    layer layer; // must be the first member
    char *text;  // recorded lines
    size_t length, capacity, lines;
    bool replaying;
    size_t at;         // offset of the next line of the replay
    size_t mismatches; // number of lines that differ; the first one is kept below
    char wanted[256], got[256];
} replay;

void replay_init(replay *replay, const taper_backend *inner);
// From here on, calls are compared with the lines after the offset `from`, an earlier length. They are not recorded.
void replay_begin(replay *replay, size_t from);
// Returns true if all lines up to the offset `to` have been repeated.
bool replay_is_done(const replay *replay, size_t to);
void replay_free(replay *replay);

#endif
