// SPDX-License-Identifier: BSD-2-Clause
// Chooses between running a segment on the device and running its nodes on the CPU, by measuring the first runs of both
// methods.
#ifndef TAPER_BACKENDS_TRIAL_H
#define TAPER_BACKENDS_TRIAL_H

#include <stdbool.h>

// Number of runs on the device, and of runs on the CPU, that are measured. The first run of a method includes work that
// is done only once.
enum { TAPER_TRIAL_RUNS = 3 };

typedef enum taper_trial_phase {
    TAPER_TRIAL_TRIES_DEVICE,
    TAPER_TRIAL_TRIES_PLAIN,
    TAPER_TRIAL_TAKES_DEVICE,
    TAPER_TRIAL_TAKES_PLAIN
} taper_trial_phase;

typedef struct taper_trial {
    taper_trial_phase phase;
    unsigned runs;        // number of runs measured so far in `phase`
    double device, plain; // shortest time of a run on the device, and of a run on the CPU, in seconds
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

// Records the time of a run on the device. Returns true if the next runs must use the CPU, whose time is measured next;
// memory must then be planned again.
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

// Records the time of a run on the CPU. Returns true if the choice between CPU and device is now made.
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
