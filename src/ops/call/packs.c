// SPDX-License-Identifier: BSD-2-Clause
// Each model has a cache of packs (packs.h), which is a hash table. The table only grows, and a mutex guards it. An
// instruction remembers its pack with the identity of the tensors that the pack was made from, so most runs take no
// lock. The identity of a model's tensor is its storage in the model (origin), its offset and its geometry (dtype,
// sizes, strides). A storage that a session has written to has no origin any more.
//
// New memory takes longer than packing: the first accesses to its pages take half of ResNet50's first run. So the first
// call that requests a pack gets it in lent memory, which then goes to the next pack. The permanent memory of the pack
// is allocated, but not touched. The second request gets the pack in its permanent memory.
#include "ops/call/packs.h"

#include "base/hash.h"
#include "ops/call/packs_parts.h"
#include "ops/call/parallel.h"

taper_status taper_packs_create(const taper_allocator *allocator, taper_packs **packs, taper_error *error)
{
    *packs = taper_alloc_zeroed(allocator, sizeof **packs);
    if (*packs == NULL) {
        return taper_fail_memory(error);
    }
    (*packs)->allocator = *allocator;
    (*packs)->slabs.allocator = &(*packs)->allocator;
    const taper_status status = taper_mutex_create(allocator, &(*packs)->mutex, error);
    if (status != TAPER_OK) {
        taper_packs_destroy(*packs);
        *packs = NULL;
    }
    return status;
}

static void drop(taper_packs *packs, taper_kept_pack *kept)
{
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        if (kept->holders[i] != NULL) {
            taper_obj_release(&kept->holders[i]->head);
        }
    }
    taper_free(&packs->allocator, kept->name, kept->name != NULL ? sizeof *kept->name : 0);
    taper_free(&packs->allocator, kept, sizeof *kept);
}

#include "ops/call/packs_later.h"
#include "ops/call/packs_lending.h"

const char *taper_packs_after_run(taper_packs *packs)
{
    const char *problem = NULL;
    if (packs == NULL) {
        return NULL;
    }
    const bool lends = has_lending(packs);
    const bool keeps = taper_packs_has_file(packs);
    if (lends || keeps) { // most runs take no lock
        taper_mutex_lock(packs->mutex);
        drop_lending(packs);
        problem = keeps ? taper_packs_keep_after_run(packs) : NULL;
        taper_mutex_unlock(packs->mutex);
    }
    return problem;
}

void taper_packs_destroy(taper_packs *packs)
{
    if (packs == NULL) {
        return;
    }
    (void)taper_packs_end(packs);
    for (size_t i = 0; i < packs->bucket_count; i++) {
        while (packs->buckets[i] != NULL) {
            taper_kept_pack *kept = packs->buckets[i];
            packs->buckets[i] = kept->next;
            drop(packs, kept);
        }
    }
    taper_free(&packs->allocator, packs->buckets, packs->bucket_count * sizeof *packs->buckets);
    give_back(packs);
    drop_lending(packs);
    taper_slabs_free(&packs->slabs);
    taper_mutex_destroy(packs->mutex);
    const taper_allocator allocator = packs->allocator;
    taper_free(&allocator, packs, sizeof *packs);
}

void taper_packs_belong(taper_packs *packs, const taper_heap *heap)
{
    packs->heap = heap;
}

size_t taper_packs_bytes(const taper_packs *packs)
{
    if (packs == NULL) {
        return 0;
    }
    taper_mutex_lock(packs->mutex);
    const size_t bytes = packs->slabs.bytes + packs->mapped_bytes;
    taper_mutex_unlock(packs->mutex);
    return bytes;
}

static bool make_key(const taper_packs *packs, const taper_pack_request *request, taper_pack_key *key)
{
    memset(key, 0, sizeof *key);
    key->kind = request->kind;
    memcpy(key->numbers, request->numbers, sizeof key->numbers);
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        const taper_tensor *t = request->tensors[i];
        if (t == NULL) {
            continue;
        }
        if (t->storage->kind != TAPER_STORAGE_SHARED || t->storage->origin->head.heap != packs->heap) {
            return false;
        }
        key->tensors[i] = (taper_pack_tensor_key){t->storage->origin, t->offset, taper_pack_geometry(t)};
    }
    return true;
}

