// SPDX-License-Identifier: BSD-2-Clause
// Part of prepared.h: what is prepared of a pack that is lent waits until that lies where it stays.
#ifndef TAPER_OPS_CALL_PREPARED_WAITS_H
#define TAPER_OPS_CALL_PREPARED_WAITS_H

// What was prepared last, if anything, reads this pack, where it lies.
static inline void taper_prepared_reads(taper_call *call, const taper_pack *pack)
{
    if (call->prepared != NULL && *call->prepared != NULL) {
        (*call->prepared)->waits = pack->is_there;
    }
}
// Whether it cannot run yet.
static inline bool taper_prepared_waits(taper_prepared *prepared)
{
    if (prepared->waits != NULL && atomic_load_explicit(prepared->waits, memory_order_acquire)) {
        prepared->waits = NULL;
    }
    return prepared->waits != NULL;
}

// Whether what is prepared waited for something that is there now.
static inline bool taper_prepared_waited(const taper_prepared *prepared)
{
    return prepared != NULL && prepared->waits != NULL;
}

// Whether a pack may lie elsewhere than where it stays. NULL: there is none.
static inline bool taper_prepared_moves(const taper_pack *pack)
{
    return pack != NULL;
}

#endif
