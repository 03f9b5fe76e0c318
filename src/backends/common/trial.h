// SPDX-License-Identifier: BSD-2-Clause
// Which way is the faster one, the device or the plain nodes, is measured in the first runs of each.
#ifndef TAPER_BACKENDS_TRIAL_H
#define TAPER_BACKENDS_TRIAL_H

#include <stdbool.h>

enum { TAPER_TRIAL_RUNS = 3 }; // of each way; the first does what is done but once

typedef enum taper_trial_phase {
    TAPER_TRIAL_TRIES_DEVICE,
    TAPER_TRIAL_TRIES_PLAIN,
    TAPER_TRIAL_TAKES_DEVICE,
    TAPER_TRIAL_TAKES_PLAIN
} taper_trial_phase;

typedef struct taper_trial {
    taper_trial_phase phase;
    unsigned runs;        // of this phase
    double device, plain; // seconds of the best
} taper_trial;

static inline bool taper_trial_is_plain(const taper_trial *t)
{
    return t->phase == TAPER_TRIAL_TRIES_PLAIN || t->phase == TAPER_TRIAL_TAKES_PLAIN;
}

static inline void taper_trial_note(double *best, unsigned runs, double seconds)
{
    if (runs == 2 || (runs > 2 && seconds < *best)) {
        *best = seconds;
    }
}

// A run of the device took so long. True: the next runs are the plain nodes', so memory is to be planned anew.
static inline bool taper_trial_device(taper_trial *t, double seconds)
{
    if (t->phase != TAPER_TRIAL_TRIES_DEVICE) {
        return false;
    }
    taper_trial_note(&t->device, ++t->runs, seconds);
    if (t->runs < TAPER_TRIAL_RUNS) {
        return false;
    }
    t->phase = TAPER_TRIAL_TRIES_PLAIN;
    t->runs = 0;
    return true;
}

// The plain nodes took so long. True: it is decided who goes on.
static inline bool taper_trial_plain(taper_trial *t, double seconds)
{
    if (t->phase != TAPER_TRIAL_TRIES_PLAIN) {
        return false;
    }
    taper_trial_note(&t->plain, ++t->runs, seconds);
    if (t->runs < TAPER_TRIAL_RUNS) {
        return false;
    }
    t->phase = t->plain < t->device ? TAPER_TRIAL_TAKES_PLAIN : TAPER_TRIAL_TAKES_DEVICE;
    return true;
}

#endif
