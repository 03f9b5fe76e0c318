// SPDX-License-Identifier: BSD-2-Clause
// Packs for later processes: decides when the file of packs (packs_file.h) is written, and in which thread.
#include "ops/call/packs.h"
#include "ops/call/packs_later.h"
#include "ops/call/packs_parts.h"

void taper_packs_use_file(taper_packs *packs, taper_packs_file *file)
{
    packs->keeping.file = file;
}

// Lists the packs to write. Packs do not move, so the list remains valid. Returns false if memory is missing.
static bool list_items(taper_packs *packs)
{
    taper_packs_keeping *k = &packs->keeping;
    const size_t most = packs->count + taper_packs_file_count(k->file);
    if (most > k->item_capacity) {
        taper_free(&packs->allocator, k->items, k->item_capacity * sizeof *k->items);
        k->items = taper_alloc(&packs->allocator, most * sizeof *k->items);
        k->item_capacity = k->items != NULL ? most : 0;
    }
    k->item_count = 0;
    if (k->items == NULL) {
        return false;
    }
    for (size_t i = 0; i < packs->bucket_count; i++) {
        for (const taper_kept_pack *kept = packs->buckets[i]; kept != NULL; kept = kept->next) {
            if (kept->name != NULL) {
                k->items[k->item_count++] = (taper_packs_item){kept->name, kept->pack.data, kept->pack.bytes, NULL};
            }
        }
    }
    k->item_count += taper_packs_file_unasked(k->file, &k->items[k->item_count]);
    k->written = k->made;
    return true;
}

static void write_items(void *user)
{
    taper_packs *packs = user;
    const char *problem = taper_packs_file_write(packs->keeping.file, packs->keeping.items, packs->keeping.item_count);
    taper_mutex_lock(packs->mutex);
    packs->keeping.problem = problem;
    taper_mutex_unlock(packs->mutex);
}

static void tell(void *user)
{
    const taper_packs *packs = user;
    taper_packs_file_tell(packs->keeping.file);
}

const char *taper_packs_keep_after_run(taper_packs *packs)
{
    taper_packs_keeping *k = &packs->keeping;
    const char *problem = k->problem;
    k->problem = NULL;
    const bool steady = k->made == k->made_before;
    k->made_before = k->made;
    // A thread is started only once. Packs that are made later (for other sizes, in other methods) are written when the
    // model is freed.
    if (steady && k->writer == NULL && k->made != 0 && k->written == 0 && list_items(packs)) {
        (void)taper_background_start(&packs->allocator, write_items, packs, &k->writer);
    } else if (steady && k->writer == NULL && k->made == 0 && taper_packs_file_take_news(k->file)) {
        (void)taper_background_start(&packs->allocator, tell, packs, &k->writer);
    }
    return problem;
}

const char *taper_packs_end(taper_packs *packs)
{
    if (packs == NULL || packs->keeping.file == NULL) {
        return NULL;
    }
    taper_packs_keeping *k = &packs->keeping;
    taper_background_join(k->writer);
    if ((k->made != k->written || (k->made != 0 && k->writer == NULL)) && list_items(packs)) {
        write_items(packs);
    }
    const char *problem = k->problem;
    taper_free(&packs->allocator, k->items, k->item_capacity * sizeof *k->items);
    taper_packs_file_close(k->file);
    *k = (taper_packs_keeping){0};
    return problem;
}
