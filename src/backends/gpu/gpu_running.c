// SPDX-License-Identifier: BSD-2-Clause
// Runs recordings, on the device or node by node on the CPU, and measures which of the two is faster.
#include "backends/gpu/gpu_recording.h"

#include "backends/gpu/gpu_kept.h"
#include "backends/gpu/gpu_log.h"
#include "platform/platform.h"
#include "platform/threads.h"

static taper_status run(const taper_segment *segment, taper_call *call, taper_gpu_recording *r)
{
    if (r->refused) {
        call->run->why = "its results were not the CPU's";
        return TAPER_DECLINED;
    }
    if (r->waits) {
        TAPER_TRY(taper_gpu_stop_waiting(segment, call, r));
    }
    if (!r->checked) {
        return taper_gpu_check(segment, call, r);
    }
    if (segment->required) {
        return taper_gpu_run_device(segment, call, r);
    }
    if (taper_trial_is_plain(&r->trial)) {
        call->run->why = r->trial.phase == TAPER_TRIAL_TAKES_PLAIN ? taper_gpu_was_slower : NULL;
        return TAPER_DECLINED;
    }
    const double begin = taper_clock();
    TAPER_TRY(taper_gpu_run_device(segment, call, r));
    call->run->replan |= taper_trial_device(&r->trial, taper_clock() - begin);
    return TAPER_OK;
}

taper_status taper_gpu_run(const taper_segment *segment, taper_call *call, void *recording)
{
    const taper_status status = run(segment, call, recording);
    if (status == TAPER_DECLINED && call->run->why == taper_gpu_no_such_index && segment->required) {
        return taper_segment_run_plain(segment, NULL, call); // the nodes, run one by one on the CPU, report the error
    }
    return status;
}

// The outcome of a comparison is stored for later processes if the ratio of the shorter time to the longer time is
// below this number.
static const double clearly = 0.7;

void taper_gpu_measured(const taper_segment *segment, taper_run *run, void *recording, double seconds)
{
    taper_gpu_recording *r = recording;
    if (!r->refused && taper_trial_plain(&r->trial, seconds)) {
        const bool plain = taper_trial_is_plain(&r->trial);
        taper_gpu_state *s = segment->device->state;
        const taper_gpu_estimate measured = {r->trial.device, r->trial.plain};
        taper_mutex_lock(s->lock);
        taper_gpu_estimate_learn(s, &r->estimate, &measured);
        taper_gpu_keep_learned(s, segment->device->cache_dir);
        taper_mutex_unlock(s->lock);
        run->replan |= !plain;
        const double fast = plain ? r->trial.plain : r->trial.device, slow = plain ? r->trial.device : r->trial.plain;
        if (fast < clearly * slow) {
            taper_gpu_keep_faster(segment->device->cache_dir, r->trial_hash, plain);
        }
        taper_gpu_say(segment, run, TAPER_LOG_INFO,
                      "%s runs this segment from now on: the device took %.3f ms, the CPU %.3f ms",
                      plain ? "the CPU" : "the device", r->trial.device * 1e3, r->trial.plain * 1e3);
    }
}
