// SPDX-License-Identifier: BSD-2-Clause
// The simple types, and the table of all other types. The table makes each type once (with rare exceptions:
// type_table.h). Loading one model many times therefore does not make the table grow, and most comparisons of types
// compare pointers. Depth and size of a type are bounded when it is made, which bounds every recursion here. Types may
// share parts, so without the bound a short text could stand for a huge tree.
#include "ir/type.h"

#include <string.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "base/budget.h"
#include "base/limits.h"
#include "ir/type_table.h"
#include "platform/platform.h"

enum { NODES_LIMIT = 10000 };

#define SIMPLE(id, tag) const taper_type taper_type_##id = {.kind = tag}
SIMPLE(any, TAPER_TYPE_ANY);
SIMPLE(none, TAPER_TYPE_NONE);
SIMPLE(tensor, TAPER_TYPE_TENSOR);
SIMPLE(int, TAPER_TYPE_INT);
SIMPLE(float, TAPER_TYPE_FLOAT);
SIMPLE(bool, TAPER_TYPE_BOOL);
SIMPLE(complex, TAPER_TYPE_COMPLEX);
SIMPLE(number, TAPER_TYPE_NUMBER);
SIMPLE(string, TAPER_TYPE_STRING);
SIMPLE(device, TAPER_TYPE_DEVICE);
SIMPLE(generator, TAPER_TYPE_GENERATOR);
SIMPLE(any_list, TAPER_TYPE_ANY_LIST);
SIMPLE(any_tuple, TAPER_TYPE_ANY_TUPLE);
#undef SIMPLE

static const taper_type *const int_item[] = {&taper_type_int}, *const float_item[] = {&taper_type_float},
                               *const bool_item[] = {&taper_type_bool}, *const tensor_item[] = {&taper_type_tensor},
                               *const string_item[] = {&taper_type_string},
                               *const complex_item[] = {&taper_type_complex};

#define OF_ONE(id, tag, item)                                                                                          \
    const taper_type taper_type_##id = {.kind = tag, .depth = 1, .nodes = 1, .count = 1, .items = item}
OF_ONE(list_int, TAPER_TYPE_LIST, int_item);
OF_ONE(list_float, TAPER_TYPE_LIST, float_item);
OF_ONE(list_bool, TAPER_TYPE_LIST, bool_item);
OF_ONE(list_tensor, TAPER_TYPE_LIST, tensor_item);
OF_ONE(list_string, TAPER_TYPE_LIST, string_item);
OF_ONE(list_complex, TAPER_TYPE_LIST, complex_item);
OF_ONE(optional_tensor, TAPER_TYPE_OPTIONAL, tensor_item);
#undef OF_ONE

static const taper_type *const shared_types[] = {
    &taper_type_any,         &taper_type_none,        &taper_type_tensor,       &taper_type_int,
    &taper_type_float,       &taper_type_bool,        &taper_type_complex,      &taper_type_number,
    &taper_type_string,      &taper_type_device,      &taper_type_generator,    &taper_type_any_list,
    &taper_type_any_tuple,   &taper_type_list_int,    &taper_type_list_float,   &taper_type_list_bool,
    &taper_type_list_tensor, &taper_type_list_string, &taper_type_list_complex, &taper_type_optional_tensor,
};

struct taper_types {
    taper_allocator allocator;
    taper_refs refs;
    taper_mutex *mutex;
    taper_arena arena;
    taper_lookup strings, types, classes;
    taper_type_scope *names; // named tuples that taper_type_parse added
};

taper_status taper_types_create(const taper_allocator *allocator, taper_types **types, taper_error *error)
{
    *types = taper_alloc_zeroed(allocator, sizeof **types);
    if (*types == NULL) {
        return taper_fail_memory(error);
    }
    (*types)->allocator = *allocator;
    taper_allocator_hold(allocator);
    taper_refs_init(&(*types)->refs);
    taper_arena_init(&(*types)->arena, &(*types)->allocator);
    taper_status status = taper_mutex_create(&(*types)->allocator, &(*types)->mutex, error);
    if (status == TAPER_OK) {
        status = taper_type_scope_create(&(*types)->allocator, &(*types)->names, error);
    }
    if (status != TAPER_OK) {
        taper_types_release(*types);
        *types = NULL;
    }
    return status;
}

taper_types *taper_types_retain(taper_types *types)
{
    if (types != NULL) {
        taper_refs_add(&types->refs);
    }
    return types;
}

