// SPDX-License-Identifier: BSD-2-Clause
// A job occupies one of a few slots of the pool. Its pieces are divided into lanes and are begun in order. Each thread
// begins with its own lane, which is the same in every job, because its caches contain what it wrote there in the last
// job. Then it helps in the other lanes.
//
// A thread enters a lane only by changing the lane's state: it atomically moves one piece from the pieces not begun to
// the pieces in progress. The job cannot end until the thread has subtracted that piece again. If a worker wakes late,
// the state is 0 and it does nothing. If a worker was interrupted between reading the state and changing it, it gets a
// piece of the job that has the slot by then. A lane contains everything that its thread needs, in one cache line.
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
    MOST_THREADS = 1024,
    ROOM = 64, // number of workers for which memory is reserved, for a later taper_pool_set_threads
    LINE = 64
};
// A lane's state is LEFT times the number of pieces not begun, plus the number of pieces in progress.
enum { LEFT = 0x10000 };
// Times in microseconds. SPIN: how long a thread spins before it yields. SUSPENDED: longest normal wait. NEAR: longest
// time after a run that counts as shortly after it. LONGEST: longer waits count as LONGEST.
enum { SPIN = 50, SUSPENDED = 500, NEAR = 50, LONGEST = 60 * 1000 * 1000 };

typedef struct pool_lane {
    atomic_uint state;
    taper_range_task task;
    void *argument;
    size_t begin, piece, end; // first item of the lane, number of items in a piece, end of the lane
    unsigned pieces;          // number of pieces of the lane
} pool_lane;

typedef union pool_line { // a lane in its own cache line, so that two threads do not write to one cache line
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
    unsigned room;       // number of entries of `worker`
    atomic_uint threads; // number of threads that work, including the calling thread
    atomic_uint workers; // number of workers started
    taper_caches caches;
    unsigned slots, lanes; // number of slots, and of lanes in each slot
    bool has_host;
    taper_thread_pool host;
    pid_t process;
    pool_line *lines; // lane k of slot i is lines[i * lanes + k]
    size_t bytes;
    pool_worker *worker;
    atomic_bool stop;
    atomic_uint runs;       // number of active runs
    atomic_bool busy;       // true while other processes seem to use the machine
    atomic_uint busy_until; // time until which the pool counts as busy, as microseconds() returns it; valid while busy
    atomic_uint left;       // time at which the last run ended, as microseconds() returns it
    // True if the last run began shortly after the run before it. If so, the next run will probably begin soon, too.
    atomic_bool close;
    // Workers sleep here. A job does not take the lock, because the thread that holds it may be suspended.
    pthread_mutex_t idle;
    pthread_cond_t wake;
    atomic_uint asleep;
    // Callers sleep here while other threads finish the last pieces.
    pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_uint waiting;
    char apart[LINE];
    atomic_uint taken[SLOTS]; // 1 while a thread has a job in the slot, otherwise 0
};

// ---- waiting for other threads

// Returns the clock in microseconds, modulo 2^32. Differences of up to half an hour are correct.
static unsigned microseconds(void)
{
    return (unsigned)(uint64_t)(1e6 * taper_clock());
}

typedef struct patience {
    unsigned begin, yields;
    bool begun;
} patience;

// Watches `count` lanes, which are `step` lines apart, for a short time. Returns true early: with to_begin, when a lane
// has pieces to begin; without to_begin, when a lane has no unfinished piece. Also returns true if it is too early to
// sleep, and false if it is time to sleep. After true the caller checks the lanes again.
static bool wait_a_little(patience *p, const pool_line *line, unsigned count, unsigned step, bool to_begin)
{
    for (unsigned i = 0; i < PAUSES; i++) {
        for (unsigned k = 0; k < count; k++) {
            const unsigned state =
                atomic_load_explicit((atomic_uint *)&line[k * step].lane.state, memory_order_relaxed);
            if (to_begin ? state >= LEFT : state == 0) {
                return true;
            }
        }
        taper_pause();
    }
    if (!p->begun) {
        *p = (patience){.begin = microseconds(), .begun = true};
    }
    if (microseconds() - p->begin < SPIN) {
        return true;
    }
    (void)sched_yield();
    return ++p->yields <= YIELDS;
}

