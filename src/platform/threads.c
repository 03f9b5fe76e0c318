// SPDX-License-Identifier: BSD-2-Clause
// A job lies in one of a few slots of the pool. Its counter `left` is the only way in: who lowers it from n to n - 1
// has the n-th piece from the end, and until he has lowered `unfinished` too the job cannot end. So a worker that wakes
// late finds 0 and touches nothing, and one that was interrupted between reading the counter and lowering it gets a
// piece of whatever job the slot then has.
#define _DEFAULT_SOURCE 1
#include "platform/threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/atomic.h"
#include "platform/platform.h"

enum { SLOTS = 4, PAUSES = 16, YIELDS = 4, HOST_PIECES = 256, MOST_THREADS = 1024, LINE = 64 };
static const double SPIN_SECONDS = 50e-6;

typedef struct pool_slot {
    atomic_uint left;       // pieces that nobody has begun
    atomic_uint unfinished; // pieces that are not done
    atomic_bool taken;      // by the thread whose job it is
    taper_range_task task;
    void *argument;
    size_t count, piece;
    unsigned pieces;
    char apart[LINE]; // jobs do not share cache lines
} pool_slot;

typedef struct pool_worker {
    struct taper_pool *pool;
    unsigned number;
    pthread_t thread;
} pool_worker;

struct taper_pool {
    taper_allocator allocator;
    unsigned threads, workers; // workers: started
    unsigned slots_open;
    bool has_host;
    taper_thread_pool host;
    atomic_uint runs; // under way
    atomic_bool stop;
    pool_slot slots[SLOTS];
    pid_t process;
    pool_worker *worker;
    // Workers sleep here. Jobs only try the lock: what they then fail to wake is not needed.
    pthread_mutex_t idle;
    pthread_cond_t wake;
    atomic_uint asleep;
    // Here those whose last pieces others have.
    pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_uint waiting;
};

// ---- waiting

typedef struct patience {
    double until;
    unsigned yields;
} patience;

// False once it is time to sleep.
static bool wait_a_little(patience *p)
{
    for (unsigned i = 0; i < PAUSES; i++) {
        taper_pause();
    }
    const double now = taper_clock();
    if (p->until == 0) {
        p->until = now + SPIN_SECONDS;
    }
    if (now < p->until) {
        return true;
    }
    (void)sched_yield();
    return ++p->yields <= YIELDS;
}

static void wait_for_pieces(taper_pool *pool, pool_slot *slot)
{
    patience p = {0, 0};
    while (atomic_load_explicit(&slot->unfinished, memory_order_acquire) != 0) {
        if (wait_a_little(&p)) {
            continue;
        }
        (void)pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->waiting, 1u);
        while (atomic_load(&slot->unfinished) != 0) {
            (void)pthread_cond_wait(&pool->done, &pool->lock);
        }
        atomic_fetch_sub(&pool->waiting, 1u);
        (void)pthread_mutex_unlock(&pool->lock);
    }
}

// ---- pieces

// Does one piece of the slot's job, if one is left that nobody has begun.
static bool do_piece(taper_pool *pool, pool_slot *slot)
{
    unsigned left = atomic_load_explicit(&slot->left, memory_order_relaxed);
    do {
        if (left == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&slot->left, &left, left - 1, memory_order_acquire,
                                                    memory_order_relaxed));
    const size_t begin = (slot->pieces - left) * slot->piece;
    slot->task(slot->argument, begin, begin + taper_min_size(slot->piece, slot->count - begin));
    // Sequentially consistent, as are the sleeper's: either he sees the 0, or this sees him.
    if (atomic_fetch_sub(&slot->unfinished, 1u) == 1 && atomic_load(&pool->waiting) != 0) {
        (void)pthread_mutex_lock(&pool->lock);
        (void)pthread_cond_broadcast(&pool->done);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    return true;
}

static bool is_work_left(taper_pool *pool)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (atomic_load(&pool->slots[i].left) != 0) {
            return true;
        }
    }
    return false;
}

