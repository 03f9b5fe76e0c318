// SPDX-License-Identifier: BSD-2-Clause
// A job lies in one of a few slots of the pool, its pieces in lanes, one after the other: each thread begins with a
// lane of its own, the same in every job, so it meets what it wrote in the last one, and then helps in the others. The
// state of a lane is the only way in: who lowers the number of pieces that nobody has begun has the next piece, and
// until he has lowered the number of unfinished ones too the job cannot end. So a worker that wakes late finds 0 and
// touches nothing, and one that was interrupted between reading the state and changing it gets a piece of whatever job
// is there then. A lane holds all that its thread needs, in one line of the cache.
#define _DEFAULT_SOURCE 1
#include "platform/threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/atomic.h"
#include "platform/platform.h"

enum {
    SLOTS = 4,
    LANES = 16,
    PAUSES = 32,
    YIELDS = 4,
    HOST_PIECES = 256,
    BATCH_PIECES = 32768,
    NEAR_TICKS = 5,
    MOST_THREADS = 1024,
    LINE = 64
};
enum { BEGIN = 0x10000 }; // in a state: unfinished pieces, and times 65536 those not begun
static const double SPIN_SECONDS = 50e-6, SUSPENDED_SECONDS = 500e-6;

typedef struct pool_lane {
    atomic_uint state;
    taper_range_task task;
    void *argument;
    size_t begin, piece, end; // items: the lane's first; of a piece; behind the lane's last
    unsigned pieces;          // of the lane
} pool_lane;

typedef union pool_line { // threads do not share cache lines
    pool_lane lane;
    char bytes[LINE];
} pool_line;

typedef struct pool_worker {
    struct taper_pool *pool;
    unsigned number;
    pthread_t thread;
} pool_worker;

struct taper_pool {
    taper_allocator allocator;
    unsigned threads, workers; // workers: started
    unsigned slots, lanes;     // lanes: of a slot
    bool has_host;
    taper_thread_pool host;
    pid_t process;
    pool_line *lines; // of slot i and lane k: [i * lanes + k]
    void *block;
    size_t block_bytes;
    pool_worker *worker;
    atomic_bool stop;
    atomic_uint runs;       // under way
    atomic_uint busy_until; // ticks
    atomic_uint left;       // ticks at the end of the last run
    atomic_bool close;      // it began just after the one before: the next one may, too
    // Workers sleep here. Jobs only try the lock: what they then fail to wake is not needed.
    pthread_mutex_t idle;
    pthread_cond_t wake;
    atomic_uint asleep;
    // Here those whose last pieces others have.
    pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_uint waiting;
    char apart[LINE];
    atomic_bool taken[SLOTS]; // by the thread whose job it is
};

// ---- waiting

typedef struct patience {
    double until;
    unsigned yields;
} patience;

// Watches `count` lanes, `step` lines apart, until one has pieces to begin (to_begin) or has none unfinished. Returns
// false once it is time to sleep; true may mean nothing.
static bool wait_a_little(patience *p, const pool_line *line, unsigned count, unsigned step, bool to_begin)
{
    for (unsigned i = 0; i < PAUSES; i++) {
        for (unsigned k = 0; k < count; k++) {
            const unsigned state =
                atomic_load_explicit((atomic_uint *)&line[k * step].lane.state, memory_order_relaxed);
            if (to_begin ? state >= BEGIN : state == 0) {
                return true;
            }
        }
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

// In units of 10 us: differences of less than a few hours are right.
static unsigned ticks(double seconds)
{
    return (unsigned)(uint64_t)(1e5 * seconds);
}

static bool is_busy(taper_pool *pool, double now)
{
    return atomic_load_explicit(&pool->busy_until, memory_order_relaxed) - ticks(now) - 1 < INT32_MAX;
}

// Waits for what others have begun of a lane; each of the caller's own pieces took `own` seconds. Who waits far longer
// than that waits for a thread that the system has suspended for the sake of others, and would do so again.
static void wait_for_lane(taper_pool *pool, pool_line *line, double own)
{
    patience p = {0, 0};
    while (atomic_load_explicit(&line->lane.state, memory_order_acquire) != 0) {
        if (wait_a_little(&p, line, 1, 1, false)) {
            continue;
        }
        const double begin = taper_clock();
        (void)pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->waiting, 1u);
        while (atomic_load(&line->lane.state) != 0) {
            (void)pthread_cond_wait(&pool->done, &pool->lock);
        }
        atomic_fetch_sub(&pool->waiting, 1u);
        (void)pthread_mutex_unlock(&pool->lock);
        const double end = taper_clock(), waited = end - begin;
        if (waited > SUSPENDED_SECONDS + 4 * own) {
            atomic_store_explicit(&pool->busy_until, ticks(end + 10 * waited), memory_order_relaxed);
        }
    }
}

// ---- pieces

static void finish_piece(taper_pool *pool, pool_lane *lane, unsigned number)
{
    const size_t begin = lane->begin + number * lane->piece;
    lane->task(lane->argument, begin, begin + taper_min_size(lane->piece, lane->end - begin));
    // Sequentially consistent, as are the sleeper's: either he sees the 0, or this sees him.
    if (atomic_fetch_sub(&lane->state, 1u) == 1 && atomic_load(&pool->waiting) != 0) {
        (void)pthread_mutex_lock(&pool->lock);
        (void)pthread_cond_broadcast(&pool->done);
        (void)pthread_mutex_unlock(&pool->lock);
    }
}

// Does a piece that nobody has begun, if there is one: of the slot's lane `first`, or else of the next that has one.
static bool do_piece(taper_pool *pool, unsigned slot, unsigned first)
{
    for (unsigned i = 0; i < pool->lanes; i++) {
        pool_lane *lane = &pool->lines[slot * pool->lanes + (first + i) % pool->lanes].lane;
        unsigned state = atomic_load_explicit(&lane->state, memory_order_relaxed);
        while (state >= BEGIN) {
            if (atomic_compare_exchange_weak_explicit(&lane->state, &state, state - BEGIN, memory_order_acquire,
                                                      memory_order_relaxed)) {
                finish_piece(pool, lane, lane->pieces - state / BEGIN);
                return true;
            }
        }
    }
    return false;
}

// ---- workers

// How many have something to do: with every run more there is a thread less to spare.
static unsigned wanted_workers(taper_pool *pool)
{
    const unsigned runs = atomic_load_explicit(&pool->runs, memory_order_relaxed);
    return runs < pool->threads ? pool->threads - (runs != 0 ? runs : 1) : 0;
}

static bool work_once(taper_pool *pool, const pool_worker *self)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (do_piece(pool, (self->number + i) % SLOTS, self->number + 1)) {
            return true;
        }
    }
    return false;
}

