// SPDX-License-Identifier: BSD-2-Clause
// The struct of taper_context: data that the models and sessions of one host share.
#ifndef TAPER_RUNTIME_CONTEXT_H
#define TAPER_RUNTIME_CONTEXT_H

#include "ops/list/registry.h"
#include "platform/threads.h"

// A cache directory. The previous ones live as long as the context, because other threads may still use them.
typedef struct taper_cache_dir {
    struct taper_cache_dir *before;
    size_t bytes; // bytes of this struct
    char path[];
} taper_cache_dir;

struct taper_context {
    taper_refs refs;
    taper_allocator allocator;
    taper_types *types;
    taper_heap *heap; // heap of the host's values
    taper_registry *registry;
    taper_pool *pool;
    uint64_t cpu;
    const struct taper_backend *const *backends; // ends with NULL; NULL means backends/backend_list.inc
    struct taper_mutex *device_lock;
    struct opened *devices;               // opened devices, runtime/device.c
    struct taper_device *host;            // the CPU, one of the devices
    _Atomic(taper_cache_dir *) cache_dir; // the last one that was set
    atomic_bool results_stay; // true if results of some session may remain on a device, so that inputs may be there
    taper_log_function log;
    void *log_user;
};

void taper_context_retain(taper_context *context);
// Returns the cache directory, or NULL for none. The text is valid as long as the context.
static inline const char *taper_context_cache_dir(const taper_context *context)
{
    const taper_cache_dir *dir = atomic_load_explicit(&context->cache_dir, memory_order_acquire);
    return dir != NULL && dir->path[0] != '\0' ? dir->path : NULL;
}

// ---- device.c

TAPER_MUST_USE taper_status taper_context_open_host(taper_context *context, taper_error *error);
void taper_context_close_devices(taper_context *context);

#endif
