// SPDX-License-Identifier: BSD-2-Clause
// A layer that writes down what a backend is asked, with the shapes of what it is given and gives, a line for each
// call; or holds a later sequence of calls against what was written. For one thread at a time.
#ifndef TAPER_TESTS_REPLAY_H
#define TAPER_TESTS_REPLAY_H

#include "tests/backend/layer.h"

typedef struct replay {
    layer layer; // first
    char *text;  // what was written
    size_t length, capacity, lines;
    bool replaying;
    size_t at;         // where the next line of the replay begins
    size_t mismatches; // of lines; the first two are kept
    char wanted[256], got[256];
} replay;

void replay_init(replay *replay, const taper_backend *inner);
// From here on calls are held against the lines behind `from` (a former length); what comes is written no more.
void replay_begin(replay *replay, size_t from);
// All lines came again, up to the length `to`.
bool replay_is_done(const replay *replay, size_t to);
void replay_free(replay *replay);

#endif
