// SPDX-License-Identifier: BSD-2-Clause
// The struct taper_context: data that all models and sessions of one host share.
#ifndef TAPER_RUNTIME_CONTEXT_H
#define TAPER_RUNTIME_CONTEXT_H

#include "ops/list/registry.h"
#include "platform/threads.h"

// A cache directory. Previous directories live as long as the context, because other threads may still use their names.
typedef struct taper_cache_dir {
    struct taper_cache_dir *before;
    size_t bytes; // size of this struct in bytes
    char path[];
} taper_cache_dir;

struct taper_context {
    taper_refs refs;
    taper_allocator allocator;
    taper_types *types;
    taper_heap *heap; // heap for values that the host creates
    taper_registry *registry;
    taper_pool *pool;
    uint64_t cpu;
    // Array of backends that ends with NULL. If the pointer to the array is NULL, the backends of
    // backends/backend_list.inc are used.
    const struct taper_backend *const *backends;
    struct taper_mutex *device_lock;
    struct opened *devices;               // list of opened devices (runtime/device.c)
    struct taper_device *host;            // the CPU, which is one of the devices
    _Atomic(taper_cache_dir *) cache_dir; // cache directory that was set last, or NULL
    struct taper_mutex *gradient_lock;    // lock of tapes with `keeps` set (tape.h); NULL without gradients
    atomic_bool results_stay; // true if results of a session may remain on a device, so that inputs may be there too
    taper_log_function log;
    void *log_user;
};

void taper_context_retain(taper_context *context);
// Returns the cache directory, or NULL for none. The text remains valid as long as the context.
static inline const char *taper_context_cache_dir(const taper_context *context)
{
    const taper_cache_dir *dir = atomic_load_explicit(&context->cache_dir, memory_order_acquire);
    return dir != NULL && dir->path[0] != '\0' ? dir->path : NULL;
}

// Fails in a build that computes no gradients.
static inline TAPER_MUST_USE taper_status taper_gradients_built(taper_error *error)
{
#ifdef TAPER_WITH_GRADIENTS
    (void)error;
    return TAPER_OK;
#else
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
               "this build computes no gradients: build the library with TAPER_WITH_GRADIENTS=ON");
#endif
}

// ---- device.c

TAPER_MUST_USE taper_status taper_context_open_host(taper_context *context, taper_error *error);
void taper_context_close_devices(taper_context *context);

#endif
