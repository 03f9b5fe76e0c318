// SPDX-License-Identifier: BSD-2-Clause
// The thread pool, which consists of its own threads or uses the host's pool. Operators use it through
// ops/call/parallel.h.
//
// A job is divided into pieces. The thread that starts a job processes pieces itself until none is left. Then it waits
// only for pieces that workers have begun, so a worker that the system does not schedule does not delay the job. If the
// system suspends a worker during a piece, the machine is busy, and the pool does not share jobs for some time. Several
// threads may have jobs at once. A thread processes all pieces of its job itself if no slot for jobs is free, or if as
// many runs are active as there are threads. A waiting thread spins for at most 50 us, then yields, then sleeps.
// Workers spin only while a run is active.
#ifndef TAPER_PLATFORM_THREADS_H
#define TAPER_PLATFORM_THREADS_H

#include "base/memory.h"
#include "platform/cores.h"

typedef struct taper_pool taper_pool;

// Creates a pool. threads: number of threads including the calling thread; 0 means taper_cpu_cores(), and 1 makes a
// pool without workers. host: pool of the host that is used instead of own threads, or NULL for own threads.
TAPER_MUST_USE taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads,
                                              const taper_thread_pool *host, taper_pool **pool, taper_error *error);
void taper_pool_destroy(taper_pool *pool);
unsigned taper_pool_threads(const taper_pool *pool); // returns 1 if `pool` is NULL
// Returns true for a host's pool, whose threads may do other work while they wait.
bool taper_pool_is_hosts(const taper_pool *pool);
// Changes the number of threads, which also affects active runs. threads: as in taper_pool_create, at most 64 or the
// number at creation, whichever is larger. Does nothing for a host's pool.
void taper_pool_set_threads(taper_pool *pool, unsigned threads);
// Returns the sizes of this machine's caches. Returns a guess for a size that is unknown, and if `pool` is NULL.
taper_caches taper_pool_caches(const taper_pool *pool);

// The calling thread reports the beginning and the end of a run. soon: true if the run will share work soon, so
// that workers should wake up now.
void taper_pool_enter(taper_pool *pool, bool soon);
void taper_pool_leave(taper_pool *pool);
// Returns true if a worker is awake, so that sharing a job costs little.
bool taper_pool_is_awake(taper_pool *pool);

// Calls task(argument, begin, end) for pieces of [0, count), each once, in any order, on any thread. A piece has
// `piece` items; the last piece of each thread's share may have fewer. Returns when all pieces are done. The calling
// thread calls `check` before each of its own pieces, but less often in a host's pool. If `check` returns false, pieces
// that no thread has begun are skipped, and the result is false.
typedef void (*taper_range_task)(void *argument, size_t begin, size_t end);
typedef bool (*taper_pool_check)(void *user);
bool taper_pool_run(taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                    taper_pool_check check, void *user);

#endif
