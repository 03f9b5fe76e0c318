// SPDX-License-Identifier: BSD-2-Clause
// The cache is a hash table per model that only grows, guarded by a mutex. An instruction remembers its pack with the
// identity of the tensors it was made from, so the usual run takes no lock. Identity of a model's tensor is its storage
// in the model (origin), offset and strides; storages that a session wrote to have no origin any more.
#include "ops/call/packs.h"

#include "ops/call/parallel.h"
#include "platform/platform.h"

typedef struct tensor_key {
    const taper_storage *origin;
    int64_t offset;
    uint64_t geometry; // hash of dtype, sizes and strides
} tensor_key;

typedef struct pack_key {
    const void *kind;
    tensor_key tensors[TAPER_PACK_TENSORS];
    int64_t numbers[TAPER_PACK_NUMBERS];
} pack_key;

// Packs lie one behind the other in slabs; what is not used of a slab is never touched. No large pages are asked for:
// where memory is fragmented the kernel compacts it at the first touch, which cost a first run of ResNet50 more than it
// saved.
typedef struct slab {
    struct slab *next;
    char *data; // of size bytes, aligned
    size_t size, used;
    void *raw;
    size_t raw_bytes;
} slab;

enum { FIRST_SLAB = 4 << 20, LARGEST_SLAB = 64 << 20 };

typedef struct kept_pack {
    struct kept_pack *next; // in its bucket
    pack_key key;
    taper_pack pack;
    taper_storage *holders[TAPER_PACK_TENSORS]; // references: an address in a key is not reused while the pack lives
} kept_pack;

struct taper_packs {
    taper_allocator allocator;
    taper_mutex *mutex;
    const taper_heap *heap; // of the model's values
    kept_pack **buckets;    // by hash of the key; as many as there are packs, or twice
    size_t count, bucket_count;
    slab *slabs;       // the one in use first
    size_t slab_bytes; // of the next one
    size_t bytes;
};

taper_status taper_packs_create(const taper_allocator *allocator, taper_packs **packs, taper_error *error)
{
    *packs = taper_alloc_zeroed(allocator, sizeof **packs);
    if (*packs == NULL) {
        return taper_fail_memory(error);
    }
    (*packs)->allocator = *allocator;
    const taper_status status = taper_mutex_create(allocator, &(*packs)->mutex, error);
    if (status != TAPER_OK) {
        taper_packs_destroy(*packs);
        *packs = NULL;
    }
    return status;
}

static void drop(taper_packs *packs, kept_pack *kept)
{
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        if (kept->holders[i] != NULL) {
            taper_obj_release(&kept->holders[i]->head);
        }
    }
    taper_free(&packs->allocator, kept, sizeof *kept);
}

void taper_packs_destroy(taper_packs *packs)
{
    if (packs == NULL) {
        return;
    }
    for (size_t i = 0; i < packs->bucket_count; i++) {
        while (packs->buckets[i] != NULL) {
            kept_pack *kept = packs->buckets[i];
            packs->buckets[i] = kept->next;
            drop(packs, kept);
        }
    }
    taper_free(&packs->allocator, packs->buckets, packs->bucket_count * sizeof *packs->buckets);
    while (packs->slabs != NULL) {
        slab *old = packs->slabs;
        packs->slabs = old->next;
        taper_free(&packs->allocator, old->raw, old->raw_bytes);
        taper_free(&packs->allocator, old, sizeof *old);
    }
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
    const size_t bytes = packs->bytes;
    taper_mutex_unlock(packs->mutex);
    return bytes;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static bool make_key(const taper_packs *packs, const taper_pack_request *request, pack_key *key)
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
        uint64_t geometry = mix(t->dtype, t->rank);
        for (unsigned d = 0; d < t->rank; d++) {
            geometry = mix(mix(geometry, (uint64_t)t->sizes[d]), (uint64_t)t->strides[d]);
        }
        key->tensors[i] = (tensor_key){t->storage->origin, t->offset, geometry};
    }
    return true;
}