static bool is_busy(taper_pool *pool, unsigned now)
{
    if (atomic_load_explicit(&pool->busy, memory_order_relaxed) &&
        atomic_load_explicit(&pool->busy_until, memory_order_relaxed) - now > INT32_MAX) {
        atomic_store_explicit(&pool->busy, false, memory_order_relaxed);
    }
    return atomic_load_explicit(&pool->busy, memory_order_relaxed);
}

// Waits for the pieces of a lane that other threads have begun. `own`: time that each of the caller's own pieces took,
// in microseconds. If waiting takes far longer than `own`, the system has suspended the other thread for another
// process and would do so again, so the pool is marked as busy.
static void wait_for_lane(taper_pool *pool, pool_line *line, unsigned own)
{
    patience p = {0};
    while (atomic_load_explicit(&line->lane.state, memory_order_acquire) != 0) {
        if (wait_a_little(&p, line, 1, 1, false)) {
            continue;
        }
        const unsigned begin = microseconds();
        (void)pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->waiting, 1u);
        while (atomic_load(&line->lane.state) != 0) {
            (void)pthread_cond_wait(&pool->done, &pool->lock);
        }
        atomic_fetch_sub(&pool->waiting, 1u);
        (void)pthread_mutex_unlock(&pool->lock);
        const unsigned end = microseconds(), waited = end - begin;
        if (waited > SUSPENDED + 4 * own) {
            atomic_store_explicit(&pool->busy_until, end + 10 * (waited < LONGEST ? waited : LONGEST),
                                  memory_order_relaxed);
            atomic_store_explicit(&pool->busy, true, memory_order_relaxed);
        }
    }
}

// ---- pieces of a job: ranges of its indices

static void run_piece(void *argument, size_t number)
{
    const pool_lane *lane = argument;
    const size_t begin = lane->begin + number * lane->piece;
    lane->task(lane->argument, begin, begin + taper_min_size(lane->piece, lane->end - begin));
}

static void finish_piece(taper_pool *pool, pool_lane *lane, size_t number)
{
    run_piece(lane, number);
    // Both operations are sequentially consistent, and so are the operations of a thread that falls asleep. Either that
    // thread sees that the lane is empty, or this thread sees the sleeper.
    if (atomic_fetch_sub(&lane->state, 1u) == 1 && atomic_load(&pool->waiting) != 0) {
        (void)pthread_mutex_lock(&pool->lock);
        (void)pthread_cond_broadcast(&pool->done);
        (void)pthread_mutex_unlock(&pool->lock);
    }
}

// Processes one piece that no thread has begun, of lane `first` of the slot, or of the next lane that has such a piece.
// Returns false if no lane has one.
static bool do_piece(taper_pool *pool, unsigned slot, unsigned first)
{
    for (unsigned i = 0; i < pool->lanes; i++) {
        pool_lane *lane = &pool->lines[slot * pool->lanes + (first + i) % pool->lanes].lane;
        unsigned state = atomic_load_explicit(&lane->state, memory_order_relaxed);
        while (state >= LEFT) {
            if (atomic_compare_exchange_weak_explicit(&lane->state, &state, state - LEFT + 1, memory_order_acquire,
                                                      memory_order_relaxed)) {
                finish_piece(pool, lane, lane->pieces - state / LEFT);
                return true;
            }
        }
    }
    return false;
}

// ---- workers: the threads of the pool

