// SPDX-License-Identifier: BSD-2-Clause
// The thread pool: our own threads, or the host's pool. Operators use it through ops/call/parallel.h.
//
// The thread that has a job works on it itself, piece by piece, until no piece is left. Then it waits only for pieces
// that a worker has begun, so a worker that the system does not schedule costs the job nothing. If the system suspends
// a worker during a piece, the machine is busy, and the pool shares nothing for some time. Jobs of several threads are
// open at once. A thread does its pieces alone if it finds no free slot, or if there are as many runs as threads. A
// thread that waits spins for at most 50 us, yields, then sleeps. Workers spin only while a run is under way.
#ifndef TAPER_PLATFORM_THREADS_H
#define TAPER_PLATFORM_THREADS_H

#include "base/memory.h"
#include "platform/cores.h"

typedef struct taper_pool taper_pool;

// threads: the number of threads including the caller's; 0 means taper_cpu_cores(), and 1 makes a pool without threads.
// host: a pool that is used instead of own threads, or NULL.
TAPER_MUST_USE taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads,
                                              const taper_thread_pool *host, taper_pool **pool, taper_error *error);
void taper_pool_destroy(taper_pool *pool);
unsigned taper_pool_threads(const taper_pool *pool); // 1 if pool is NULL
// True for a host's pool, whose threads may do other work while they wait.
bool taper_pool_is_hosts(const taper_pool *pool);
// Changes the number of threads, also for runs under way. threads: as in taper_pool_create, at most 64 or the number at
// creation, whichever is larger. A host's pool does not change.
void taper_pool_set_threads(taper_pool *pool, unsigned threads);
// Caches of this machine; a guess for an unknown size, and if pool is NULL.
taper_caches taper_pool_caches(const taper_pool *pool);

// Report the begin and the end of a run of this thread. soon: the run will share work soon, so workers wake up now.
void taper_pool_enter(taper_pool *pool, bool soon);
void taper_pool_leave(taper_pool *pool);
// Returns true if a worker is awake, so that sharing costs little.
bool taper_pool_is_awake(taper_pool *pool);

// Calls task(argument, begin, end) for pieces of [0, count), each once, in any order, on any thread. A piece has
// `piece` items, but the last piece of each thread's part may have fewer. Returns when all pieces are done. The calling
// thread calls check before each of its own pieces, but in the host's pool only now and then. If check returns false,
// pieces that no thread has begun are left out and the result is false.
typedef void (*taper_range_task)(void *argument, size_t begin, size_t end);
typedef bool (*taper_pool_check)(void *user);
bool taper_pool_run(taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                    taper_pool_check check, void *user);

#endif
