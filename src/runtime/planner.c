// SPDX-License-Identifier: BSD-2-Clause
// The memory planner, described in planner.h. A plan lists the storages (births) in the order of creation. Offsets are
// assigned to the largest storage first. Each storage gets the smallest gap that is free during its whole life. A lease
// is memory of the host that is lent to the planner for a result of the next run (taper_planner_lend).
#include "runtime/planner.h"

#include <stdlib.h>

#include "ir/storage.h"
#include "platform/platform.h"

enum { MOST_BIRTHS = 4096, MOST_LIVE = 512 };

typedef taper_birth birth;

// The arena is an object with references. If a storage unexpectedly outlives its run, it keeps the arena alive.
typedef struct arena {
    taper_blob_head head;
    taper_allocator allocator;
    void *raw;
    size_t raw_bytes;
    char *data;
    size_t bytes; // size of `data` in bytes
} arena;

typedef struct memory_plan {
    const struct taper_function *function;
    uint64_t signature;
    uint64_t last_used;
    birth *births;
    size_t count;
    size_t arena_bytes;
    struct taper_recording *recordings;
    // For each result that may be placed in lent memory: 1 + index of its storage in the plan, or 0 if the storage is
    // unknown.
    uint32_t results[TAPER_MOST_LENT];
    uint64_t layouts[TAPER_MOST_LENT]; // layouts of the results in the last run in which they were known
    size_t result_count;
} memory_plan;

struct taper_planner {
    taper_storage_source source;
    taper_allocator allocator;
    taper_heap *heap;
    const struct taper_op *const *operator_now;
    memory_plan plans[TAPER_LIMIT_PLANS];
    arena *arena; // memory for all plans, as large as the largest plan so far needs; NULL at first
    uint64_t clock, calls;
    atomic_uint run; // number of the current run; 0 between runs
    unsigned runs;
    memory_plan *current; // plan that is being replayed; NULL while recording, or without a plan
    bool recording, overflow, diverged;
    const struct taper_function *function;
    uint64_t signature;
    birth *births; // storages of the run that is being recorded
    size_t count, capacity, next;
    uint32_t events;
    uint32_t live[MOST_LIVE]; // indices of the births (storages of the plan) that are in the arena now
    size_t live_count;
    taper_lease leases[TAPER_MOST_LENT];
    taper_storage *lent[TAPER_MOST_LENT]; // for each lease: storage that is in the lent memory now, or NULL if none is
    size_t lease_count;
    size_t lending; // 1 + index of the lease whose memory was just given out, until its storage is created; 0 if none
};

// ---- arenas

static void destroy_arena(taper_obj *obj)
{
    arena *a = (arena *)obj;
    const taper_allocator allocator = a->allocator;
    taper_free(&allocator, a->raw, a->raw_bytes);
    taper_free(&allocator, a, sizeof *a);
}