void taper_types_release(taper_types *types)
{
    if (types == NULL || !taper_refs_drop(&types->refs)) {
        return;
    }
    const taper_allocator allocator = types->allocator;
    taper_type_scope_destroy(types->names);
    taper_lookup_free(&allocator, &types->strings);
    taper_lookup_free(&allocator, &types->types);
    taper_lookup_free(&allocator, &types->classes);
    taper_arena_free(&types->arena);
    taper_mutex_destroy(types->mutex);
    taper_free(&allocator, types, sizeof *types);
    taper_allocator_let_go(&allocator);
}

void *taper_types_alloc(taper_types *types, size_t size)
{
    taper_mutex_lock(types->mutex);
    void *ptr = taper_arena_alloc(&types->arena, size);
    taper_mutex_unlock(types->mutex);
    return ptr;
}

// ---- strings. The caller of a function named *_locked holds the mutex.

enum { STEPS_A_CHARACTER = 4 }; // steps to hash a character and to compare it

typedef struct string_key {
    const char *text;
    size_t length;
} string_key;

static bool same_string(const void *item, const void *key)
{
    const string_key *k = key;
    return strncmp(item, k->text, k->length) == 0 && ((const char *)item)[k->length] == '\0';
}

static const char *string_locked(taper_types *types, const char *text, size_t length)
{
    const char *end = length == 0 ? NULL : memchr(text, '\0', length);
    const string_key key = {.text = text, .length = end != NULL ? (size_t)(end - text) : length};
    if (!taper_spend(&types->allocator, STEPS_A_CHARACTER * (uint64_t)key.length)) {
        return NULL;
    }
    const uint64_t hash = taper_hash_bytes(0, key.text, key.length);
    const taper_lookup_entry *known = taper_lookup_find(&types->strings, hash, same_string, &key);
    if (known != NULL) {
        return known->item;
    }
    const char *string = taper_arena_string(&types->arena, key.text, key.length);
    if (string != NULL) {
        (void)taper_lookup_add(&types->allocator, &types->strings, hash, string);
    }
    return string;
}

const char *taper_types_string(taper_types *types, const char *text, size_t length)
{
    taper_mutex_lock(types->mutex);
    const char *string = string_locked(types, text, length);
    taper_mutex_unlock(types->mutex);
    return string;
}

// Copies an array of strings. If `texts` is NULL, *out is NULL too.
static bool strings_locked(taper_types *types, const char *const *texts, size_t count, const char *const **out)
{
    *out = NULL;
    if (texts == NULL) {
        return true;
    }
    const char **copy = taper_arena_array(&types->arena, count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = string_locked(types, texts[i], strlen(texts[i]));
        if (copy[i] == NULL) {
            return false;
        }
    }
    *out = copy;
    return copy != NULL;
}

