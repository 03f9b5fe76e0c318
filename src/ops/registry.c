// SPDX-License-Identifier: BSD-2-Clause
#include "ops/registry.h"

#include "ops/kernels.h"
#include "ops/params.h"
#include "platform/lapack.h"
#include "platform/platform.h"

const taper_op taper_ops[] = {
#define OP(id, schema, kernel, param, flags) TAPER_OP_IF(id, {schema, kernel, param, flags}, )
#include "ops/op_list.h"
#undef OP
    {NULL, NULL, NULL, 0},
};

_Static_assert(sizeof taper_ops / sizeof taper_ops[0] == TAPER_ROW_COUNT + 1, "rows and numbers come from one list");

enum { INDEX_SIZE = 16384 }; // a power of two above twice the rows
_Static_assert(2 * TAPER_ROW_COUNT < INDEX_SIZE, "the index is too small");

enum { NAMES_BYTES = (INDEX_SIZE + TAPER_ROW_COUNT + 1) * sizeof(uint16_t) };

struct taper_registry {
    const taper_allocator *allocator;
    taper_types *types;
    taper_heap *heap; // of default values
    taper_arena arena;
    taper_mutex *mutex;
    taper_lapack *lapack;
    bool lapack_tried;
    const taper_schema *schemas[TAPER_ROW_COUNT + 1];
    uint16_t index[INDEX_SIZE]; // row + 1
    uint16_t *names;            // the first row of a name + 1; made when first asked for
    uint16_t *next;             // by row: the next of its name + 1
};

static size_t key_length(const char *schema) // "aten::add.Tensor"
{
    return strcspn(schema, "(");
}

static uint32_t hash(uint32_t h, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    }
    return h;
}

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
    for (size_t row = 0; row < TAPER_ROW_COUNT; row++) {
        size_t at = hash(2166136261u, taper_ops[row].schema, key_length(taper_ops[row].schema)) % INDEX_SIZE;
        while (r->index[at] != 0) {
            at = (at + 1) % INDEX_SIZE;
        }
        r->index[at] = (uint16_t)(row + 1);
    }
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
    taper_heap_close(registry->heap);
    taper_types_release(registry->types);
    taper_lapack_close(registry->lapack);
    taper_mutex_destroy(registry->mutex);
    taper_arena_free(&registry->arena);
    taper_free(registry->allocator, registry->names, NAMES_BYTES);
    taper_free(registry->allocator, registry, sizeof *registry);
}

const taper_op *taper_registry_find(const taper_registry *registry, const char *name, const char *overload)
{
    const size_t base = strlen(name), extra = strlen(overload);
    uint32_t h = hash(2166136261u, name, base);
    if (extra != 0) {
        h = hash(hash(h, ".", 1), overload, extra);
    }
    for (size_t at = h % INDEX_SIZE; registry->index[at] != 0; at = (at + 1) % INDEX_SIZE) {
        const taper_op *op = &taper_ops[registry->index[at] - 1];
        if (strncmp(op->schema, name, base) != 0) {
            continue;
        }
        const char *rest = op->schema + base;
        if (extra == 0 ? *rest == '('
                       : *rest == '.' && strncmp(rest + 1, overload, extra) == 0 && rest[1 + extra] == '(') {
            return op;
        }
    }
    return NULL;
}

static size_t name_length(const char *schema) // "aten::add"
{
    return strcspn(schema, ".(");
}

// Where the rows of a name are entered, or would be.
static size_t name_slot(const taper_registry *r, const char *name, size_t length)
{
    size_t at = hash(2166136261u, name, length) % INDEX_SIZE;
    for (; r->names[at] != 0; at = (at + 1) % INDEX_SIZE) {
        const char *schema = taper_ops[r->names[at] - 1].schema;
        if (strncmp(schema, name, length) == 0 && name_length(schema) == length) {
            break;
        }
    }
    return at;
}

static bool index_names(taper_registry *r)
{
    r->names = taper_alloc_zeroed(r->allocator, NAMES_BYTES);
    if (r->names == NULL) {
        return false;
    }
    r->next = r->names + INDEX_SIZE;
    for (size_t row = TAPER_ROW_COUNT; row-- != 0;) {
        const size_t at = name_slot(r, taper_ops[row].schema, name_length(taper_ops[row].schema));
        r->next[row] = r->names[at];
        r->names[at] = (uint16_t)(row + 1);
    }
    return true;
}

const taper_op *taper_registry_overloads(taper_registry *registry, const char *name, const taper_op *after)
{
    uint16_t row = 0;
    if (after != NULL) {
        row = registry->next[after - taper_ops];
    } else {
        taper_mutex_lock(registry->mutex);
        if (registry->names != NULL || index_names(registry)) {
            row = registry->names[name_slot(registry, name, strlen(name))];
        }
        taper_mutex_unlock(registry->mutex);
    }
    return row != 0 ? &taper_ops[row - 1] : NULL;
}

taper_status taper_registry_schema(taper_registry *registry, const taper_op *op, const taper_schema **schema,
                                   taper_error *error)
{
    const size_t row = (size_t)(op - taper_ops);
    taper_status status = TAPER_OK;
    taper_mutex_lock(registry->mutex);
    if (registry->schemas[row] == NULL) {
        taper_schema *made = taper_arena_alloc(&registry->arena, sizeof *made);
        status = made == NULL
                     ? taper_fail_memory(error)
                     : taper_schema_parse(&registry->arena, registry->heap, registry->types, op->schema, made, error);
        if (status == TAPER_OK) {
            registry->schemas[row] = made;
        } else if (made != NULL) {
            release_defaults(made);
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
