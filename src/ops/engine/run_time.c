// SPDX-License-Identifier: BSD-2-Clause
// The time of a run: it charges the run for work, and ends the run on a cancellation or a spent time budget.
#include "base/budget.h"
#include "ops/engine/view_move.h"
#include <math.h>

// Charges the run and asks if it must end. Fails with the reason if so. ahead is the time of work that cannot be
// interrupted, in seconds.
static TAPER_COLD taper_status ask(taper_run *run, uint64_t work, double ahead)
{
    if (run->budget != NULL) {
        TAPER_TRY(taper_charge(taper_budget_allocator(run->budget), work, run->error));
    }
    const taper_status why = run->stop != NULL ? run->stop(run, ahead) : TAPER_OK;
    if (why == TAPER_ERROR_CANCELLED) {
        return taper_fail(run->error, why, "the run was cancelled");
    }
    return why == TAPER_OK
               ? why
               : taper_fail(run->error, why,
                            "the run was stopped: its time budget is spent; taper_session_options.time_budget or "
                            "--time-limit S raises it");
}

static TAPER_COLD taper_status spent(taper_run *run, uint64_t work)
{
    if (run->ended == TAPER_OK) {
        const uint64_t done = TAPER_WORK_BETWEEN - taper_min_u64(run->work_left, TAPER_WORK_BETWEEN);
        run->ended = ask(run, done + taper_min_u64(work, UINT64_MAX / 2), 0);
        // If work_left is 0, the next call for more work reaches this function again.
        run->work_left = run->ended == TAPER_OK ? TAPER_WORK_BETWEEN : 0;
    }
    return run->ended;
}

taper_status taper_run_spend(taper_run *run, uint64_t work)
{
    if (work < run->work_left) {
        run->work_left -= work;
        return TAPER_OK;
    }
    return spent(run, work);
}

bool taper_run_goes_on(taper_run *run, uint64_t work)
{
    return taper_run_spend(run, work) == TAPER_OK;
}

taper_status taper_run_commit(taper_run *run, double work)
{
    if (run->ended == TAPER_OK) {
        run->ended = ask(run, (uint64_t)fmin(work, 0x1p62), work * 1e-9);
        run->work_left = run->ended == TAPER_OK ? run->work_left : 0;
    }
    return run->ended;
}

taper_status taper_run_outcome(taper_run *run, taper_status status)
{
    enum { WORK_OF_A_CALL = 200 };
    if (taper_run_spend(run, WORK_OF_A_CALL) == TAPER_OK) {
        return status;
    }
    (void)ask(run, 0, 0); // replaces the error of a loop that ended early, because the reason is the end of the run
    return run->ended;
}