static uint64_t hash_strings(uint64_t hash, const char *const *texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++) {
        hash = taper_hash_bytes(hash, texts[i], strlen(texts[i]));
    }
    return hash;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_texts(const char *const *a, const char *const *b, size_t count)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    for (size_t i = 0; i < count; i++) {
        if (!same_text(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

// ---- classes

static bool same_class(const void *item, const void *key)
{
    const taper_class *a = item, *b = key;
    return a->count == b->count && same_text(a->name, b->name) && same_texts(a->slots, b->slots, a->count);
}

const taper_class *taper_types_class(taper_types *types, const char *name, size_t count, const char *const *slots)
{
    const taper_class key = {.name = name, .count = count, .slots = slots};
    uint64_t hash = taper_hash_bytes(count, name, strlen(name)), characters = strlen(name);
    for (size_t i = 0; slots != NULL && i < count; i++) {
        characters += 8 + strlen(slots[i]);
    }
    if (!taper_spend(&types->allocator, STEPS_A_CHARACTER * characters)) {
        return NULL;
    }
    hash = hash_strings(hash, slots, count);
    taper_mutex_lock(types->mutex);
    const taper_lookup_entry *known = taper_lookup_find(&types->classes, hash, same_class, &key);
    const taper_class *class = known != NULL ? known->item : NULL;
    if (class == NULL) {
        taper_class *made = taper_arena_alloc(&types->arena, sizeof *made);
        if (made != NULL) {
            made->name = string_locked(types, name, strlen(name));
            made->count = count;
            if (made->name != NULL && strings_locked(types, slots, count, &made->slots)) {
                (void)taper_lookup_add(&types->allocator, &types->classes, hash, made);
                class = made;
            }
        }
    }
    taper_mutex_unlock(types->mutex);
    return class;
}

static void visit_named(const char *name, const char *prefix, void (*visit)(void *user, const char *name), void *user)
{
    if (name != NULL && strncmp(name, prefix, strlen(prefix)) == 0) {
        visit(user, name);
    }
}

void taper_types_each_class(taper_types *types, const char *prefix, void (*visit)(void *user, const char *name),
                            void *user)
{
    taper_mutex_lock(types->mutex);
    for (size_t i = 0; i < types->classes.size; i++) {
        const taper_class *class = types->classes.entries[i].item;
        visit_named(class != NULL ? class->name : NULL, prefix, visit, user);
    }
    for (size_t i = 0; i < types->types.size; i++) {
        const taper_type *type = types->types.entries[i].item;
        visit_named(type != NULL && type->kind == TAPER_TYPE_CLASS ? type->name : NULL, prefix, visit, user);
    }
    taper_mutex_unlock(types->mutex);
}

// ---- making types

static bool same_type(const void *item, const void *key)
{
    const taper_type *a = item, *b = key;
    if (a->kind != b->kind || a->count != b->count || !same_text(a->name, b->name) ||
        !same_texts(a->fields, b->fields, a->count)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i] != b->items[i]) {
            return false;
        }
    }
    return true;
}

static const taper_type *make_locked(taper_types *types, const taper_type *key, uint64_t hash)
{
    const taper_lookup_entry *known = taper_lookup_find(&types->types, hash, same_type, key);
    if (known != NULL) {
        return known->item;
    }
    taper_type *made = taper_arena_alloc(&types->arena, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    *made = *key;
    if (key->count != 0) {
        const taper_type **items = taper_arena_array(&types->arena, key->count, sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        memcpy(items, key->items, key->count * sizeof *items);
        made->items = items;
    }
    if (key->name != NULL) {
        made->name = string_locked(types, key->name, strlen(key->name));
        if (made->name == NULL) {
            return NULL;
        }
    }
    if (!strings_locked(types, key->fields, key->count, &made->fields)) {
        return NULL;
    }
    (void)taper_lookup_add(&types->allocator, &types->types, hash, made);
    return made;
}

taper_status taper_type_make(taper_types *types, taper_type_kind kind, const char *name, const taper_type *const *items,
                             const char *const *fields, size_t count, const taper_type **made, taper_error *error)
{
    *made = NULL;
    taper_type key = {.kind = (uint8_t)kind, .count = (uint32_t)count, .items = items, .name = name, .fields = fields};
    if (count >= NODES_LIMIT) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "a type of %zu parts is beyond the limit of %d", count,
                          NODES_LIMIT);
    }
    size_t nodes = count;
    uint64_t hash = taper_hash_bytes((uint64_t)kind, name, name != NULL ? strlen(name) : 0);
    for (size_t i = 0; i < count; i++) {
        nodes += items[i]->nodes;
        if (items[i]->depth >= key.depth) {
            key.depth = (uint8_t)(items[i]->depth + 1);
        }
        hash = taper_hash_bytes(hash, &items[i], sizeof items[i]);
    }
    if (nodes > NODES_LIMIT || key.depth > TAPER_LIMIT_TYPE_DEPTH) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "a type is nested more than %d deep or has more than %d parts",
                          TAPER_LIMIT_TYPE_DEPTH, NODES_LIMIT);
    }
    key.nodes = (uint16_t)nodes;
    hash = hash_strings(hash, fields, count);
    for (size_t i = 0; i < sizeof shared_types / sizeof shared_types[0]; i++) {
        if (same_type(shared_types[i], &key)) {
            *made = shared_types[i];
            return TAPER_OK;
        }
    }
    taper_mutex_lock(types->mutex);
    *made = make_locked(types, &key, hash);
    taper_mutex_unlock(types->mutex);
    return *made != NULL ? TAPER_OK : taper_fail_memory(error);
}

// ---- names of named tuples

struct taper_type_scope {
    taper_allocator allocator;
    taper_lookup lookup;
};

taper_status taper_type_scope_create(const taper_allocator *allocator, taper_type_scope **scope, taper_error *error)
{
    *scope = taper_alloc_zeroed(allocator, sizeof **scope);
    if (*scope == NULL) {
        return taper_fail_memory(error);
    }
    (*scope)->allocator = *allocator;
    return TAPER_OK;
}

void taper_type_scope_destroy(taper_type_scope *scope)
{
    if (scope != NULL) {
        const taper_allocator allocator = scope->allocator;
        taper_lookup_free(&allocator, &scope->lookup);
        taper_free(&allocator, scope, sizeof *scope);
    }
}

static bool same_name(const void *item, const void *key)
{
    const string_key *k = key;
    const char *name = ((const taper_type *)item)->name;
    return strncmp(name, k->text, k->length) == 0 && name[k->length] == '\0';
}