// How many workers have something to do: with every run more there is a thread less to spare.
static unsigned wanted_workers(taper_pool *pool)
{
    const unsigned runs = atomic_load_explicit(&pool->runs, memory_order_relaxed);
    return runs < pool->threads ? pool->threads - (runs != 0 ? runs : 1) : 0;
}

static void *work(void *argument)
{
    const pool_worker *self = argument;
    taper_pool *pool = self->pool;
    patience p = {0, 0};
    while (!atomic_load_explicit(&pool->stop, memory_order_acquire)) {
        const bool wanted = self->number < wanted_workers(pool);
        bool worked = false;
        for (unsigned i = 0; i < SLOTS && wanted && !worked; i++) {
            worked = do_piece(pool, &pool->slots[(self->number + i) % SLOTS]);
        }
        if (worked) {
            p = (patience){0, 0};
        } else if (!wanted || atomic_load_explicit(&pool->runs, memory_order_relaxed) == 0 || !wait_a_little(&p)) {
            (void)pthread_mutex_lock(&pool->idle);
            atomic_fetch_add(&pool->asleep, 1u);
            if (!atomic_load(&pool->stop) && (!is_work_left(pool) || self->number >= wanted_workers(pool))) {
                (void)pthread_cond_wait(&pool->wake, &pool->idle);
            }
            atomic_fetch_sub(&pool->asleep, 1u);
            (void)pthread_mutex_unlock(&pool->idle);
            p = (patience){0, 0};
        }
    }
    return NULL;
}

static void wake_workers(taper_pool *pool)
{
    const unsigned awake = pool->workers - atomic_load(&pool->asleep);
    // Of those asleep some are not wanted; in a child that was forked there are none.
    if (awake >= taper_min_size(wanted_workers(pool), pool->workers) || pool->process != getpid() ||
        pthread_mutex_trylock(&pool->idle) != 0) {
        return;
    }
    (void)pthread_mutex_unlock(&pool->idle);
    (void)pthread_cond_broadcast(&pool->wake);
}

// ---- jobs

static bool run_alone(taper_range_task task, void *argument, size_t count, size_t piece, taper_pool_check check,
                      void *user)
{
    for (size_t begin = 0; begin < count; begin += taper_min_size(piece, count - begin)) {
        if (!check(user)) {
            return false;
        }
        task(argument, begin, begin + taper_min_size(piece, count - begin));
    }
    return true;
}

static bool run_shared(taper_pool *pool, pool_slot *slot, taper_pool_check check, void *user)
{
    atomic_store_explicit(&slot->unfinished, slot->pieces, memory_order_relaxed);
    atomic_store(&slot->left, slot->pieces);
    wake_workers(pool);
    bool going = check(user);
    while (going && do_piece(pool, slot)) {
        going = check(user);
    }
    const unsigned left = going ? 0 : atomic_exchange(&slot->left, 0u);
    atomic_fetch_sub(&slot->unfinished, left);
    wait_for_pieces(pool, slot);
    return going;
}

typedef struct host_batch {
    taper_range_task task;
    void *argument;
    size_t begin, end, piece;
} host_batch;

static void host_piece(void *argument, size_t index)
{
    const host_batch *batch = argument;
    const size_t begin = batch->begin + index * batch->piece;
    batch->task(batch->argument, begin, begin + taper_min_size(batch->piece, batch->end - begin));
}

// In batches, because the thread that may ask is not known to do any of the pieces.
static bool run_by_host(const taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                        taper_pool_check check, void *user)
{
    for (size_t begin = 0, pieces; begin < count; begin += taper_min_size(pieces * piece, count - begin)) {
        if (!check(user)) {
            return false;
        }
        pieces = taper_min_size((count - begin - 1) / piece + 1, HOST_PIECES);
        host_batch batch = {task, argument, begin, count, piece};
        pool->host.run(pool->host.user, host_piece, &batch, pieces);
    }
    return true;
}

