// SPDX-License-Identifier: BSD-2-Clause
// The thread pool: our own threads, or the host's pool. Operators come here through ops/call/parallel.h.
//
// Whoever has a job works on it himself, piece by piece, until no piece is left, and then waits for pieces that some
// worker has begun, for nothing else: a worker that the system does not schedule costs the job nothing. If one is
// suspended in the midst of a piece, the machine is busy, and for some time nothing is shared. Jobs of several
// threads are open at once; who finds no place among them, and who would only get in the way of as many runs as there
// are threads, does his pieces alone. Waiting spins for at most 50 us, yields, then sleeps; workers do not even spin
// unless a run is under way.
#ifndef TAPER_PLATFORM_THREADS_H
#define TAPER_PLATFORM_THREADS_H

#include "base/memory.h"
#include "platform/cores.h"

typedef struct taper_pool taper_pool;

// threads: the caller's included; 0: taper_cpu_cores(); 1 makes a pool without threads. host (may be NULL) is used
// instead of own threads.
TAPER_MUST_USE taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads,
                                              const taper_thread_pool *host, taper_pool **pool, taper_error *error);
void taper_pool_destroy(taper_pool *pool);
unsigned taper_pool_threads(const taper_pool *pool); // pool NULL: 1
bool taper_pool_is_hosts(const taper_pool *pool);    // whose threads may do anything else while they wait
// As in taper_pool_create, at most 64 or as many as then; for runs under way too. The host's pool stays as it is.
void taper_pool_set_threads(taper_pool *pool, unsigned threads);
taper_caches taper_pool_caches(const taper_pool *pool); // of this machine; a guess where unknown, or pool is NULL

// A thread's run begins, and ends. soon: it will share work soon, so workers may as well wake up.
void taper_pool_enter(taper_pool *pool, bool soon);
void taper_pool_leave(taper_pool *pool);
// Whether a worker is up, so that sharing costs little.
bool taper_pool_is_awake(taper_pool *pool);

// Calls task(argument, begin, end) for pieces of [0, count), `piece` items long (the last of each thread's part may be
// shorter): each once, in any order, on any thread. Returns when all are done. Before every piece of its own the
// calling thread asks check (not with the host's pool: there now and then); when that says false, pieces nobody has
// begun are left out and the result is false.
typedef void (*taper_range_task)(void *argument, size_t begin, size_t end);
typedef bool (*taper_pool_check)(void *user);
bool taper_pool_run(taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t piece,
                    taper_pool_check check, void *user);

#endif
