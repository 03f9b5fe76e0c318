// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/call/prepared_waits.h in small builds, which do not lend memory to packs, so no call waits.
#ifndef TAPER_OPS_CALL_PREPARED_WAITS_H
#define TAPER_OPS_CALL_PREPARED_WAITS_H

static inline void taper_prepared_reads(taper_call *call, const taper_pack *pack)
{
    (void)call, (void)pack;
}

static inline bool taper_prepared_waits(taper_prepared *prepared)
{
    (void)prepared;
    return false;
}

static inline bool taper_prepared_waited(const taper_prepared *prepared)
{
    (void)prepared;
    return false;
}

static inline bool taper_prepared_moves(const taper_pack *pack)
{
    (void)pack;
    return false;
}

#endif
