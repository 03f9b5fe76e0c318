// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/call/packs_lending.h in small builds, which do not lend memory to packs.
#ifndef TAPER_OPS_CALL_PACKS_LENDING_H
#define TAPER_OPS_CALL_PACKS_LENDING_H

static inline bool has_lending(const taper_packs *packs)
{
    (void)packs;
    return false;
}

static inline void give_back(taper_packs *packs)
{
    (void)packs;
}

static inline void drop_lending(taper_packs *packs)
{
    (void)packs;
}

static inline void *take_lending(taper_packs *packs, size_t bytes)
{
    (void)packs, (void)bytes;
    return NULL;
}

static inline bool is_there(const taper_kept_pack *kept)
{
    (void)kept;
    return true;
}

static inline void begin_there(taper_kept_pack *kept, bool there)
{
    (void)kept, (void)there;
}

static inline void say_there(taper_kept_pack *kept)
{
    (void)kept;
}

static inline bool is_lent_alone(const taper_run *run, const taper_kept_pack *kept)
{
    (void)run, (void)kept;
    return false;
}

static inline taper_pack alone(taper_packs *packs, void *lent, size_t bytes)
{
    (void)packs, (void)lent;
    return (taper_pack){.bytes = bytes};
}

static inline bool is_lent(const taper_pack *pack)
{
    (void)pack;
    return false;
}

static inline bool is_none(const taper_kept_pack *kept)
{
    (void)kept;
    return false;
}

#endif
