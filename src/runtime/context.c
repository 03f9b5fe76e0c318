// SPDX-License-Identifier: BSD-2-Clause
// Contexts: data that the models and sessions of one host share.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "platform/isa.h"
#include "platform/platform.h"
#include "runtime/context.h"
#include "runtime/kept_packs.h"

const char *taper_version(void)
{
    return "0.2.0";
}

static void log_to_stdio(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user;
    FILE *file = level == TAPER_LOG_PRINT ? stdout : stderr;
    (void)fwrite(text, 1, length, file);
}

#ifdef TAPER_WITH_GRADIENTS
enum { GRADIENTS = 1 };
#else
enum { GRADIENTS = 0 };
#endif
enum { KEEPS = TAPER_DEVICES || TAPER_KEEPS_PACKS }; // true if this build writes any files to a cache directory

taper_status taper_context_set_cache_dir(taper_context *context, const char *path, taper_error *error)
{
    TAPER_NEED(context, error);
    if (path != NULL && !taper_is_directory(path)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "cache_dir: there is no directory \"%s\"; make it first", path);
    }
    if (!KEEPS) {
        return TAPER_OK;
    }
    const size_t size = path != NULL ? strlen(path) + 1 : 1, bytes = sizeof(taper_cache_dir) + size;
    taper_cache_dir *dir = taper_alloc_zeroed(&context->allocator, bytes);
    if (dir == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(dir->path, path != NULL ? path : "", size);
    dir->bytes = bytes;
    dir->before = atomic_load_explicit(&context->cache_dir, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&context->cache_dir, &dir->before, dir, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
    }
    return TAPER_OK;
}

taper_status taper_context_create(const taper_context_options *options, taper_context **context, taper_error *error)
{
    taper_context_options o;
    TAPER_NEED_OUT(context, error);
    TAPER_TRY(taper_struct_read(options, "taper_context_options", &o, sizeof o, error));
    if (o.cache_dir != NULL && !taper_is_directory(o.cache_dir)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "cache_dir: there is no directory \"%s\"; make it first", o.cache_dir);
    }
    if (o.allocator != NULL && o.allocator->reallocate == NULL) {
        return taper_fail_null(error, "taper_context_options.allocator->reallocate");
    }
    if (o.pool != NULL && o.pool->thread_count == NULL) {
        return taper_fail_null(error, "taper_context_options.pool->thread_count");
    }
    if (o.pool != NULL && o.pool->run == NULL) {
        return taper_fail_null(error, "taper_context_options.pool->run");
    }
    const taper_allocator *allocator = o.allocator != NULL ? o.allocator : &taper_allocator_system;
    taper_context *c = taper_alloc_zeroed(allocator, sizeof *c);
    if (c == NULL) {
        return taper_fail_memory(error);
    }
    taper_refs_init(&c->refs);
    c->allocator = *allocator;
    c->log = o.log != NULL ? o.log : log_to_stdio;
    c->log_user = o.log_user;
    c->cpu = taper_cpu_features();
    if (o.cpu_mask != 0) {
        c->cpu &= o.cpu_mask;
    }
    atomic_init(&c->cache_dir, NULL);
    taper_status status = o.cache_dir != NULL ? taper_context_set_cache_dir(c, o.cache_dir, error) : TAPER_OK;
    if (status == TAPER_OK) {
        status = taper_types_create(&c->allocator, &c->types, error);
    }
    if (status == TAPER_OK) {
        status = taper_heap_create(&c->allocator, c->types, &c->heap, error);
    }
    if (status == TAPER_OK) {
        status = taper_registry_create(&c->allocator, c->types, &c->registry, error);
    }
    if (status == TAPER_OK) {
        status = taper_pool_create(&c->allocator, o.threads, o.pool, &c->pool, error);
    }
    if (TAPER_DEVICES && status == TAPER_OK) {
        status = taper_mutex_create(&c->allocator, &c->device_lock, error);
    }
    if (GRADIENTS && status == TAPER_OK) {
        status = taper_mutex_create(&c->allocator, &c->gradient_lock, error);
    }
    if (status == TAPER_OK) {
        status = taper_context_open_host(c, error);
    }
    if (status != TAPER_OK) {
        taper_context_release(c);
        return status;
    }
    *context = c;
    return TAPER_OK;
}

void taper_context_retain(taper_context *context)
{
    taper_refs_add(&context->refs);
}

void taper_context_release(taper_context *context)
{
    if (context == NULL || !taper_refs_drop(&context->refs)) {
        return;
    }
    taper_context_close_devices(context);
    if (TAPER_DEVICES) {
        taper_mutex_destroy(context->device_lock);
    }
    if (GRADIENTS) {
        taper_mutex_destroy(context->gradient_lock);
    }
    taper_pool_destroy(context->pool);
    taper_registry_destroy(context->registry);
    taper_heap_close(context->heap);
    taper_types_release(context->types);
    const taper_allocator allocator = context->allocator;
    for (taper_cache_dir *dir = KEEPS ? atomic_load(&context->cache_dir) : NULL, *before; dir != NULL; dir = before) {
        before = dir->before;
        taper_free(&allocator, dir, dir->bytes);
    }
    taper_free(&allocator, context, sizeof *context);
}

unsigned taper_context_threads(const taper_context *context)
{
    return context != NULL ? taper_pool_threads(context->pool) : 0;
}

void taper_context_set_threads(taper_context *context, unsigned threads)
{
    if (context != NULL) {
        taper_pool_set_threads(context->pool, threads);
    }
}

uint64_t taper_context_cpu_features(const taper_context *context)
{
    return context != NULL ? context->cpu : 0;
}