bool taper_pool_run(taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                    taper_pool_check check, void *user)
{
    piece = taper_max_size(piece, count / INT32_MAX + 1);
    pool_slot *slot = NULL;
    for (unsigned i = 0; pool != NULL && wanted_workers(pool) != 0 && i < pool->slots_open && count > piece; i++) {
        slot = &pool->slots[i];
        if (!atomic_exchange_explicit(&slot->taken, true, memory_order_acquire)) {
            break;
        }
        slot = NULL;
    }
    if (slot == NULL) {
        return run_alone(task, argument, count, piece, check, user);
    }
    bool going;
    if (pool->has_host) {
        going = run_by_host(pool, task, argument, count, piece, check, user);
    } else {
        slot->task = task;
        slot->argument = argument;
        slot->count = count;
        slot->piece = piece;
        slot->pieces = (unsigned)((count - 1) / piece + 1);
        going = run_shared(pool, slot, check, user);
    }
    atomic_store_explicit(&slot->taken, false, memory_order_release);
    return going;
}

// ---- the pool

static taper_status start_workers(taper_pool *pool, taper_error *error)
{
    pool->worker = taper_alloc_zeroed(&pool->allocator, pool->threads * sizeof *pool->worker);
    if (pool->worker == NULL) {
        return taper_fail_memory(error);
    }
    for (; pool->workers + 1 < pool->threads; pool->workers++) {
        pool_worker *worker = &pool->worker[pool->workers];
        *worker = (pool_worker){.pool = pool, .number = pool->workers};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            break; // fewer threads than wished still do the work
        }
    }
    return TAPER_OK;
}

taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads, const taper_thread_pool *host,
                               taper_pool **pool, taper_error *error)
{
    taper_pool *p = taper_alloc_zeroed(allocator, sizeof *p);
    *pool = NULL;
    if (p == NULL) {
        return taper_fail_memory(error);
    }
    p->allocator = *allocator;
    p->process = getpid();
    (void)pthread_mutex_init(&p->idle, NULL);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    (void)pthread_cond_init(&p->done, NULL);
    if (host != NULL) {
        p->has_host = true;
        p->host = *host;
        p->slots_open = 1; // the host's pool has one job at a time
        const size_t count = host->thread_count(host->user);
        p->threads = count > 0 ? (unsigned)taper_min_size(count, MOST_THREADS) : 1;
    } else {
        p->slots_open = SLOTS;
        p->threads = (unsigned)taper_min_size(threads != 0 ? threads : taper_cpu_cores(), MOST_THREADS);
        if (p->threads > 1) {
            const taper_status status = start_workers(p, error);
            if (status != TAPER_OK) {
                taper_pool_destroy(p);
                return status;
            }
        }
    }
    *pool = p;
    return TAPER_OK;
}

void taper_pool_destroy(taper_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    if (pool->process == getpid()) { // in a child that was forked there are no workers, but traces of them
        (void)pthread_mutex_lock(&pool->idle);
        atomic_store(&pool->stop, true);
        (void)pthread_cond_broadcast(&pool->wake);
        (void)pthread_mutex_unlock(&pool->idle);
        for (unsigned i = 0; i < pool->workers; i++) {
            (void)pthread_join(pool->worker[i].thread, NULL);
        }
        (void)pthread_cond_destroy(&pool->wake);
        (void)pthread_cond_destroy(&pool->done);
        (void)pthread_mutex_destroy(&pool->idle);
        (void)pthread_mutex_destroy(&pool->lock);
    }
    const taper_allocator allocator = pool->allocator;
    taper_free(&allocator, pool->worker, pool->threads * sizeof *pool->worker);
    taper_free(&allocator, pool, sizeof *pool);
}

unsigned taper_pool_threads(const taper_pool *pool)
{
    return pool != NULL ? pool->threads : 1;
}

void taper_pool_enter(taper_pool *pool)
{
    atomic_fetch_add_explicit(&pool->runs, 1u, memory_order_relaxed);
}

void taper_pool_leave(taper_pool *pool)
{
    atomic_fetch_sub_explicit(&pool->runs, 1u, memory_order_relaxed);
}
