// SPDX-License-Identifier: BSD-2-Clause
// Starts a thread that is not in the pool, for kept_files.h.
#define _DEFAULT_SOURCE 1
#include <pthread.h>
#include <signal.h>

#include "platform/kept_files.h"

struct taper_background {
    taper_allocator allocator;
    void (*work)(void *user);
    void *user;
    pthread_t thread;
};

static void *begin(void *argument)
{
    const taper_background *b = argument;
    b->work(b->user);
    return NULL;
}

bool taper_background_start(const taper_allocator *allocator, void (*work)(void *user), void *user,
                            taper_background **background)
{
    taper_background *b = *background = taper_alloc(allocator, sizeof *b);
    if (b == NULL) {
        return false;
    }
    *b = (taper_background){.allocator = *allocator, .work = work, .user = user};
#ifdef _WIN32
    const bool started = pthread_create(&b->thread, NULL, begin, b) == 0;
#else
    // All signals are blocked in the new thread, so that they are delivered to the host's own threads.
    sigset_t all, before;
    (void)sigfillset(&all);
    const bool masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    const bool started = pthread_create(&b->thread, NULL, begin, b) == 0;
    if (masked) {
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
#endif
    if (!started) {
        taper_free(allocator, b, sizeof *b);
        *background = NULL;
    }
    return started;
}

void taper_background_join(taper_background *background)
{
    if (background != NULL) {
        (void)pthread_join(background->thread, NULL);
        const taper_allocator allocator = background->allocator;
        taper_free(&allocator, background, sizeof *background);
    }
}
