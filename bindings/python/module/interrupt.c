// SPDX-License-Identifier: BSD-2-Clause
// Ctrl-C during a run in Python's main thread. Python looks at signals when it has the GIL again, which may be never: a
// model can loop for ever. So for the time of a run SIGINT is ours: it cancels the run and passes on to Python's
// handler, and the exception that this one raises follows the run. Where the program has a handler of its own for
// SIGINT, which need not mean the end of anything, the signal is left alone.
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

// A handler gets no argument. One run at a time: that of the main thread.
static _Atomic(taper_session *) running;
static atomic_bool asked;
static struct sigaction before;

static void handle(int number, siginfo_t *info, void *context)
{
    taper_session *const session = atomic_load(&running);
    if (session != NULL) {
        atomic_store(&asked, true);
        taper_session_cancel(session); // stores a flag
    }
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    }
}

static bool is_default(const binding_state *state)
{
    PyObject *const handler = PyObject_CallFunctionObjArgs(state->get_signal, state->signal_number, NULL);
    const bool is = handler != NULL && handler == state->interrupt_handler;
    PyErr_Clear();
    Py_XDECREF(handler);
    return is;
}

bool interrupt_begin(const binding_state *state, taper_session *session)
{
    if (PyThread_get_thread_ident() != state->main_thread || !is_default(state)) {
        return false;
    }
    struct sigaction own;
    memset(&own, 0, sizeof own);
    own.sa_sigaction = handle;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&own.sa_mask);
    atomic_store(&asked, false);
    atomic_store(&running, session);
    if (sigaction(SIGINT, &own, &before) != 0) {
        atomic_store(&running, NULL);
        return false;
    }
    return true;
}

bool interrupt_asked(void)
{
    return atomic_load(&asked);
}

void interrupt_end(void)
{
    (void)sigaction(SIGINT, &before, NULL);
    atomic_store(&running, NULL);
}