static size_t bucket_of(const taper_pack_key *key, size_t bucket_count)
{
    uint64_t hash = (uintptr_t)key->kind;
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        hash =
            taper_hash_mix(taper_hash_mix(hash, (uintptr_t)key->tensors[i].origin), (uint64_t)key->tensors[i].offset);
    }
    return (size_t)(hash >> 32) & (bucket_count - 1);
}

// Doubles the number of buckets, or allocates the first buckets. If memory is missing, the table does not change.
static void grow(taper_packs *packs)
{
    const size_t count = packs->bucket_count == 0 ? 64 : 2 * packs->bucket_count;
    taper_kept_pack **buckets = taper_alloc_zeroed(&packs->allocator, count * sizeof *buckets);
    for (size_t i = 0; buckets != NULL && i < packs->bucket_count; i++) {
        while (packs->buckets[i] != NULL) {
            taper_kept_pack *kept = packs->buckets[i], **bucket = &buckets[bucket_of(&kept->key, count)];
            packs->buckets[i] = kept->next;
            kept->next = *bucket;
            *bucket = kept;
        }
    }
    if (buckets != NULL) {
        taper_free(&packs->allocator, packs->buckets, packs->bucket_count * sizeof *buckets);
        packs->buckets = buckets;
        packs->bucket_count = count;
    }
}

static taper_kept_pack *find(taper_packs *packs, const taper_pack_key *key)
{
    if (packs->bucket_count == 0) {
        return NULL;
    }
    for (taper_kept_pack *kept = packs->buckets[bucket_of(key, packs->bucket_count)]; kept != NULL; kept = kept->next) {
        if (memcmp(&kept->key, key, sizeof *key) == 0) {
            return kept;
        }
    }
    return NULL;
}

typedef struct filling {
    const taper_pack_request *request;
    void *data;
} filling;

static void fill_range(void *argument, size_t begin, size_t end)
{
    const filling *f = argument;
    f->request->fill_parts(f->request, f->data, begin, end);
}

// Runs a task while other threads wait for the lock. While this thread waits for a host's pool, the host may run
// another session in it, which would wait for the same lock forever. So only the library's own threads are used.
static taper_status on_our_threads(taper_run *run, taper_range_task task, void *argument, size_t parts, double floats)
{
    if (taper_pool_is_hosts(run->pool)) {
        task(argument, 0, parts);
        return TAPER_OK;
    }
    return taper_run_range(run, task, argument, parts, 1, taper_floats_work(floats));
}

static taper_status fill(taper_run *run, const taper_pack_request *request, void *data)
{
    filling f = {request, data};
    if (request->fill != NULL) {
        request->fill(request, data);
    }
    // nanoseconds: each float is read, reordered and written
    const double floats = 4.0 * (double)(request->bytes / sizeof(float));
    return request->parts != 0 ? on_our_threads(run, fill_range, &f, request->parts, floats) : TAPER_OK;
}

typedef struct summing {
    const void *data;
    size_t bytes;
    atomic_ullong sum;
} summing;

static void sum_range(void *argument, size_t begin, size_t end)
{
    summing *s = argument;
    (void)atomic_fetch_add_explicit(&s->sum, taper_packs_sum(s->data, s->bytes, begin, end), memory_order_relaxed);
}

// Gives the pack a name if a file of packs may contain it, and looks for the pack in the model's file of packs.
static taper_status look_up(taper_run *run, const taper_pack_request *request, taper_kept_pack *kept, void **found)
{
    taper_packs *packs = run->packs;
    taper_packs_keeping *k = &packs->keeping;
    *found = NULL;
    kept->name = taper_packs_has_file(packs) ? taper_alloc(&packs->allocator, sizeof *kept->name) : NULL;
    if (kept->name == NULL) {
        return TAPER_OK;
    }
    if (!taper_packs_file_name(k->file, request, kept->name)) {
        taper_free(&packs->allocator, kept->name, sizeof *kept->name);
        kept->name = NULL;
        return TAPER_OK;
    }
    taper_packs_entry entry;
    void *data = taper_packs_file_find(k->file, kept->name, request->bytes, &entry);
    if (data != NULL && !entry.checked) {
        summing s = {.data = data, .bytes = request->bytes};
        atomic_init(&s.sum, 0u);
        TAPER_TRY(on_our_threads(run, sum_range, &s, taper_packs_parts(request->bytes), (double)request->bytes / 8));
        if (atomic_load_explicit(&s.sum, memory_order_relaxed) == entry.sum) {
            taper_packs_file_good(k->file, &entry);
        } else {
            data = NULL;
        }
    }
    *found = data;
    k->made += *found == NULL;
    packs->mapped_bytes += *found != NULL ? request->bytes : 0;
    return TAPER_OK;
}