// Between runs nobody spins. Of runs that follow each other closely, in a loop over pictures say, workers yield through
// the gap, because falling asleep and being woken takes longer.
static bool is_run_near(taper_pool *pool)
{
    return atomic_load_explicit(&pool->close, memory_order_relaxed) &&
           ticks(taper_clock()) - atomic_load_explicit(&pool->left, memory_order_relaxed) < NEAR_TICKS;
}

static void sleep_until_woken(taper_pool *pool)
{
    (void)pthread_mutex_lock(&pool->idle);
    atomic_fetch_add(&pool->asleep, 1u);
    if (!atomic_load(&pool->stop)) {
        (void)pthread_cond_wait(&pool->wake, &pool->idle);
    }
    atomic_fetch_sub(&pool->asleep, 1u);
    (void)pthread_mutex_unlock(&pool->idle);
}

static void *work(void *argument)
{
    const pool_worker *self = argument;
    taper_pool *pool = self->pool;
    patience p = {0, 0};
    while (!atomic_load_explicit(&pool->stop, memory_order_acquire)) {
        const bool wanted = self->number < wanted_workers(pool);
        if (wanted && work_once(pool, self)) {
            p = (patience){0, 0};
        } else if (wanted && atomic_load_explicit(&pool->runs, memory_order_relaxed) == 0 && is_run_near(pool)) {
            (void)sched_yield();
        } else if (!wanted || atomic_load_explicit(&pool->runs, memory_order_relaxed) == 0 ||
                   !wait_a_little(&p, pool->lines + (self->number + 1) % pool->lanes, SLOTS, pool->lanes, true)) {
            sleep_until_woken(pool);
            p = (patience){0, 0};
        }
    }
    return NULL;
}

// A job that comes while a worker falls asleep may find it awake: then it is done without it.
static void wake_workers(taper_pool *pool)
{
    const unsigned awake = pool->workers - atomic_load_explicit(&pool->asleep, memory_order_relaxed);
    // Of those asleep some are not wanted; in a child that was forked there are none.
    if (awake >= taper_min_size(wanted_workers(pool), pool->workers) || pool->process != getpid() ||
        pthread_mutex_trylock(&pool->idle) != 0) {
        return;
    }
    (void)pthread_mutex_unlock(&pool->idle);
    (void)pthread_cond_broadcast(&pool->wake);
}

// ---- jobs

static void host_piece(void *argument, size_t index)
{
    const pool_lane *job = argument;
    const size_t begin = job->begin + index * job->piece;
    job->task(job->argument, begin, begin + taper_min_size(job->piece, job->end - begin));
}

