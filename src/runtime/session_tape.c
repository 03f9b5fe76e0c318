// SPDX-License-Identifier: BSD-2-Clause
// Keeps the tape of a session.
#include "runtime/session.h"

#include "ops/gradient/tape.h"
#include "runtime/device.h"

taper_status taper_session_tape_create(taper_session *session, taper_error *error)
{
    if (!session->model->reference) {
        session->run.choose = taper_context_kernel;
        session->run.choose_context = session->model->context;
    }
    if (!session->model->takes_gradients) {
        return TAPER_OK;
    }
    taper_tape *const tape = taper_alloc_zeroed(&session->model->context->allocator, sizeof *tape);
    if (tape == NULL) {
        return taper_fail_memory(error);
    }
    tape->heap = session->heap;
    tape->keeps = session->model->keeps_gradients;
    tape->lock = tape->keeps ? session->model->context->gradient_lock : NULL;
    session->tape = session->run.tape = tape;
    return TAPER_OK;
}

void taper_session_tape_end(const taper_session *session)
{
    if (session->tape != NULL) {
        taper_tape_end(session->tape);
    }
}

void taper_session_tape_free(taper_session *session)
{
    if (session->tape != NULL) {
        taper_tape_end(session->tape);
        taper_free(&session->model->context->allocator, session->tape, sizeof *session->tape);
        session->tape = session->run.tape = NULL;
    }
}
