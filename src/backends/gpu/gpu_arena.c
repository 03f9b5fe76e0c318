// SPDX-License-Identifier: BSD-2-Clause
// Assigns offsets to memories. A memory is the range of bytes of a tensor or of constants (taper_gpu_memory). Memories
// that are used only within the run share an arena: the largest is placed first, and each is placed in the lowest gap
// that is free for its whole lifetime. While the arena exceeds the bytes that are in use at once, the topmost memory is
// moved to the front of the order and all are placed again, a few times. This file also finds the dispatches that must
// wait for others. It compares offsets, because two memories that share bytes also force a dispatch to wait.
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/gpu_program.h"

static void note_lives(taper_gpu_program *p)
{
    for (size_t i = 0; i < p->work_count; i++) {
        for (size_t b = 0; b < TAPER_GPU_BINDINGS; b++) {
            const uint32_t number = p->works[i].buffers[b];
            if (number != TAPER_GPU_NONE) {
                taper_gpu_memory *m = &p->memories[number];
                m->first = m->first == TAPER_GPU_NONE ? (uint32_t)i : m->first;
                m->last = (uint32_t)i;
            }
        }
    }
}

static uint64_t rounded(uint64_t bytes, uint64_t align)
{
    return (bytes + align - 1) / align * align;
}

static int by_size(const void *a, const void *b)
{
    const taper_gpu_memory *x = *(taper_gpu_memory *const *)a, *y = *(taper_gpu_memory *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : (x > y) - (x < y);
}

static bool meet(const taper_gpu_memory *a, const taper_gpu_memory *b)
{
    return a->first <= b->last && b->first <= a->last;
}

// Places m at the lowest offset where it overlaps no memory that is already placed. The array `placed` is sorted by
// offset.
static void place_one(taper_gpu_memory *m, taper_gpu_memory **placed, size_t count, uint64_t align)
{
    m->offset = 0;
    for (size_t i = 0; i < count; i++) {
        if (meet(m, placed[i]) && m->offset < placed[i]->offset + rounded(placed[i]->bytes, align)) {
            if (placed[i]->offset >= m->offset + rounded(m->bytes, align)) {
                break;
            }
            m->offset = placed[i]->offset + rounded(placed[i]->bytes, align);
        }
    }
    size_t at = count; // inserts m so that the array remains sorted
    for (; at > 0 && placed[at - 1]->offset > m->offset; at--) {
        placed[at] = placed[at - 1];
    }
    placed[at] = m;
}

// Returns the largest number of bytes that are in use at the same time. The arena cannot be smaller.
static uint64_t most_at_once(taper_gpu_memory *const *sorted, size_t count, uint64_t align)
{
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) { // number of bytes in use at the first use of memory i
        uint64_t here = 0;
        for (size_t k = 0; k < count; k++) {
            const bool lives = sorted[k]->first <= sorted[i]->first && sorted[i]->first <= sorted[k]->last;
            here += lives ? rounded(sorted[k]->bytes, align) : 0;
        }
        most = here > most ? here : most;
    }
    return most;
}

// Places all memories in the order of `sorted`. Returns the size of the arena. *top is the index of the memory that
// ends at the end of the arena.
static uint64_t place_all(taper_gpu_memory **sorted, taper_gpu_memory **placed, size_t count, uint64_t align,
                          size_t *top)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        place_one(sorted[i], placed, i, align);
        const uint64_t end = sorted[i]->offset + rounded(sorted[i]->bytes, align);
        if (end > bytes) {
            bytes = end;
            *top = i;
        }
    }
    return bytes;
}

// Places the memories in several orders, and returns the size of the smallest arena. `kept` has room for `count`
// pointers and receives the order that gave this size.
static uint64_t place_well(taper_gpu_memory **sorted, taper_gpu_memory **placed, taper_gpu_memory **kept, size_t count,
                           uint64_t align)
{
    const double steps = 4e6; // budget of comparisons: a few milliseconds
    const double tries = steps / ((double)count * (double)count + 1);
    const uint64_t least = most_at_once(sorted, count, align);
    uint64_t best = UINT64_MAX;
    size_t top = 0;
    for (int i = 0; i < 32 && (i == 0 || i < tries) && best > least; i++) {
        const uint64_t bytes = place_all(sorted, placed, count, align, &top);
        if (bytes < best) {
            best = bytes;
            memcpy(kept, sorted, count * sizeof *sorted);
        }
        taper_gpu_memory *const first = sorted[top];
        memmove(sorted + 1, sorted, top * sizeof *sorted);
        sorted[0] = first;
    }
    return place_all(kept, placed, count, align, &top);
}

taper_status taper_gpu_program_place(taper_gpu_program *p, uint64_t align, bool alias)
{
    const size_t room = p->memory_count + 1, bytes = 3 * room * sizeof(taper_gpu_memory *);
    taper_gpu_memory **sorted = taper_alloc(p->allocator, bytes);
    if (sorted == NULL) {
        return taper_fail_memory(p->error);
    }
    size_t count = 0;
    note_lives(p);
    for (size_t i = 0; i < p->memory_count; i++) {
        taper_gpu_memory *m = &p->memories[i];
        if (m->place == TAPER_GPU_ARENA && alias && m->first != TAPER_GPU_NONE) {
            sorted[count++] = m;
        } else if (m->place != TAPER_GPU_WEIGHTS) {
            m->offset = p->bytes[m->place];
            p->bytes[m->place] += rounded(m->bytes, align);
        }
    }
    if (count != 0) {
        qsort(sorted, count, sizeof *sorted, by_size);
        const uint64_t end = place_well(sorted, sorted + room, sorted + 2 * room, count, align);
        p->bytes[TAPER_GPU_ARENA] = end > p->bytes[TAPER_GPU_ARENA] ? end : p->bytes[TAPER_GPU_ARENA];
    }
    taper_free(p->allocator, sorted, bytes);
    return TAPER_OK;
}

static bool overlap(const taper_gpu_memory *a, const taper_gpu_memory *b)
{
    return a->place == b->place && a->place != TAPER_GPU_WEIGHTS && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

bool taper_gpu_needs_barrier(const taper_gpu_program *p, size_t since, size_t i)
{
    const taper_gpu_work *w = &p->works[i];
    for (size_t before = since; before < i; before++) {
        const taper_gpu_work *other = &p->works[before];
        for (size_t a = 0; a < TAPER_GPU_BINDINGS; a++) {
            for (size_t b = 0; b < TAPER_GPU_BINDINGS; b++) {
                const bool both = w->buffers[a] != TAPER_GPU_NONE && other->buffers[b] != TAPER_GPU_NONE;
                if (both && (a == 0 || b == 0) &&
                    overlap(&p->memories[w->buffers[a]], &p->memories[other->buffers[b]])) {
                    // Two dispatches that write to different regions of one buffer (the result of a join) need not wait
                    // for each other.
                    if (a == 0 && b == 0 && w->buffers[a] == other->buffers[b]) {
                        continue;
                    }
                    return true;
                }
            }
        }
    }
    return false;
}
