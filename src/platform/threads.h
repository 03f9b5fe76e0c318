// SPDX-License-Identifier: BSD-2-Clause
// The thread pool: pthreadpool, or a small pool of our own where that is not there, or the host's.
#ifndef TAPER_PLATFORM_THREADS_H
#define TAPER_PLATFORM_THREADS_H

#include "base/memory.h"

typedef struct taper_pool taper_pool;

// threads: the caller's included; 1 makes a pool without threads. host (may be NULL) is used instead of own threads.
TAPER_MUST_USE taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads,
                                              const taper_thread_pool *host, taper_pool **pool, taper_error *error);
void taper_pool_destroy(taper_pool *pool);
unsigned taper_pool_threads(const taper_pool *pool); // pool NULL: 1

// Calls task(argument, begin, end) over pieces of [0, count), each at least `grain` long (the last excepted), at most
// one piece per thread times four; in the caller's thread alone when count <= grain. Several callers take turns.
typedef void (*taper_range_task)(void *argument, size_t begin, size_t end);
void taper_pool_range(const taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t grain);

// Calls task(argument, i) for every i in [0, count).
typedef void (*taper_index_task)(void *argument, size_t index);
void taper_pool_each(const taper_pool *pool, taper_index_task task, void *argument, size_t count);

#endif
