// SPDX-License-Identifier: BSD-2-Clause
// Replaces the code of recordings in a library for one model, which has no recordings. No run is traced or replayed.
#include "runtime/recording.h"

void taper_recorder_begin(taper_session *session)
{
    (void)session;
}

void taper_recorder_end(taper_session *session, taper_recording **where)
{
    (void)session, (void)where;
}

void taper_recorder_join(taper_session *session)
{
    (void)session;
}

void taper_recorder_trim(taper_session *session)
{
    (void)session;
}

void taper_recorder_before(taper_session *session)
{
    (void)session;
}

void taper_recorder_note(taper_session *session, const taper_program *program, const taper_instruction *in,
                         const taper_call *call, taper_status status)
{
    (void)session, (void)program, (void)in, (void)call, (void)status;
}

taper_status taper_recorder_replay(const taper_frame_source *source, taper_val *registers, taper_replayed *replayed)
{
    (void)source, (void)registers, (void)replayed;
    return TAPER_DECLINED;
}

void taper_recording_destroy(const taper_allocator *allocator, taper_heap *heap, taper_recording *recordings)
{
    (void)allocator, (void)heap, (void)recordings;
}