static arena *create_arena(taper_planner *planner, size_t bytes)
{
    arena *a = taper_alloc_zeroed(&planner->allocator, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    planner->calls += 2;
    taper_refs_init(&a->head.head.refs);
    a->head.head.tag = TAPER_BLOB;
    a->head.destroy = destroy_arena;
    a->allocator = planner->allocator;
    a->raw_bytes = bytes + TAPER_ALIGNMENT + TAPER_OVERREAD;
    a->raw = taper_alloc(&planner->allocator, a->raw_bytes);
    if (a->raw == NULL) {
        taper_free(&planner->allocator, a, sizeof *a);
        return NULL;
    }
    a->data = (char *)taper_round_up((uintptr_t)a->raw, TAPER_ALIGNMENT);
    a->bytes = bytes;
    taper_map_large(a->data, bytes);
    memset(a->data + bytes, 0, TAPER_OVERREAD);
    return a;
}

// Releases the planner's reference to the arena. Storages that are still in the arena keep the arena alive.
static void drop_arena(taper_planner *planner)
{
    if (planner->arena != NULL) {
        taper_obj_release(&planner->arena->head.head);
        planner->arena = NULL;
    }
}

// Makes an arena of the size that the largest plan needs. Call this only between runs. The old arena is released first,
// because the old arena and the new one are never needed at the same time.
static bool fit_arena(taper_planner *planner)
{
    size_t largest = 0;
    for (size_t i = 0; i < TAPER_LIMIT_PLANS; i++) {
        largest = taper_max_size(largest, planner->plans[i].arena_bytes);
    }
    if (planner->arena == NULL || planner->arena->bytes != largest) {
        drop_arena(planner);
        planner->arena = create_arena(planner, largest);
    }
    return planner->arena != NULL;
}

// ---- memory for new storages (taper_storage_source): recording and replay

// Returns true if the results have the same layouts as in the plan's previous run. Otherwise the lent memory may have
// the wrong sizes.
static bool are_as_before(const taper_planner *p)
{
    bool same = p->lease_count == p->current->result_count;
    for (size_t i = 0; same && i < p->lease_count; i++) {
        same = p->leases[i].layout == p->current->layouts[i];
    }
    return same;
}

// Returns the host's memory for a result of this plan. Returns NULL if the storage does not belong to a result, or if
// the lent memory has another size.
static void *lend(taper_planner *p, size_t bytes, uint8_t *kind)
{
    for (size_t i = 0; i < p->lease_count; i++) {
        if (p->current->results[i] == p->next + 1 && bytes != 0 && bytes == p->leases[i].bytes && p->lent[i] == NULL &&
            are_as_before(p)) {
            *kind = TAPER_STORAGE_HOST; // this kind forbids kernels to read bytes after the end of the memory
            p->lending = i + 1;
            return p->leases[i].data;
        }
    }
    return NULL;
}

static void *place(taper_storage_source *source, size_t bytes, taper_obj **owner, uint8_t *kind)
{
    taper_planner *p = (taper_planner *)source;
    memory_plan *plan = p->current;
    if (plan == NULL || p->diverged) {
        return NULL;
    }
    if (p->next >= plan->count || plan->births[p->next].bytes != bytes) {
        p->diverged = true; // this storage differs from the plan, so later storages will not match either
        return NULL;
    }
    const birth *b = &plan->births[p->next];
    if (b->died == UINT32_MAX) {
        return lend(p, bytes, kind);
    }
    if (p->live_count == MOST_LIVE) {
        return NULL;
    }
    for (size_t i = 0; i < p->live_count; i++) {
        const birth *other = &plan->births[p->live[i]];
        if (b->offset < other->offset + other->bytes + TAPER_OVERREAD &&
            other->offset < b->offset + b->bytes + TAPER_OVERREAD) {
            p->diverged = true; // a storage lives longer than the plan says
            return NULL;
        }
    }
    *owner = &p->arena->head.head;
    taper_obj_retain(*owner);
    return p->arena->data + b->offset;
}

static void born(taper_storage_source *source, taper_storage *storage)
{
    taper_planner *p = (taper_planner *)source;
    storage->plan_run = atomic_load_explicit(&p->run, memory_order_relaxed);
    if (p->lending != 0 && storage->data == p->leases[p->lending - 1].data) {
        p->lent[p->lending - 1] = storage;
    }
    p->lending = 0;
    if (p->current != NULL) {
        if (storage->kind == TAPER_STORAGE_PLANNED) {
            p->live[p->live_count++] = (uint32_t)p->next;
        }
        storage->plan_slot = (uint32_t)p->next++;
        return;
    }
    storage->plan_slot = (uint32_t)p->count;
    if (!p->recording || p->overflow) {
        return;
    }
    if (p->count == MOST_BIRTHS || TAPER_GROW(&p->allocator, p->births, p->capacity, p->count + 1, NULL) != TAPER_OK) {
        p->overflow = true;
        return;
    }
    p->births[p->count++] =
        (birth){.bytes = storage->bytes, .born = p->events++, .died = UINT32_MAX, .op = *p->operator_now};
}

static void died(taper_storage_source *source, taper_storage *storage)
{
    taper_planner *p = (taper_planner *)source;
    if (storage->plan_run == 0 || storage->plan_run != atomic_load_explicit(&p->run, memory_order_relaxed)) {
        return; // the storage belongs to another run; another thread may be releasing an old result
    }
    for (size_t i = 0; i < p->lease_count; i++) {
        p->lent[i] = p->lent[i] != storage ? p->lent[i] : NULL;
    }
    if (p->recording && !p->overflow) {
        p->births[storage->plan_slot].died = p->events++;
    } else if (p->current != NULL && storage->kind == TAPER_STORAGE_PLANNED) {
        for (size_t i = 0; i < p->live_count; i++) {
            if (p->live[i] == storage->plan_slot) {
                p->live[i] = p->live[--p->live_count];
                break;
            }
        }
    }
}

// ---- making a plan

static int larger_first(const void *a, const void *b)
{
    const birth *x = *(const birth *const *)a, *y = *(const birth *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->born < y->born ? -1 : 1;
}

static int by_offset(const void *a, const void *b)
{
    const birth *x = *(const birth *const *)a, *y = *(const birth *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// Returns the bytes that a storage occupies in the arena, including padding.
static size_t extent(const birth *b)
{
    return taper_round_up(b->bytes + TAPER_OVERREAD, TAPER_ALIGNMENT);
}

static uint32_t held_until(const birth *b)
{
    return b->died > b->held ? b->died : b->held;
}

// Assigns to b the lowest offset in the smallest sufficient gap between the storages already placed that live at the
// same time. beside: working memory for the list of the storages that live at that time.
static void assign(birth *b, birth **placed, size_t placed_count, birth **beside)
{
    size_t count = 0;
    for (size_t i = 0; i < placed_count; i++) {
        if (placed[i]->born < held_until(b) && b->born < held_until(placed[i])) {
            beside[count++] = placed[i];
        }
    }
    qsort(beside, count, sizeof *beside, by_offset);
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (size_t i = 0; i < count; i++) {
        if (beside[i]->offset > end) {
            const size_t gap = beside[i]->offset - end;
            if (gap >= extent(b) && gap < best_gap) {
                best = end;
                best_gap = gap;
            }
        }
        end = taper_max_size(end, beside[i]->offset + extent(beside[i]));
    }
    b->offset = best != SIZE_MAX ? best : end;
}

static bool assign_all(taper_planner *planner, birth *births, size_t count, size_t *bytes)
{
    birth **order = taper_alloc(&planner->allocator, 2 * (count + 1) * sizeof *order);
    if (order == NULL) {
        return false;
    }
    planner->calls++;
    size_t planned = 0;
    for (size_t i = 0; i < count; i++) {
        if (births[i].died != UINT32_MAX) {
            order[planned++] = &births[i];
        }
    }
    qsort(order, planned, sizeof *order, larger_first);
    *bytes = 0;
    for (size_t i = 0; i < planned; i++) {
        assign(order[i], order, i, order + count + 1);
        *bytes = taper_max_size(*bytes, order[i]->offset + extent(order[i]));
    }
    taper_free(&planner->allocator, order, 2 * (count + 1) * sizeof *order);
    return true;
}

static void drop_plan(taper_planner *planner, memory_plan *plan)
{
    taper_recording_destroy(&planner->allocator, planner->heap, plan->recordings);
    taper_free(&planner->allocator, plan->births, plan->count * sizeof *plan->births);
    memset(plan, 0, sizeof *plan);
}

static struct taper_recording **keep_recording(taper_planner *p)
{
    memory_plan *oldest = &p->plans[0];
    for (size_t i = 1; i < TAPER_LIMIT_PLANS; i++) {
        if (p->plans[i].last_used < oldest->last_used) {
            oldest = &p->plans[i];
        }
    }
    drop_plan(p, oldest);
    memory_plan made = {.function = p->function, .signature = p->signature, .last_used = ++p->clock, .count = p->count};
    made.births = taper_alloc(&p->allocator, p->count * sizeof *made.births);
    if (made.births == NULL) {
        return NULL;
    }
    p->calls++;
    memcpy(made.births, p->births, p->count * sizeof *made.births);
    if (!assign_all(p, made.births, p->count, &made.arena_bytes)) {
        drop_plan(p, &made);
        return NULL;
    }
    *oldest = made;
    (void)fit_arena(p);                // if this fails, it is tried again at the next use of the plan
    taper_heap_trim_storages(p->heap); // frees heap blocks for storages, because storages are in the arena from now on
    return &oldest->recordings;
}

// ---- the signature of a run's inputs

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 31;
}

// Hashes the layouts of a value. *steps: number of values that may still be visited. A list may contain one item many
// times, and this may repeat at each nesting level.
static uint64_t sign(uint64_t h, taper_val value, int depth, int *steps)
{
    if (--*steps < 0) {
        return h;
    }
    h = mix(h, value.tag);
    if (value.tag == TAPER_TENSOR) {
        const taper_tensor *t = value.as.tensor;
        h = mix(mix(h, t->dtype), t->rank);
        for (unsigned i = 0; i < t->rank; i++) {
            h = mix(mix(h, (uint64_t)t->sizes[i]), (uint64_t)t->strides[i]);
        }
    } else if (!taper_val_is_object(value)) {
        h = mix(h, (uint64_t)value.as.i);
    } else if (value.tag >= TAPER_LIST && value.tag <= TAPER_DICT && depth < 8) {
        size_t count;
        const taper_val *items = taper_container_items((taper_container *)value.as.obj, &count);
        h = mix(h, count);
        for (size_t i = 0; i < count && i < 256 && *steps > 0; i++) {
            h = sign(h, items[i], depth + 1, steps);
        }
    } else if (value.tag == TAPER_STRING) {
        for (size_t i = 0; i < value.as.string->length; i++) {
            h = mix(h, (unsigned char)value.as.string->data[i]);
        }
    }
    return h;
}

// ---- the planner

taper_status taper_planner_create(const taper_allocator *allocator, taper_heap *heap,
                                  const struct taper_op *const *current, taper_planner **planner, taper_error *error)
{
    *planner = taper_alloc_zeroed(allocator, sizeof **planner);
    if (*planner == NULL) {
        return taper_fail_memory(error);
    }
    (*planner)->allocator = *allocator;
    (*planner)->heap = heap;
    (*planner)->operator_now = current;
    (*planner)->source = (taper_storage_source){place, born, died};
    atomic_init(&(*planner)->run, 0u);
    return TAPER_OK;
}

void taper_planner_destroy(taper_planner *planner)
{
    if (planner != NULL) {
        taper_planner_forget(planner);
        const taper_allocator allocator = planner->allocator;
        taper_free(&allocator, planner->births, planner->capacity * sizeof *planner->births);
        taper_free(&allocator, planner, sizeof *planner);
    }
}

void taper_planner_begin(taper_planner *p, const struct taper_function *function, taper_value *const *inputs,
                         size_t count)
{
    int steps = 65536;
    uint64_t signature = mix((uint64_t)count, 1);
    for (size_t i = 0; i < count; i++) {
        signature = inputs[i] != NULL ? sign(signature, inputs[i]->val, 0, &steps) : signature;
    }
    p->function = function;
    p->signature = signature;
    p->current = NULL;
    p->recording = true;
    p->overflow = p->diverged = false;
    p->count = p->next = p->live_count = 0;
    p->events = 0;
    for (size_t i = 0; i < TAPER_LIMIT_PLANS; i++) {
        memory_plan *plan = &p->plans[i];
        if (plan->function == function && plan->signature == signature) {
            p->recording = false;
            if (fit_arena(p)) {
                plan->last_used = ++p->clock;
                p->current = plan;
            }
        }
    }
    if (++p->runs == 0) {
        p->runs = 1;
    }
    atomic_store_explicit(&p->run, p->runs, memory_order_relaxed);
    taper_heap_set_source(p->heap, &p->source);
}

struct taper_recording **taper_planner_end(taper_planner *p, bool success)
{
    struct taper_recording **recordings = NULL;
    taper_heap_set_source(p->heap, NULL);
    atomic_store_explicit(&p->run, 0u, memory_order_relaxed);
    if (p->current != NULL) {
        if (p->live_count != 0) { // a storage that is still in the arena keeps the arena; the plan is made again
            drop_plan(p, p->current);
            drop_arena(p);
        }
    } else if (p->recording && !p->overflow && success && p->count != 0) {
        recordings = keep_recording(p);
    }
    p->current = NULL;
    p->recording = false;
    return recordings;
}

void taper_planner_forget(taper_planner *planner)
{
    for (size_t i = 0; i < TAPER_LIMIT_PLANS; i++) {
        drop_plan(planner, &planner->plans[i]);
    }
    drop_arena(planner);
}

size_t taper_planner_bytes(const taper_planner *planner)
{
    return planner->arena != NULL ? planner->arena->bytes : 0;
}

const taper_birth *taper_planner_latest(const taper_planner *planner, size_t *count)
{
    const memory_plan *latest = &planner->plans[0];
    for (size_t i = 1; i < TAPER_LIMIT_PLANS; i++) {
        if (planner->plans[i].last_used > latest->last_used) {
            latest = &planner->plans[i];
        }
    }
    *count = latest->births != NULL ? latest->count : 0;
    return latest->births;
}

uint64_t taper_planner_calls(const taper_planner *planner)
{
    return planner->calls;
}

// ---- results in the host's memory

void taper_planner_lend(taper_planner *p, const taper_lease *leases, size_t count)
{
    p->lease_count = taper_min_size(count, TAPER_MOST_LENT);
    for (size_t i = 0; i < p->lease_count; i++) {
        p->leases[i] = leases[i];
        p->lent[i] = NULL;
    }
}

void taper_planner_remember_results(taper_planner *p, const taper_result *results, size_t count)
{
    for (size_t i = 0; i < TAPER_LIMIT_PLANS; i++) {
        memory_plan *plan = &p->plans[i];
        if (plan->births == NULL || plan->function != p->function || plan->signature != p->signature) {
            continue;
        }
        plan->result_count = count;
        for (size_t k = 0; k < count; k++) {
            const taper_storage *storage = results[k].storage;
            const bool known = storage != NULL && storage->plan_run == p->runs && storage->plan_slot < plan->count &&
                               plan->births[storage->plan_slot].bytes == storage->bytes &&
                               plan->births[storage->plan_slot].died == UINT32_MAX;
            plan->results[k] = known ? storage->plan_slot + 1 : 0;
            plan->layouts[k] = results[k].layout;
        }
    }
}

taper_status taper_planner_take_back(taper_planner *p, bool (*mine)(const void *user, const taper_storage *storage),
                                     const void *user, taper_error *error)
{
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < p->lease_count; i++) {
        taper_storage *storage = p->lent[i];
        if (storage != NULL && storage->data == p->leases[i].data && !mine(user, storage)) {
            storage->read_only = true; // the storage is read-only, so a write to it makes a copy
            const taper_status moved = taper_storage_write(storage, error);
            status = moved != TAPER_OK ? moved : status;
        }
        p->lent[i] = NULL;
    }
    p->lease_count = 0;
    return status;
}

// ---- functions for recordings (recording.h)

bool taper_planner_is_recording(const taper_planner *planner)
{
    return planner->recording && !planner->overflow;
}

const taper_birth *taper_planner_recorded(const taper_planner *planner)
{
    return planner->births;
}

size_t taper_planner_birth_of(const taper_planner *planner, const taper_storage *storage)
{
    const unsigned run = atomic_load_explicit((atomic_uint *)(uintptr_t)&planner->run, memory_order_relaxed);
    return storage->plan_run == run && storage->plan_slot < planner->count ? storage->plan_slot : SIZE_MAX;
}

void taper_planner_hold(taper_planner *planner, size_t index, size_t until)
{
    taper_birth *b = &planner->births[index];
    b->held = b->held > planner->births[until].born ? b->held : planner->births[until].born + 1;
}

size_t taper_planner_births(const taper_planner *planner)
{
    return planner->current != NULL ? planner->next : planner->count;
}

void taper_planner_skip(taper_planner *planner, size_t births)
{
    planner->next = births;
}

struct taper_recording *taper_planner_recordings(const taper_planner *planner)
{
    return planner->current != NULL ? planner->current->recordings : NULL;
}

bool taper_planner_replays(const taper_planner *planner, taper_replay *replay)
{
    if (planner->current == NULL || planner->diverged) {
        return false;
    }
    *replay =
        (taper_replay){.births = planner->current->births,
                       .arena = planner->arena->data,
                       .live = planner->live,
                       .live_count = planner->live_count,
                       .run = atomic_load_explicit((atomic_uint *)(uintptr_t)&planner->run, memory_order_relaxed)};
    return true;
}
