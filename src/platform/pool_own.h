// SPDX-License-Identifier: BSD-2-Clause
// The small pool that stands in where pthreadpool is not available: workers spin for a while for the next job, then
// sleep. One job at a time (threads.c sees to it).
#ifndef TAPER_PLATFORM_POOL_OWN_H
#define TAPER_PLATFORM_POOL_OWN_H

#include "base/memory.h"

typedef struct taper_own_pool taper_own_pool;

TAPER_MUST_USE taper_status taper_own_pool_create(const taper_allocator *allocator, unsigned threads,
                                                  taper_own_pool **pool, taper_error *error);
void taper_own_pool_destroy(taper_own_pool *pool);
void taper_own_pool_run(taper_own_pool *pool, void (*task)(void *argument, size_t index), void *argument, size_t count);

#endif
