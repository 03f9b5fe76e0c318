// SPDX-License-Identifier: BSD-2-Clause
#include "ops/parallel.h"

#include "base/atomic.h"

// Nanoseconds: of work that is shared, and that is shared with workers who are up; of pieces; of pieces between which
// only the host is asked.
static const double SHARED = 25e3, SHARED_SOON = 5e3, PIECE_LEAST = 2.5e3, PIECE_MOST = 75e3,
                    ALONE = TAPER_WORK_BETWEEN;

static bool is_shared(const taper_run *run, double work)
{
    return taper_pool_threads(run->pool) > 1 &&
           (work >= SHARED || (work >= SHARED_SOON && (run->unshared >= SHARED || taper_pool_is_awake(run->pool))));
}

size_t taper_run_pieces(const taper_run *run, double work)
{
    double piece = ALONE;
    if (is_shared(run, work)) {
        // Four for each thread, so that one that comes late or is held up leaves its share to others.
        piece = work / (4.0 * taper_pool_threads(run->pool));
        piece = piece < PIECE_LEAST ? PIECE_LEAST : piece > PIECE_MOST ? PIECE_MOST : piece;
    }
    const double pieces = work / piece;
    return pieces >= 1 ? (size_t)(pieces < 1e9 ? pieces : 1e9) : 1;
}

typedef struct spending {
    taper_run *run;
    uint64_t work; // of a piece
    taper_status status;
} spending;

static bool spend(void *user)
{
    spending *s = user;
    s->status = taper_run_spend(s->run, s->work);
    return s->status == TAPER_OK;
}

taper_status taper_run_range(taper_run *run, taper_range_task task, void *argument, size_t count, size_t grain,
                             double work)
{
    if (count == 0) {
        return TAPER_OK;
    }
    const bool shared = is_shared(run, work);
    const size_t piece = taper_max_size((count - 1) / taper_run_pieces(run, work) + 1, grain);
    run->unshared = shared ? 0 : run->unshared + (work >= SHARED_SOON ? work : 0);
    run->shared |= shared;
    spending s = {run, (uint64_t)(work * ((double)taper_min_size(piece, count) / (double)count)), TAPER_OK};
    (void)taper_pool_run(shared ? run->pool : NULL, task, argument, count, piece, spend, &s);
    return s.status;
}

typedef struct each_job {
    taper_index_task task;
    void *argument;
} each_job;

static void each_range(void *argument, size_t begin, size_t end)
{
    const each_job *job = argument;
    for (size_t i = begin; i < end; i++) {
        job->task(job->argument, i);
    }
}

taper_status taper_run_each(taper_run *run, taper_index_task task, void *argument, size_t count, double work)
{
    each_job job = {task, argument};
    return taper_run_range(run, each_range, &job, count, 1, work);
}

// ---- places: `count` flags, then the memory

enum { LINE = 64 };

bool taper_places_open(const taper_run *run, size_t bytes, size_t most, taper_places *places)
{
    *places = (taper_places){.count = taper_max_size(taper_min_size(taper_pool_threads(run->pool), most), 1)};
    if (bytes == 0) {
        return true;
    }
    const size_t flags = taper_round_up(places->count, LINE);
    if (bytes > SIZE_MAX / 2 || !taper_mul_size(taper_round_up(bytes, LINE), places->count, &places->all_bytes) ||
        !taper_add_size(places->all_bytes, flags, &places->all_bytes)) {
        return false;
    }
    places->bytes = taper_round_up(bytes, LINE);
    places->data = taper_heap_alloc(run->heap, places->all_bytes);
    for (size_t i = 0; places->data != NULL && i < places->count; i++) {
        atomic_init((atomic_uchar *)places->data + i, 0);
    }
    return places->data != NULL;
}

void *taper_place_take(const taper_places *places)
{
    if (places->data == NULL) {
        return NULL;
    }
    // One is free, or about to be.
    size_t i = 0;
    while (atomic_exchange_explicit((atomic_uchar *)places->data + i, 1, memory_order_acquire) != 0) {
        i = (i + 1) % places->count;
    }
    return places->data + taper_round_up(places->count, LINE) + i * places->bytes;
}

void taper_place_leave(const taper_places *places, void *place)
{
    if (place != NULL) {
        const char *first = places->data + taper_round_up(places->count, LINE);
        const size_t i = (size_t)((char *)place - first) / places->bytes;
        atomic_store_explicit((atomic_uchar *)places->data + i, 0, memory_order_release);
    }
}

void taper_places_close(const taper_run *run, taper_places *places)
{
    taper_heap_free(run->heap, places->data, places->all_bytes);
}
