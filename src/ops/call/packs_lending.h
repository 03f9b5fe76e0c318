// SPDX-License-Identifier: BSD-2-Clause
// A part of packs.c: memory that is lent to packs until they are requested a second time.
#ifndef TAPER_OPS_CALL_PACKS_LENDING_H
#define TAPER_OPS_CALL_PACKS_LENDING_H

static bool has_lending(const taper_packs *packs)
{
    return atomic_load_explicit(&packs->lending.is_there, memory_order_relaxed);
}

static void give_back(taper_packs *packs)
{
    packs->lending.taken = false;
}

static void drop_lending(taper_packs *packs)
{
    if (!packs->lending.taken) {
        taper_free(&packs->allocator, packs->lending.raw, packs->lending.bytes);
        packs->lending.raw = NULL;
        packs->lending.bytes = 0;
        atomic_store_explicit(&packs->lending.is_there, false, memory_order_relaxed);
    }
}

// Returns memory to lend to a pack. Returns NULL if the pack needs only few pages, if the memory is lent already, or if
// memory is missing.
static void *take_lending(taper_packs *packs, size_t bytes)
{
    enum { LEAST_LENT = 1 << 16, LEAST_BYTES = 1 << 20 };
    const size_t raw = bytes + TAPER_OVERREAD + TAPER_ALIGNMENT;
    if (packs->lending.taken || bytes < LEAST_LENT) {
        return NULL;
    }
    if (packs->lending.bytes < raw) {
        const size_t more = taper_max_size(raw, taper_max_size(LEAST_BYTES, 2 * packs->lending.bytes));
        // Growing the block keeps the pages that are already in memory.
        void *grown = taper_realloc(&packs->allocator, packs->lending.raw, packs->lending.bytes, more);
        if (grown == NULL) {
            return NULL;
        }
        packs->lending.raw = grown;
        packs->lending.bytes = more;
        atomic_store_explicit(&packs->lending.is_there, true, memory_order_relaxed);
    }
    packs->lending.taken = true;
    return (void *)taper_round_up((uintptr_t)packs->lending.raw, TAPER_ALIGNMENT);
}

// Returns true if the kept pack is filled.
static bool is_there(const taper_kept_pack *kept)
{
    return atomic_load_explicit(&kept->is_there, memory_order_relaxed);
}

static void begin_there(taper_kept_pack *kept, bool there)
{
    atomic_init(&kept->is_there, there);
}

static void say_there(taper_kept_pack *kept)
{
    atomic_store_explicit(&kept->is_there, true, memory_order_release);
}

// Returns true if the run may keep only packs that are already filled, and this pack is not filled.
static bool is_lent_alone(const taper_run *run, const taper_kept_pack *kept)
{
    return run->stands_in && (kept == NULL || !is_there(kept));
}

static taper_pack alone(taper_packs *packs, void *lent, size_t bytes)
{
    return (taper_pack){.data = lent, .bytes = bytes, .is_there = &packs->lending.never};
}

static bool is_lent(const taper_pack *pack)
{
    return pack->is_there != NULL;
}

// Returns true if get_kept (packs.c) returned no pack of the cache, because the run may keep only packs that are
// already filled.
static bool is_none(const taper_kept_pack *kept)
{
    return kept == NULL;
}

#endif