// Returns the number of workers that can be useful. Every active run except the first has a thread of its own, so each
// of these runs makes one worker useless.
static unsigned wanted_workers(taper_pool *pool)
{
    const unsigned runs = atomic_load_explicit(&pool->runs, memory_order_relaxed);
    const unsigned threads = taper_pool_threads(pool);
    return runs < threads ? threads - (runs != 0 ? runs : 1) : 0;
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

// Workers do not spin between runs. If runs follow each other closely, for example in a loop over pictures, workers
// yield between the runs, because falling asleep and waking takes longer than yielding.
static bool is_run_near(taper_pool *pool)
{
    return atomic_load_explicit(&pool->close, memory_order_relaxed) &&
           microseconds() - atomic_load_explicit(&pool->left, memory_order_relaxed) < NEAR;
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
    patience p = {0};
    while (!atomic_load_explicit(&pool->stop, memory_order_acquire)) {
        const bool wanted = self->number < wanted_workers(pool);
        if (wanted && work_once(pool, self)) {
            p.begun = false;
        } else if (wanted && atomic_load_explicit(&pool->runs, memory_order_relaxed) == 0 && is_run_near(pool)) {
            (void)sched_yield();
        } else if (!wanted || atomic_load_explicit(&pool->runs, memory_order_relaxed) == 0 ||
                   !wait_a_little(&p, pool->lines + (self->number + 1) % pool->lanes, SLOTS, pool->lanes, true)) {
            sleep_until_woken(pool);
            p.begun = false;
        }
    }
    return NULL;
}

// Wakes sleeping workers. If a worker is just falling asleep, it may miss the signal, and the job is done without this
// worker.
static void wake_workers(taper_pool *pool)
{
    const unsigned workers = atomic_load_explicit(&pool->workers, memory_order_relaxed);
    const unsigned awake = workers - atomic_load_explicit(&pool->asleep, memory_order_relaxed);
    // If all wanted workers are awake, none is woken. A forked child has no workers.
    if (awake < taper_min_size(wanted_workers(pool), workers) && pool->process == getpid()) {
        (void)pthread_cond_broadcast(&pool->wake);
    }
}

// ---- running jobs

// Runs a job in a slot that the caller has taken. The caller has already begun the first piece of lane 0.
static bool run_shared(taper_pool *pool, unsigned slot, const pool_lane *job, unsigned now, taper_pool_check check,
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
        atomic_store_explicit(&lane->state, lane->pieces * LEFT - (i == 0 ? LEFT - 1 : 0), memory_order_release);
    }
    wake_workers(pool);
    finish_piece(pool, &lines[0].lane, 0);
    unsigned done = 1;
    bool going = check(user);
    for (; going && do_piece(pool, slot, 0); done++) {
        going = check(user);
    }
    for (unsigned i = 0; i < pool->lanes; i++) {
        if (!going) {
            atomic_fetch_and(&lines[i].lane.state, LEFT - 1u);
        }
        if (atomic_load_explicit(&lines[i].lane.state, memory_order_acquire) != 0) {
            wait_for_lane(pool, &lines[i], (microseconds() - now) / done);
        }
    }
    return going;
}

bool taper_pool_run(taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                    taper_pool_check check, void *user)
{
    const bool many = pool != NULL && count > piece && wanted_workers(pool) != 0;
    const unsigned now = many ? microseconds() : 0;
    unsigned slot = 0;
    bool taken = false;
    if (many && !is_busy(pool, now)) {
        while (slot < pool->slots &&
               !(taken = !atomic_exchange_explicit(&pool->taken[slot], 1u, memory_order_acquire))) {
            slot++;
        }
    }
    // The job is divided into batches, and `check` is called before each batch. If the pool has its own threads, a
    // batch has at most BATCH_PIECES pieces, because the state of a lane counts them in a few bits. A host's pool may
    // run all pieces in other threads, so its batches are small, and `check` is called often.
    const size_t most = !taken ? 1 : pool->has_host ? HOST_PIECES : BATCH_PIECES;
    bool going = true;
    for (size_t begin = 0; begin < count && (going = check(user));) {
        const size_t pieces = taper_min_size((count - begin - 1) / piece + 1, most);
        pool_lane job = {.task = task, .argument = argument, .begin = begin, .piece = piece};
        job.end = begin + taper_min_size(pieces * piece, count - begin);
        if (pieces == 1) {
            task(argument, begin, job.end);
        } else if (pool->has_host) {
            pool->host.run(pool->host.user, run_piece, &job, pieces);
        } else {
            going = run_shared(pool, slot, &job, now, check, user);
        }
        begin = going ? job.end : count;
    }
    if (taken) {
        atomic_store_explicit(&pool->taken[slot], 0u, memory_order_release);
    }
    return going;
}

// ---- the pool

static void start_workers(taper_pool *pool)
{
    for (unsigned i = atomic_load(&pool->workers); i + 1 < taper_pool_threads(pool); i++) {
        pool_worker *worker = &pool->worker[i];
        worker->pool = pool;
        worker->number = i;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            return; // not an error: fewer threads than requested still do the work
        }
        atomic_store(&pool->workers, i + 1);
    }
}

