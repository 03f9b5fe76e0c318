// SPDX-License-Identifier: BSD-2-Clause
// Finds operators by name and keeps their parsed schemas.
#include "ops/list/registry.h"
#include "ops/list/op_rows.h"

#include "platform/lapack.h"
#include "platform/platform.h"

// The parsed schema of an operator of the host.
typedef struct host_schema {
    const taper_op *op;
    struct host_schema *next;
    taper_schema schema;
} host_schema;

struct taper_registry {
    const taper_allocator *allocator;
    taper_types *types;
    taper_heap *heap; // heap for default values
    taper_arena arena;
    taper_mutex *mutex;
    taper_lapack *lapack;
    bool lapack_tried;
    host_schema *host;
    const taper_schema *schemas[TAPER_ROW_COUNT + 1];
};

taper_status taper_registry_create(const taper_allocator *allocator, taper_types *types, taper_registry **registry,
                                   taper_error *error)
{
    taper_registry *r = taper_alloc_zeroed(allocator, sizeof *r);
    *registry = NULL;
    if (r == NULL) {
        return taper_fail_memory(error);
    }
    r->allocator = allocator;
    taper_arena_init(&r->arena, allocator);
    taper_status status = taper_heap_create(allocator, types, &r->heap, error);
    if (status == TAPER_OK) {
        status = taper_mutex_create(allocator, &r->mutex, error);
    }
    if (status != TAPER_OK) {
        taper_registry_destroy(r);
        return status;
    }
    r->types = taper_types_retain(types);
    *registry = r;
    return TAPER_OK;
}

static void release_defaults(const taper_schema *schema)
{
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        taper_val_release(schema->args[i].default_value);
    }
}

void taper_registry_destroy(taper_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    for (size_t row = 0; row < TAPER_ROW_COUNT; row++) {
        if (registry->schemas[row] != NULL) {
            release_defaults(registry->schemas[row]);
        }
    }
    for (const host_schema *h = registry->host; h != NULL; h = h->next) {
        release_defaults(&h->schema);
    }
    taper_heap_close(registry->heap);
    taper_types_release(registry->types);
    taper_lapack_close(registry->lapack);
    taper_mutex_destroy(registry->mutex);
    taper_arena_free(&registry->arena);
    taper_free(registry->allocator, registry, sizeof *registry);
}

#ifdef TAPER_WITH_OPERATORS
static taper_status host_operator(taper_registry *registry, const taper_op *op, const taper_schema **schema,
                                  taper_error *error)
{
    host_schema *h = registry->host;
    while (h != NULL && h->op != op) {
        h = h->next;
    }
    if (h == NULL) {
        h = taper_arena_alloc(&registry->arena, sizeof *h);
        if (h == NULL) {
            return taper_fail_memory(error);
        }
        const taper_status status = taper_schema_parse(&registry->arena, registry->heap, registry->types,
                                                       taper_row_text(op, NULL), &h->schema, error);
        if (status != TAPER_OK) {
            release_defaults(&h->schema);
            return status;
        }
        h->op = op;
        h->next = registry->host;
        registry->host = h;
    }
    *schema = &h->schema;
    return TAPER_OK;
}
#endif

taper_status taper_registry_schema(taper_registry *registry, const taper_op *op, const taper_schema **schema,
                                   taper_error *error)
{
    taper_status status = TAPER_OK;
#ifdef TAPER_WITH_OPERATORS
    if (taper_row_is_registered(op)) {
        taper_mutex_lock(registry->mutex);
        status = host_operator(registry, op, schema, error);
        taper_mutex_unlock(registry->mutex);
        return status;
    }
#endif
    const size_t row = (size_t)(op - taper_ops);
    taper_mutex_lock(registry->mutex);
    if (registry->schemas[row] == NULL) {
        taper_schema *made = taper_arena_alloc(&registry->arena, sizeof *made);
        const char *text = made != NULL ? taper_row_text(op, &registry->arena) : NULL;
        if (text == NULL) {
            status = taper_fail_memory(error);
        } else {
            status = taper_schema_parse(&registry->arena, registry->heap, registry->types, text, made, error);
            if (status == TAPER_OK) {
                registry->schemas[row] = made;
            } else {
                release_defaults(made);
            }
        }
    }
    *schema = registry->schemas[row];
    taper_mutex_unlock(registry->mutex);
    return status;
}

taper_heap *taper_registry_heap(taper_registry *registry)
{
    return registry->heap;
}

taper_lapack *taper_registry_lapack(taper_registry *registry)
{
    taper_mutex_lock(registry->mutex);
    if (!registry->lapack_tried) {
        registry->lapack = taper_lapack_open();
        registry->lapack_tried = true;
    }
    taper_lapack *const lapack = registry->lapack;
    taper_mutex_unlock(registry->mutex);
    return lapack;
}