static size_t bucket_of(const pack_key *key, size_t bucket_count)
{
    uint64_t hash = (uintptr_t)key->kind;
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        hash = mix(mix(hash, (uintptr_t)key->tensors[i].origin), (uint64_t)key->tensors[i].offset);
    }
    return (size_t)(hash >> 32) & (bucket_count - 1);
}

// Twice as many buckets, or the first ones. Without memory for them the old ones do.
static void grow(taper_packs *packs)
{
    const size_t count = packs->bucket_count == 0 ? 64 : 2 * packs->bucket_count;
    kept_pack **buckets = taper_alloc_zeroed(&packs->allocator, count * sizeof *buckets);
    for (size_t i = 0; buckets != NULL && i < packs->bucket_count; i++) {
        while (packs->buckets[i] != NULL) {
            kept_pack *kept = packs->buckets[i], **bucket = &buckets[bucket_of(&kept->key, count)];
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

static kept_pack *find(taper_packs *packs, const pack_key *key)
{
    if (packs->bucket_count == 0) {
        return NULL;
    }
    for (kept_pack *kept = packs->buckets[bucket_of(key, packs->bucket_count)]; kept != NULL; kept = kept->next) {
        if (memcmp(&kept->key, key, sizeof *key) == 0) {
            return kept;
        }
    }
    return NULL;
}

static slab *add_slab(taper_packs *packs, size_t bytes)
{
    slab *s = taper_alloc_zeroed(&packs->allocator, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    packs->slab_bytes = packs->slab_bytes == 0 ? FIRST_SLAB : taper_min_size(2 * packs->slab_bytes, LARGEST_SLAB);
    s->size = taper_max_size(packs->slab_bytes, bytes);
    s->raw_bytes = s->size + TAPER_ALIGNMENT;
    s->raw = taper_alloc(&packs->allocator, s->raw_bytes);
    if (s->raw == NULL) { // only what is needed, then
        s->size = bytes;
        s->raw_bytes = bytes + TAPER_ALIGNMENT;
        s->raw = taper_alloc(&packs->allocator, s->raw_bytes);
    }
    if (s->raw == NULL) {
        taper_free(&packs->allocator, s, sizeof *s);
        return NULL;
    }
    s->data = (char *)taper_round_up((uintptr_t)s->raw, TAPER_ALIGNMENT);
    taper_map_large(s->data, s->size);
    s->next = packs->slabs;
    packs->slabs = s;
    return s;
}

static void *slab_alloc(taper_packs *packs, size_t bytes)
{
    bytes = taper_round_up(bytes + TAPER_OVERREAD, TAPER_ALIGNMENT);
    slab *s = packs->slabs;
    if (s == NULL || s->size - s->used < bytes) {
        s = add_slab(packs, bytes);
    }
    if (s == NULL) {
        return NULL;
    }
    void *data = s->data + s->used;
    s->used += bytes;
    packs->bytes += bytes;
    return data;
}

// The last one that slab_alloc gave is not needed.
static void slab_undo(taper_packs *packs, const void *data)
{
    const size_t bytes = (size_t)(packs->slabs->data + packs->slabs->used - (const char *)data);
    packs->slabs->used -= bytes;
    packs->bytes -= bytes;
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

// Others wait meanwhile. A thread of the host's that waits for parts might run another session, which waits for it: so
// only our own threads help.
static taper_status fill(taper_run *run, const taper_pack_request *request, void *data)
{
    filling f = {request, data};
    if (request->fill != NULL) {
        request->fill(request, data);
    }
    if (request->parts == 0) {
        return TAPER_OK;
    }
    if (taper_pool_is_hosts(run->pool)) {
        fill_range(&f, 0, request->parts);
        return TAPER_OK;
    }
    const double floats = 4.0 * (double)(request->bytes / sizeof(float)); // read, ordered, written
    return taper_run_range(run, fill_range, &f, request->parts, 1, taper_floats_work(floats));
}

static taper_status make(taper_run *run, const taper_pack_request *request, const pack_key *key, kept_pack **made)
{
    taper_packs *packs = run->packs;
    kept_pack *kept = *made = taper_alloc_zeroed(&packs->allocator, sizeof *kept);
    void *data = kept != NULL ? slab_alloc(packs, request->bytes) : NULL;
    taper_status status = data != NULL ? fill(run, request, data)
                                       : taper_fail(run->error, TAPER_ERROR_RESOURCE,
                                                    "out of memory: packed weights of %zu bytes", request->bytes);
    if (status != TAPER_OK) {
        if (data != NULL) {
            slab_undo(packs, data);
        }
        taper_free(&packs->allocator, kept, sizeof *kept);
        return status;
    }
    kept->key = *key;
    kept->pack = (taper_pack){.data = data, .bytes = request->bytes, .kept = true};
    memset((char *)data + request->bytes, 0, TAPER_OVERREAD);
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        if (request->tensors[i] != NULL) {
            kept->holders[i] = request->tensors[i]->storage->origin;
            taper_obj_retain(&kept->holders[i]->head);
        }
    }
    return TAPER_OK;
}

// The pages of our own mapping that were only read to be packed need not stay in memory. Nobody else's memory is
// touched: the host's would lose its content for good.
static void unneeded(const taper_pack_request *request)
{
    for (size_t i = 0; i < TAPER_PACK_TENSORS; i++) {
        const taper_tensor *t = request->tensors[i];
        if (t != NULL && t->storage->origin->kind == TAPER_STORAGE_FILE && t->storage->bytes > (size_t)1 << 16) {
            taper_map_unneeded(t->storage->data, t->storage->bytes);
        }
    }
}

// A new pack, entered.
static taper_status keep(taper_run *run, const taper_pack_request *request, const pack_key *key, kept_pack **kept)
{
    taper_packs *packs = run->packs;
    if (packs->count >= packs->bucket_count) {
        grow(packs);
    }
    if (packs->bucket_count == 0) {
        return taper_fail_memory(run->error);
    }
    TAPER_TRY(make(run, request, key, kept));
    kept_pack **bucket = &packs->buckets[bucket_of(key, packs->bucket_count)];
    (*kept)->next = *bucket;
    *bucket = *kept;
    packs->count++;
    unneeded(request);
    return TAPER_OK;
}

bool taper_packs_keep(const taper_call *call, const taper_pack_request *request)
{
    pack_key key;
    return call->run->packs != NULL && make_key(call->run->packs, request, &key);
}

taper_status taper_pack_get(taper_call *call, const taper_pack_request *request, taper_pack *pack)
{
    taper_run *run = call->run;
    if (request->bytes > (size_t)TAPER_LIMIT_TENSOR_BYTES) {
        TAPER_FAIL(run->error, TAPER_ERROR_RESOURCE, "packed weights of %zu bytes are too large", request->bytes);
    }
    pack_key key;
    if (run->packs != NULL && make_key(run->packs, request, &key)) {
        kept_pack *kept = call->state != NULL ? *call->state : NULL;
        if (kept != NULL && memcmp(&kept->key, &key, sizeof key) == 0) {
            *pack = kept->pack;
            return TAPER_OK;
        }
        taper_mutex_lock(run->packs->mutex);
        kept = find(run->packs, &key);
        const taper_status status = kept != NULL ? TAPER_OK : keep(run, request, &key, &kept);
        taper_mutex_unlock(run->packs->mutex);
        TAPER_TRY(status);
        if (call->state != NULL) {
            *call->state = kept;
        }
        *pack = kept->pack;
        return TAPER_OK;
    }
    pack->bytes = request->bytes;
    pack->kept = false;
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

void taper_pack_done(taper_call *call, taper_pack *pack)
{
    if (!pack->kept && pack->data != NULL) {
        taper_heap_free(call->run->heap, pack->data, taper_max_size(pack->bytes, 1024));
    }
    pack->data = NULL;
}
