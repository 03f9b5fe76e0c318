// SPDX-License-Identifier: BSD-2-Clause
// The file of checked packs, see packs_checked.h.
#include "ops/call/packs_checked.h"

#include <string.h>

#include "base/hash.h"

// A file that changes twice within one tick of the file system's clock looks unchanged. A file that was written less
// than SETTLED seconds before it was checked is therefore checked again. So is a file whose last check is a day old
// (A_DAY, in seconds). FAT's clock has ticks of two seconds.
enum { A_DAY = 24 * 60 * 60, SETTLED = 3, MAGIC_BYTES = 16 };

typedef struct head {
    char magic[MAGIC_BYTES];
    uint64_t file; // taper_kept_stamp.identity of the file of packs
    int64_t at;    // time of the check, in seconds since 1970
    uint64_t count, sum;
} head;

static const char magic[MAGIC_BYTES] = "Taper: checked\n";

static uint64_t sum_of(const head *h, const void *packs)
{
    return taper_hash(taper_hash(0, h, offsetof(head, sum)), packs, (size_t)h->count);
}

static bool holds(const taper_packs_checked *c, const head *h, const taper_mapping *mapping)
{
    const taper_kept_stamp *file = &c->file;
    // Each time is compared before it is subtracted, so both times of every difference are from 0 to now, and no
    // difference overflows.
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->file == file->identity && h->count == c->count &&
           mapping->size == sizeof *h + c->count && h->at >= file->changed && h->at <= file->now &&
           h->at - file->changed >= SETTLED && file->now - h->at < A_DAY &&
           sum_of(h, mapping->data + sizeof *h) == h->sum;
}

void taper_packs_checked_read(taper_packs_checked *c, const taper_allocator *allocator, const char *path,
                              const taper_kept_stamp *stamp, size_t count)
{
    taper_mapping mapping;
    *c = (taper_packs_checked){.file = *stamp, .packs = taper_alloc_zeroed(allocator, count)};
    c->count = c->packs != NULL ? count : 0;
    if (c->count == 0 || !taper_kept_map(path, &mapping, NULL)) {
        return;
    }
    head h;
    if (mapping.size >= sizeof h) {
        memcpy(&h, mapping.data, sizeof h);
        c->known = holds(c, &h, &mapping);
    }
    if (c->known) {
        memcpy(c->packs, mapping.data + sizeof h, count);
    }
    taper_unmap(&mapping);
}

void taper_packs_checked_free(taper_packs_checked *c, const taper_allocator *allocator)
{
    taper_free(allocator, c->packs, c->count);
    *c = (taper_packs_checked){0};
}

bool taper_packs_checked_take(taper_packs_checked *c)
{
    const bool news = c->count != 0 && !c->known && memchr(c->packs, 1, c->count) != NULL &&
                      c->file.now >= c->file.changed && c->file.now - c->file.changed >= SETTLED;
    c->known |= news;
    return news;
}

void taper_packs_checked_write(const taper_packs_checked *c, const char *path, const char *part)
{
    taper_kept_writer writer;
    head h = {.file = c->file.identity, .at = c->file.now, .count = c->count};
    memcpy(h.magic, magic, sizeof magic);
    h.sum = sum_of(&h, c->packs);
    if (taper_kept_begin(path, part, &writer) == TAPER_KEPT_BEGUN) {
        const bool whole = taper_kept_write(&writer, &h, sizeof h) && taper_kept_write(&writer, c->packs, c->count);
        (void)taper_kept_end(&writer, whole); // if the write fails, the next process checks again
    }
}
