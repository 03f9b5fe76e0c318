// SPDX-License-Identifier: BSD-2-Clause
// A layer that records the calls of a backend, with the shapes of arguments and results, one line for each call. It can
// also compare later calls with the recorded lines. Only one thread may use it at a time.
#ifndef TAPER_TESTS_REPLAY_H
#define TAPER_TESTS_REPLAY_H

#include "tests/backend/layer.h"

typedef struct replay {
    layer layer; // must be the first member
    char *text;  // recorded lines, as one text
    size_t length, capacity, lines;
    bool replaying;
    size_t at; // offset in the text of the next line to compare
    // Number of lines that differ from the recorded lines; `wanted` and `got` are the first such pair.
    size_t mismatches;
    char wanted[256], got[256];
} replay;

void replay_init(replay *replay, const taper_backend *inner);
// From now on, calls are not recorded but compared with the lines that begin at the offset `from`, which is the length
// of the text at an earlier time.
void replay_begin(replay *replay, size_t from);
// Returns true if all lines up to the offset `to` have been compared.
bool replay_is_done(const replay *replay, size_t to);
void replay_free(replay *replay);

#endif