static taper_status fill_at(taper_run *run, const taper_pack_request *request, void *data)
{
    TAPER_TRY(fill(run, request, data));
    memset((char *)data + request->bytes, 0, TAPER_OVERREAD);
    return TAPER_OK;
}

// Fills the pack in its permanent memory.
static taper_status fill_kept(taper_run *run, const taper_pack_request *request, taper_kept_pack *kept)
{
    taper_slabs_touch(&run->packs->slabs, kept->pack.data, request->bytes);
    TAPER_TRY(fill_at(run, request, kept->pack.data));
    say_there(kept);
    return TAPER_OK;
}

// Allocates a pack's permanent memory, and fills the pack there or in lent memory (*lent).
static taper_status make_new(taper_run *run, const taper_pack_request *request, taper_kept_pack *kept, void **lent)
{
    taper_packs *packs = run->packs;
    kept->pack.data = taper_slabs_alloc(&packs->slabs, request->bytes);
    if (kept->pack.data == NULL) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "out of memory: packed weights of %zu bytes",
                          request->bytes);
    }
    // A pack for a file gets no lent memory. It must be filled in its permanent memory, because it will be written.
    *lent = packs->keeping.file == NULL ? take_lending(packs, request->bytes) : NULL;
    const taper_status status = *lent != NULL ? fill_at(run, request, *lent) : fill_kept(run, request, kept);
    if (status != TAPER_OK) {
        taper_slabs_undo(&packs->slabs, kept->pack.data);
        if (*lent != NULL) {
            give_back(packs);
        }
    }
    return status;
}

static taper_status make(taper_run *run, const taper_pack_request *request, const taper_pack_key *key,
                         taper_kept_pack **made, void **lent)
{
    taper_packs *packs = run->packs;
    taper_kept_pack *kept = *made = taper_alloc_zeroed(&packs->allocator, sizeof *kept);
    if (kept == NULL) {
        return taper_fail_memory(run->error);
    }
    const size_t made_before = packs->keeping.made;
    taper_status status = look_up(run, request, kept, &kept->pack.data);
    begin_there(kept, kept->pack.data != NULL); // data is not NULL if the file contains the pack
    if (status == TAPER_OK && kept->pack.data == NULL) {
        status = make_new(run, request, kept, lent);
    }
    if (status != TAPER_OK) {
        packs->keeping.made = made_before;
        drop(packs, kept);
        return status;
    }
    kept->key = *key;
    kept->pack = (taper_pack){kept->pack.data, request->bytes, true, kept->pack.data, NULL};
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        if (request->tensors[i] != NULL) {
            kept->holders[i] = request->tensors[i]->storage->origin;
            taper_obj_retain(&kept->holders[i]->head);
        }
    }
    return TAPER_OK;
}

// Drops the pages of our own mapping of a file that were read only for packing. Memory of the host is not touched,
// because it would lose its content permanently.
static void unneeded(const taper_pack_request *request)
{
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        const taper_tensor *t = request->tensors[i];
        if (t != NULL && t->storage->origin->kind == TAPER_STORAGE_FILE && t->storage->bytes > (size_t)1 << 16) {
            taper_map_unneeded(t->storage->data, t->storage->bytes);
        }
    }
}

// Makes a new pack and adds it to the table.
static taper_status keep(taper_run *run, const taper_pack_request *request, const taper_pack_key *key,
                         taper_kept_pack **kept, void **lent)
{
    taper_packs *packs = run->packs;
    if (packs->count >= packs->bucket_count) {
        grow(packs);
    }
    if (packs->bucket_count == 0) {
        return taper_fail_memory(run->error);
    }
    TAPER_TRY(make(run, request, key, kept, lent));
    taper_kept_pack **bucket = &packs->buckets[bucket_of(key, packs->bucket_count)];
    (*kept)->next = *bucket;
    *bucket = *kept;
    packs->count++;
    if (*lent == NULL) {
        unneeded(request);
    }
    return TAPER_OK;
}

