// SPDX-License-Identifier: BSD-2-Clause
// A part of prepared.h: a call that was prepared with a lent pack waits until the pack is at its permanent address.
#ifndef TAPER_OPS_CALL_PREPARED_WAITS_H
#define TAPER_OPS_CALL_PREPARED_WAITS_H

// Makes the prepared call of this instruction, if there is one, wait until this pack is at its permanent address.
static inline void taper_prepared_reads(taper_call *call, const taper_pack *pack)
{
    if (call->prepared != NULL && *call->prepared != NULL) {
        (*call->prepared)->waits = pack->is_there;
    }
}
// Returns true if the prepared call cannot run yet.
static inline bool taper_prepared_waits(taper_prepared *prepared)
{
    if (prepared->waits != NULL && atomic_load_explicit(prepared->waits, memory_order_acquire)) {
        prepared->waits = NULL;
    }
    return prepared->waits != NULL;
}

// Returns true if the prepared call waited for a pack that is now at its permanent address.
static inline bool taper_prepared_waited(const taper_prepared *prepared)
{
    return prepared != NULL && prepared->waits != NULL;
}

// Returns true if the pack's data may not be at its permanent address. pack may be NULL if there is no pack.
static inline bool taper_prepared_moves(const taper_pack *pack)
{
    return pack != NULL;
}

#endif
