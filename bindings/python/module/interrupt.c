// SPDX-License-Identifier: BSD-2-Clause
// Handles Ctrl-C during a run in Python's main thread. Python handles signals when it has the GIL again, which may be
// never, because a model can loop forever. A handler of this module therefore cancels the run and calls Python's
// handler; the exception that Python then raises is raised after the run. If the program has its own handler for
// SIGINT, the signal is left alone, because it may not mean the end of the run.
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

// The handler remains installed, because installing and removing it takes longer than the run of a small model. A
// program's signal.signal may replace the handler, so each run checks whether it is still installed, at most once per
// millisecond. If neither this handler nor the handler before it is installed, other code handles SIGINT and may still
// call this handler.

enum { LOOK = 1000000 }; // LOOK: interval between two checks, in nanoseconds

// A signal handler has no user argument, so this is global. Only the main thread's run is stored here.
static _Atomic(taper_session *) running;
static atomic_bool asked;
static struct sigaction before;
static bool installed;
static int64_t looked;

static void handle(int number, siginfo_t *info, void *context)
{
    taper_session *const session = atomic_load(&running);
    if (session != NULL) {
        atomic_store(&asked, true);
        taper_session_cancel(session); // only stores a flag, so that it may be called in a signal handler
    }
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else {
        before.sa_handler(number);
    }
}

static bool is_function(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    return ((a->sa_flags ^ b->sa_flags) & SA_SIGINFO) == 0 &&
           ((a->sa_flags & SA_SIGINFO) != 0 ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler);
}

static bool is_default(const binding_state *state)
{
    PyObject *const handler = PyObject_CallFunctionObjArgs(state->get_signal, state->signal_number, NULL);
    const bool is = handler != NULL && handler == state->interrupt_handler;
    PyErr_Clear();
    Py_XDECREF(handler);
    return is;
}

// Installs our handler. Returns true if it is installed.
static bool install(void)
{
    struct timespec now;
    struct sigaction own, current;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (installed && time - looked < LOOK) {
        return true;
    }
    looked = time;
    memset(&own, 0, sizeof own);
    own.sa_sigaction = handle;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&own.sa_mask);
    if (sigaction(SIGINT, NULL, &current) != 0) {
        return installed = false;
    }
    if (is_same(&current, &own)) {
        return installed = true;
    }
    if (!is_function(&current) || (is_function(&before) && !is_same(&current, &before))) {
        return installed = false;
    }
    before = current;
    return installed = sigaction(SIGINT, &own, NULL) == 0;
}

bool interrupt_begin(const binding_state *state, taper_session *session)
{
    if (PyThread_get_thread_ident() != state->main_thread || !is_default(state) || !install()) {
        return false;
    }
    atomic_store(&asked, false);
    atomic_store(&running, session);
    return true;
}

bool interrupt_asked(void)
{
    return atomic_load(&asked);
}

void interrupt_end(void)
{
    atomic_store(&running, NULL);
}

void interrupt_forget(void)
{
    atomic_store(&running, NULL);
}