const taper_type *taper_type_scope_find(taper_types *types, taper_type_scope *scope, const char *name, size_t length)
{
    const string_key key = {.text = name, .length = length};
    taper_mutex_lock(types->mutex);
    if (scope == NULL) {
        scope = types->names;
    }
    const taper_lookup_entry *known =
        taper_lookup_find(&scope->lookup, taper_hash_bytes(0, name, length), same_name, &key);
    const taper_type *type = known != NULL ? known->item : NULL;
    taper_mutex_unlock(types->mutex);
    return type;
}

// If a name is added again, the last type counts.
bool taper_type_scope_enter(taper_types *types, taper_type_scope *scope, const taper_type *type)
{
    const string_key key = {.text = type->name, .length = strlen(type->name)};
    const uint64_t hash = taper_hash_bytes(0, key.text, key.length);
    taper_mutex_lock(types->mutex);
    if (scope == NULL) {
        scope = types->names;
    }
    taper_lookup_entry *known = taper_lookup_find(&scope->lookup, hash, same_name, &key);
    bool done = true;
    if (known != NULL) {
        known->item = type;
    } else {
        done = taper_lookup_add(&scope->allocator, &scope->lookup, hash, type);
    }
    taper_mutex_unlock(types->mutex);
    return done;
}

const taper_allocator *taper_types_allocator(const taper_types *types)
{
    return &types->allocator;
}

// ---- comparing types

bool taper_type_equal(const taper_type *a, const taper_type *b)
{
    if (a == b) {
        return true;
    }
    if (a == NULL || b == NULL || a->kind != b->kind || a->count != b->count || a->nodes != b->nodes ||
        !same_text(a->name, b->name) || !same_texts(a->fields, b->fields, a->count)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!taper_type_equal(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool all_match(const taper_type *a, const taper_type *b)
{
    for (size_t i = 0; i < a->count; i++) {
        if (!taper_type_matches(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool any_matches(const taper_type *a, const taper_type *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (taper_type_matches(a, b->items[i])) {
            return true;
        }
    }
    return false;
}

static bool matches_number(uint8_t kind)
{
    return kind == TAPER_TYPE_INT || kind == TAPER_TYPE_FLOAT || kind == TAPER_TYPE_BOOL ||
           kind == TAPER_TYPE_COMPLEX || kind == TAPER_TYPE_NUMBER;
}

bool taper_type_matches(const taper_type *a, const taper_type *b)
{
    if (a == b || b->kind == TAPER_TYPE_ANY || b->kind == TAPER_TYPE_VARIABLE) {
        return true;
    }
    if (a->kind == TAPER_TYPE_UNION) {
        for (size_t i = 0; i < a->count; i++) {
            if (!taper_type_matches(a->items[i], b)) {
                return false;
            }
        }
        return true;
    }
    switch ((taper_type_kind)b->kind) {
    case TAPER_TYPE_NUMBER:
        return matches_number(a->kind);
    case TAPER_TYPE_OPTIONAL:
        return a->kind == TAPER_TYPE_NONE ||
               taper_type_matches(a->kind == TAPER_TYPE_OPTIONAL ? a->items[0] : a, b->items[0]);
    case TAPER_TYPE_UNION:
        return any_matches(a, b);
    case TAPER_TYPE_ANY_LIST:
        return a->kind == TAPER_TYPE_LIST || a->kind == TAPER_TYPE_ANY_LIST;
    case TAPER_TYPE_ANY_TUPLE:
        return a->kind == TAPER_TYPE_TUPLE || a->kind == TAPER_TYPE_ANY_TUPLE;
    case TAPER_TYPE_CLASS: // a file may refer to a named tuple by its name only
        return (a->kind == TAPER_TYPE_CLASS || a->kind == TAPER_TYPE_TUPLE) && same_text(a->name, b->name);
    case TAPER_TYPE_TUPLE:
        if (a->kind == TAPER_TYPE_CLASS) {
            return same_text(a->name, b->name);
        }
        return a->kind == TAPER_TYPE_TUPLE && a->count == b->count &&
               (b->name == NULL || same_text(a->name, b->name)) && all_match(a, b);
    case TAPER_TYPE_LIST:
    case TAPER_TYPE_DICT:
        return a->kind == b->kind && all_match(a, b);
    case TAPER_TYPE_FUTURE:
        return a->kind == b->kind && a->count == b->count && same_text(a->name, b->name) && all_match(a, b);
    case TAPER_TYPE_OPAQUE:
        return a->kind == b->kind && same_text(a->name, b->name);
    default:
        return a->kind == b->kind;
    }
}
