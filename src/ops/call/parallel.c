// SPDX-License-Identifier: BSD-2-Clause
// Runs the work of an operator in pieces, on the threads of its run.
#include "ops/call/parallel.h"

#include "base/atomic.h"
#include "platform/denormals.h"

// Times in nanoseconds. SHARED: smallest work that is shared with sleeping workers. SHARED_SOON: smallest work that is
// shared with workers that are awake. PIECE_LEAST, PIECE_MOST: limits for a piece. ALONE: work between two calls of the
// host, if one thread does all of it. A test build shares all work.
#ifdef TAPER_SHARES_ALL
static const double SHARED = 0, SHARED_SOON = 0, PIECE_LEAST = 0;
#else
static const double SHARED = 25e3, SHARED_SOON = 5e3, PIECE_LEAST = 2.5e3;
#endif
static const double PIECE_MOST = 75e3, ALONE = TAPER_WORK_BETWEEN;

// Returns the largest work of a piece, in nanoseconds.
static double piece_of(const taper_run *run, double work)
{
    const double threads = taper_pool_threads(run->pool);
    if (threads < 2 || work < (run->unshared >= SHARED || taper_pool_is_awake(run->pool) ? SHARED_SOON : SHARED)) {
        return ALONE;
    }
    // Four pieces for each thread let other threads take over from a thread that is late or interrupted.
    const double piece = work / (4 * threads);
    return piece < PIECE_LEAST ? PIECE_LEAST : piece > PIECE_MOST ? PIECE_MOST : piece;
}

size_t taper_run_pieces(const taper_run *run, double work)
{
    const double pieces = work / piece_of(run, work);
    return pieces >= 1 ? (size_t)(pieces < 1e9 ? pieces : 1e9) : 1;
}

typedef struct flushed {
    taper_range_task task;
    void *argument;
} flushed;

// Runs a piece of a product on another thread, which must flush denormal numbers to zero like the calling thread.
static void run_flushed(void *argument, size_t begin, size_t end)
{
    const flushed *f = argument;
    const uint64_t before = taper_denormals_off();
    f->task(f->argument, begin, end);
    taper_denormals_restore(before);
}

typedef struct spending {
    taper_run *run;
    uint64_t work; // time of a piece of work, in nanoseconds
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
#ifdef TAPER_SHARES_ALL
    grain = 1;
#endif
    const bool shared = piece_of(run, work) < ALONE;
    const size_t piece = taper_max_size((count - 1) / taper_run_pieces(run, work) + 1, grain);
    run->unshared = shared ? 0 : run->unshared + (work >= SHARED_SOON ? work : 0);
    run->shared |= shared;
    spending s = {run, (uint64_t)(work * ((double)taper_min_size(piece, count) / (double)count)), TAPER_OK};
    flushed f = {task, argument};
    if (shared && run->flushes) {
        task = run_flushed;
        argument = &f;
    }
    (void)taper_pool_run(shared ? run->pool : NULL, task, argument, count, piece, spend, &s);
    return s.status;
}

// ---- places: memory for the items of a range; each place begins with a flag that is 1 while it is taken

enum { FLAG = 64 };

bool taper_places_open(const taper_run *run, size_t bytes, size_t most, taper_places *places)
{
    *places = (taper_places){.count = taper_max_size(taper_min_size(taper_pool_threads(run->pool), most), 1)};
    if (bytes == 0) {
        return true;
    }
    if (bytes > SIZE_MAX / 2 ||
        !taper_mul_size(taper_round_up(bytes, FLAG) + FLAG, places->count, &places->all_bytes)) {
        return false;
    }
    places->data = taper_heap_alloc(run->heap, places->all_bytes);
    for (size_t i = 0; places->data != NULL && i < places->count; i++) {
        char *place = places->data + i * (places->all_bytes / places->count) + FLAG;
        memset(place, 0, sizeof(size_t));
        taper_place_leave(place);
    }
    return places->data != NULL;
}

void *taper_place_take(const taper_places *places, size_t item, size_t items)
{
    if (places->data == NULL) {
        return NULL;
    }
    // The search starts at the place that the item would have if the items were divided evenly among the places. The
    // loop ends, because at least one place is free, or will be soon.
    for (size_t i = item / ((items - 1) / places->count + 1);; i = (i + 1) % places->count) {
        char *place = places->data + i * (places->all_bytes / places->count);
        if (atomic_exchange_explicit((atomic_uint *)(void *)place, 1, memory_order_acquire) == 0) {
            return place + FLAG;
        }
    }
}

void taper_place_leave(void *place)
{
    if (place != NULL) {
        atomic_store_explicit((atomic_uint *)(void *)((char *)place - FLAG), 0, memory_order_release);
    }
}

void taper_places_close(const taper_run *run, taper_places *places)
{
    taper_heap_free(run->heap, places->data, places->all_bytes);
}

taper_status taper_run_floats(taper_run *run, taper_range_task task, void *argument, size_t count, double floats)
{
    enum { GRAIN = 16384 };           // smallest number of floats for which another thread is worth it
    const double least = 1.0 / GRAIN; // a smaller number of floats per item, such as 0, counts as this number
    return taper_run_range(run, task, argument, count,
                           floats < GRAIN ? (size_t)(GRAIN / (floats > least ? floats : least)) : 1,
                           taper_floats_work((double)count * floats));
}