// The slot is the caller's, who has the first piece of lane 0 from the start.
static bool run_shared(taper_pool *pool, unsigned slot, const pool_lane *job, double now, taper_pool_check check,
                       void *user)
{
    pool_line *const lines = pool->lines + slot * pool->lanes;
    const size_t all = job->end - job->begin;
    const size_t used = taper_min_size(pool->lanes, taper_max_size(all / job->piece, 1));
    const size_t most = all / used, more = all % used;
    for (size_t i = pool->lanes; i-- > 0;) {
        pool_lane *lane = &lines[i].lane;
        const size_t count = i < used ? most + (i < more) : 0;
        lane->task = job->task;
        lane->argument = job->argument;
        lane->begin = job->begin + i * most + taper_min_size(i, more);
        lane->piece = job->piece;
        lane->end = lane->begin + count;
        lane->pieces = (unsigned)((count + job->piece - 1) / job->piece);
        atomic_store_explicit(&lane->state, lane->pieces * (BEGIN + 1) - (i == 0 ? BEGIN : 0), memory_order_release);
    }
    wake_workers(pool);
    finish_piece(pool, &lines[0].lane, 0);
    unsigned done = 1;
    bool going = check(user);
    for (; going && do_piece(pool, slot, 0); done++) {
        going = check(user);
    }
    for (unsigned i = 0; i < pool->lanes; i++) {
        unsigned state = atomic_load_explicit(&lines[i].lane.state, memory_order_acquire);
        while (!going && state >= BEGIN &&
               !atomic_compare_exchange_weak(&lines[i].lane.state, &state, state - state / BEGIN * (BEGIN + 1))) {
        }
        if (state != 0) {
            wait_for_lane(pool, &lines[i], (taper_clock() - now) / done);
        }
    }
    return going;
}

bool taper_pool_run(taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                    taper_pool_check check, void *user)
{
    const double now = taper_clock();
    unsigned slot = 0;
    bool taken = false;
    if (pool != NULL && wanted_workers(pool) != 0 && count > piece && !is_busy(pool, now)) {
        while (slot < pool->slots &&
               !(taken = !atomic_exchange_explicit(&pool->taken[slot], true, memory_order_acquire))) {
            slot++;
        }
    }
    // In batches: of pieces that can be counted; and in the host's pool, where the thread that may ask is not known to
    // do any of the pieces, of so many that it asks often enough.
    const size_t most = !taken ? 1 : pool->has_host ? HOST_PIECES : BATCH_PIECES;
    bool going = true;
    for (size_t begin = 0; begin < count && (going = check(user));) {
        const size_t pieces = taper_min_size((count - begin - 1) / piece + 1, most);
        pool_lane job = {.task = task, .argument = argument, .begin = begin, .piece = piece};
        job.end = begin + taper_min_size(pieces * piece, count - begin);
        if (pieces == 1) {
            task(argument, begin, job.end);
        } else if (pool->has_host) {
            pool->host.run(pool->host.user, host_piece, &job, pieces);
        } else {
            going = run_shared(pool, slot, &job, now, check, user);
        }
        begin = going ? job.end : count;
    }
    if (taken) {
        atomic_store_explicit(&pool->taken[slot], false, memory_order_release);
    }
    return going;
}

// ---- the pool

static taper_status start_workers(taper_pool *pool, taper_error *error)
{
    pool->slots = SLOTS;
    pool->lanes = pool->threads < LANES ? pool->threads : LANES;
    pool->block_bytes = (SLOTS * pool->lanes + 1) * sizeof(pool_line) + pool->threads * sizeof *pool->worker;
    pool->block = taper_alloc_zeroed(&pool->allocator, pool->block_bytes);
    if (pool->block == NULL) {
        return taper_fail_memory(error);
    }
    pool->lines = (pool_line *)(((uintptr_t)pool->block + LINE - 1) / LINE * LINE);
    pool->worker = (pool_worker *)(void *)(pool->lines + SLOTS * pool->lanes);
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
        p->slots = 1; // the host's pool has one job at a time
        const size_t count = host->thread_count(host->user);
        p->threads = count > 0 ? (unsigned)taper_min_size(count, MOST_THREADS) : 1;
    } else {
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
    taper_free(&allocator, pool->block, pool->block_bytes);
    taper_free(&allocator, pool, sizeof *pool);
}

unsigned taper_pool_threads(const taper_pool *pool)
{
    return pool != NULL ? pool->threads : 1;
}

void taper_pool_enter(taper_pool *pool, bool soon)
{
    const double now = taper_clock();
    const bool close = ticks(now) - atomic_load_explicit(&pool->left, memory_order_relaxed) < NEAR_TICKS;
    atomic_store_explicit(&pool->close, close, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->runs, 1u, memory_order_relaxed);
    if (soon && !is_busy(pool, now)) {
        wake_workers(pool);
    }
}

bool taper_pool_is_awake(taper_pool *pool)
{
    return pool != NULL && atomic_load_explicit(&pool->asleep, memory_order_relaxed) < pool->workers;
}

void taper_pool_leave(taper_pool *pool)
{
    atomic_store_explicit(&pool->left, ticks(taper_clock()), memory_order_relaxed);
    atomic_fetch_sub_explicit(&pool->runs, 1u, memory_order_relaxed);
}
