// SPDX-License-Identifier: BSD-2-Clause
#include "common/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/errors.h"
#include "common/terminal.h"

static struct timespec after(double seconds)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time); // pthread_cond_timedwait uses this clock
    const double fraction = (double)time.tv_nsec * 1e-9 + seconds;
    time.tv_sec += (time_t)fraction;
    time.tv_nsec = (long)((fraction - (double)(time_t)fraction) * 1e9);
    return time;
}

static void put_line(waiting *w)
{
    fprintf(stderr, "\r\033[K%s ", w->what);
    text_put(stderr, w->path, strlen(w->path), false);
    fprintf(stderr, ", %.0f s ", clock_seconds() - w->begin);
    fflush(stderr);
    w->shown = true;
}

static void *tell(void *argument)
{
    waiting *w = argument;
    double pause = w->patience;
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        const struct timespec until = after(pause);
        if (pthread_cond_timedwait(&w->changed, &w->lock, &until) == ETIMEDOUT && !w->ended) {
            put_line(w);
            pause = 0.5;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void waiting_begin(waiting *w, const char *what, const char *path)
{
    const char *patience = getenv("TAPER_PATIENCE");
    *w = (waiting){.what = what, .path = path, .begin = clock_seconds(), .patience = 1};
    if (patience != NULL && *patience != '\0') {
        w->patience = strtod(patience, NULL);
        w->patience = w->patience >= 0 && w->patience < 1e6 ? w->patience : 1;
    }
    if (isatty(STDERR_FILENO) == 0 || pthread_mutex_init(&w->lock, NULL) != 0) {
        return;
    }
    if (pthread_cond_init(&w->changed, NULL) == 0) {
        w->active = pthread_create(&w->thread, NULL, tell, w) == 0;
        if (w->active && w->patience == 0) { // draws the line immediately if TAPER_PATIENCE is 0
            pthread_mutex_lock(&w->lock);
            put_line(w);
            pthread_mutex_unlock(&w->lock);
        }
        if (w->active) {
            return;
        }
        pthread_cond_destroy(&w->changed);
    }
    pthread_mutex_destroy(&w->lock);
}

void waiting_end(waiting *w)
{
    if (!w->active) {
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    if (w->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    w->active = false;
}
