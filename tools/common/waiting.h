// SPDX-License-Identifier: BSD-2-Clause
// Shows a note for work of unknown duration. If the work takes more than a second and stderr is a terminal, a line on
// stderr names the work and shows the elapsed time. TAPER_PATIENCE sets another number of seconds.
#ifndef TAPER_TOOLS_WAITING_H
#define TAPER_TOOLS_WAITING_H

#include <pthread.h>
#include <stdbool.h>

typedef struct waiting {
    const char *what; // description of the work, such as "loading"
    const char *path;
    double begin, patience;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool active, ended, shown;
} waiting;

// waiting_begin starts the note. Until waiting_end, which removes the line, the program may not write to the terminal,
// and `what` and `path` must stay valid.
void waiting_begin(waiting *w, const char *what, const char *path);
void waiting_end(waiting *w);

#endif