void taper_pool_set_threads(taper_pool *pool, unsigned threads)
{
    if (pool->has_host || pool->process != getpid()) {
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    threads = threads != 0 ? threads : taper_cpu_cores();
    atomic_store(&pool->threads, (unsigned)taper_max_size(taper_min_size(threads, pool->room), 1));
    start_workers(pool);
    (void)pthread_mutex_unlock(&pool->lock);
}

taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads, const taper_thread_pool *host,
                               taper_pool **pool, taper_error *error)
{
    if (host != NULL) {
        threads = (unsigned)taper_min_size(host->thread_count(host->user), MOST_THREADS);
    } else if (threads == 0) {
        threads = taper_cpu_cores();
    }
    threads = (unsigned)taper_max_size(taper_min_size(threads, MOST_THREADS), 1);
    // One block of memory contains the pool, the lanes and the workers.
    const size_t lanes = taper_min_size(threads, LANES);
    const size_t room = host != NULL ? 0 : taper_max_size(threads, ROOM);
    const size_t bytes = sizeof **pool + (SLOTS * lanes + 1) * LINE + room * sizeof(pool_worker);
    taper_pool *p = *pool = taper_alloc_zeroed(allocator, bytes);
    if (p == NULL) {
        return taper_fail_memory(error);
    }
    p->allocator = *allocator;
    p->bytes = bytes;
    p->process = getpid();
    p->room = (unsigned)room;
    atomic_init(&p->threads, threads);
    p->caches = taper_cpu_caches();
    p->lanes = (unsigned)lanes;
    p->lines = (pool_line *)(((uintptr_t)(p + 1) + LINE - 1) / LINE * LINE);
    p->worker = (pool_worker *)(void *)(p->lines + SLOTS * lanes);
    (void)pthread_mutex_init(&p->idle, NULL);
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    (void)pthread_cond_init(&p->done, NULL);
    p->slots = 1; // a host's pool runs one job at a time
    if (host != NULL) {
        p->has_host = true;
        p->host = *host;
    } else {
        p->slots = SLOTS;
        start_workers(p);
    }
    return TAPER_OK;
}

void taper_pool_destroy(taper_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    if (pool->process == getpid()) { // in a forked child, the workers are only copies of the data
        (void)pthread_mutex_lock(&pool->idle);
        atomic_store(&pool->stop, true);
        (void)pthread_cond_broadcast(&pool->wake);
        (void)pthread_mutex_unlock(&pool->idle);
        for (unsigned i = 0; i < atomic_load(&pool->workers); i++) {
            (void)pthread_join(pool->worker[i].thread, NULL);
        }
        (void)pthread_cond_destroy(&pool->wake);
        (void)pthread_cond_destroy(&pool->done);
        (void)pthread_mutex_destroy(&pool->idle);
        (void)pthread_mutex_destroy(&pool->lock);
    }
    const taper_allocator allocator = pool->allocator;
    taper_free(&allocator, pool, pool->bytes);
}

bool taper_pool_is_hosts(const taper_pool *pool)
{
    return pool != NULL && pool->has_host;
}

unsigned taper_pool_threads(const taper_pool *pool)
{
    return pool != NULL ? atomic_load_explicit(&pool->threads, memory_order_relaxed) : 1;
}

taper_caches taper_pool_caches(const taper_pool *pool)
{
    const taper_caches known = pool != NULL ? pool->caches : (taper_caches){0, 0};
    return (taper_caches){known.l1 != 0 ? known.l1 : 32 * 1024, known.l2 != 0 ? known.l2 : 512 * 1024};
}

void taper_pool_enter(taper_pool *pool, bool soon)
{
    const unsigned now = microseconds();
    const bool close = now - atomic_load_explicit(&pool->left, memory_order_relaxed) < NEAR;
    atomic_store_explicit(&pool->close, close, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->runs, 1u, memory_order_relaxed);
    if (soon && !is_busy(pool, now)) {
        wake_workers(pool);
    }
}

bool taper_pool_is_awake(taper_pool *pool)
{
    return pool != NULL && atomic_load_explicit(&pool->asleep, memory_order_relaxed) <
                               atomic_load_explicit(&pool->workers, memory_order_relaxed);
}

void taper_pool_leave(taper_pool *pool)
{
    atomic_store_explicit(&pool->left, microseconds(), memory_order_relaxed);
    atomic_fetch_sub_explicit(&pool->runs, 1u, memory_order_relaxed);
}
