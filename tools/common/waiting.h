// SPDX-License-Identifier: BSD-2-Clause
// Work whose end nobody can foresee: when it takes more than a second, a line on stderr says what it is and for how
// long, where that is a terminal. TAPER_PATIENCE: other seconds.
#ifndef TAPER_TOOLS_WAITING_H
#define TAPER_TOOLS_WAITING_H

#include <pthread.h>
#include <stdbool.h>

typedef struct waiting {
    const char *what; // "loading"
    const char *path;
    double begin, patience;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool active, ended, shown;
} waiting;

// Nothing else may be written to the terminal until waiting_end, which wipes the line. The texts must stay valid.
void waiting_begin(waiting *w, const char *what, const char *path);
void waiting_end(waiting *w);

#endif
