// SPDX-License-Identifier: BSD-2-Clause
// Memory for packed weights (slabs.h), in large pieces called slabs. The first slab has 4 MB. Each further slab is
// twice as large as the slab before it, up to 64 MB. The host's allocator provides the slabs.
#include "ops/call/slabs.h"

#include "base/limits.h"

typedef struct taper_slab {
    struct taper_slab *next;
    char *data; // memory of `size` bytes, aligned
    size_t size, used;
    size_t touched; // bytes for which large pages were requested, rounded up to a whole large page
    void *raw;
    size_t raw_bytes;
} taper_slab;

enum { FIRST_SLAB = 4 << 20, LARGEST_SLAB = 64 << 20 };

static taper_slab *add(taper_slabs *slabs, size_t bytes)
{
    taper_slab *s = taper_alloc_zeroed(slabs->allocator, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    slabs->slab_bytes = slabs->slab_bytes == 0 ? FIRST_SLAB : taper_min_size(2 * slabs->slab_bytes, LARGEST_SLAB);
    s->size = taper_max_size(slabs->slab_bytes, bytes);
    s->raw_bytes = s->size + TAPER_ALIGNMENT;
    s->raw = taper_alloc(slabs->allocator, s->raw_bytes);
    if (s->raw == NULL) { // if a large piece is not available, tries a piece with only the needed bytes
        s->size = bytes;
        s->raw_bytes = bytes + TAPER_ALIGNMENT;
        s->raw = taper_alloc(slabs->allocator, s->raw_bytes);
    }
    if (s->raw == NULL) {
        taper_free(slabs->allocator, s, sizeof *s);
        return NULL;
    }
    s->data = (char *)taper_round_up((uintptr_t)s->raw, TAPER_ALIGNMENT);
    s->next = slabs->slabs;
    slabs->slabs = s;
    return s;
}

void *taper_slabs_alloc(taper_slabs *slabs, size_t bytes)
{
    bytes = taper_round_up(bytes + TAPER_OVERREAD, TAPER_ALIGNMENT);
    taper_slab *s = slabs->slabs;
    if (s == NULL || s->size - s->used < bytes) {
        s = add(slabs, bytes);
    }
    if (s == NULL) {
        return NULL;
    }
    void *data = s->data + s->used;
    s->used += bytes;
    slabs->bytes += bytes;
    return data;
}

void taper_slabs_touch(const taper_slabs *slabs, const void *data, size_t bytes)
{
    taper_slab *s = slabs->slabs;
    const uintptr_t at = (uintptr_t)data;
    while (at - (uintptr_t)s->data >= s->size) {
        s = s->next;
    }
    const uintptr_t begin = (uintptr_t)s->data;
    const size_t used = at + bytes - begin;
    if (used > s->touched) {
        const size_t end = taper_min_size(s->size, taper_round_up(begin + used, TAPER_LARGE_PAGE) - begin);
        taper_map_large(s->data + s->touched, end - s->touched);
        s->touched = end;
    }
}

void taper_slabs_undo(taper_slabs *slabs, const void *data)
{
    const size_t bytes = (size_t)(slabs->slabs->data + slabs->slabs->used - (const char *)data);
    slabs->slabs->used -= bytes;
    slabs->bytes -= bytes;
}

void taper_slabs_free(taper_slabs *slabs)
{
    while (slabs->slabs != NULL) {
        taper_slab *old = slabs->slabs;
        slabs->slabs = old->next;
        taper_free(slabs->allocator, old->raw, old->raw_bytes);
        taper_free(slabs->allocator, old, sizeof *old);
    }
}