// Fills a pack at its second request.
static taper_status keep_for_good(taper_run *run, const taper_pack_request *request, taper_kept_pack *kept)
{
    if (!is_there(kept)) {
        TAPER_TRY(fill_kept(run, request, kept));
        unneeded(request);
    }
    return TAPER_OK;
}

// Makes a pack only in lent memory. *lent is NULL if none is available now.
static taper_status lend_alone(taper_run *run, const taper_pack_request *request, void **lent)
{
    *lent = take_lending(run->packs, request->bytes);
    const taper_status status = *lent != NULL ? fill_at(run, request, *lent) : TAPER_OK;
    if (status != TAPER_OK) {
        give_back(run->packs);
    }
    return status;
}

// Returns a pack of the model's cache. *kept is NULL if the run may keep only packs that are already filled, and this
// pack is not; the pack is then in lent memory (*lent).
static taper_status get_kept(taper_run *run, const taper_pack_request *request, const taper_pack_key *key,
                             taper_kept_pack **kept, void **lent)
{
    *kept = find(run->packs, key);
    if (is_lent_alone(run, *kept)) {
        *kept = NULL;
        return lend_alone(run, request, lent);
    }
    return *kept != NULL ? keep_for_good(run, request, *kept) : keep(run, request, key, kept, lent);
}

bool taper_packs_keep(const taper_call *call, const taper_pack_request *request)
{
    taper_pack_key key;
    return call->run->packs != NULL && make_key(call->run->packs, request, &key);
}

// Makes a pack for one call.
static taper_status make_for_call(taper_call *call, const taper_pack_request *request, taper_pack *pack)
{
    taper_run *run = call->run;
    *pack = (taper_pack){.bytes = request->bytes};
    pack->data = taper_heap_alloc(run->heap, taper_max_size(request->bytes, 1024));
    if (pack->data == NULL) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "out of memory: packed weights of %zu bytes",
                          request->bytes);
    }
    const taper_status status = fill(run, request, pack->data);
    if (status != TAPER_OK) {
        taper_pack_done(call, pack);
    }
    return status;
}

taper_status taper_pack_get(taper_call *call, const taper_pack_request *request, taper_pack *pack)
{
    taper_run *run = call->run;
    if (request->bytes > (size_t)TAPER_LIMIT_TENSOR_BYTES) {
        TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "packed weights of %zu bytes are too large", request->bytes);
    }
    taper_pack_key key;
    if (run->packs == NULL || !make_key(run->packs, request, &key)) {
        return make_for_call(call, request, pack);
    }
    taper_kept_pack *kept = call->state != NULL ? *call->state : NULL;
    void *lent = NULL;
    if (kept == NULL || memcmp(&kept->key, &key, sizeof key) != 0) {
        taper_mutex_lock(run->packs->mutex);
        const taper_status status = get_kept(run, request, &key, &kept, &lent);
        taper_mutex_unlock(run->packs->mutex);
        TAPER_TRY(status);
        if (is_none(kept)) {
            *pack = alone(run->packs, lent, request->bytes);
            return lent != NULL ? TAPER_OK : make_for_call(call, request, pack);
        }
        if (call->state != NULL && lent == NULL) {
            *call->state = kept;
        }
    }
    *pack = kept->pack;
    if (lent != NULL) {
        pack->data = lent;
        pack->is_there = &kept->is_there;
    }
    return TAPER_OK;
}

void taper_pack_done(taper_call *call, taper_pack *pack)
{
    taper_packs *packs = call->run->packs;
    if (is_lent(pack)) {
        taper_mutex_lock(packs->mutex);
        give_back(packs);
        taper_mutex_unlock(packs->mutex);
    } else if (!pack->kept && pack->data != NULL) {
        taper_heap_free(call->run->heap, pack->data, taper_max_size(pack->bytes, 1024));
    }
    pack->data = NULL;
}
