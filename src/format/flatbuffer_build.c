// SPDX-License-Identifier: BSD-2-Clause
// Builds flatbuffers from the end. Positions are distances from the end, which do not change when bytes are prepended.
// The file ends at a multiple of the largest alignment, so a distance is aligned if and only if the position in the
// file is aligned.
#include "format/flatbuffer_build.h"

#include <assert.h>
#include <string.h>

enum { LARGEST = INT32_MAX, SEARCHED_TABLES = 64 };

typedef struct shared {
    const char *text;
    size_t length;
    taper_fbb_ref ref;
} shared;

void taper_fbb_start(taper_fbb *b, const taper_allocator *allocator)
{
    *b = (taper_fbb){.allocator = allocator};
    taper_arena_init(&b->arena, allocator);
}

void taper_fbb_free(taper_fbb *b)
{
    taper_free(b->allocator, b->data, b->capacity);
    taper_free(b->allocator, b->tables, b->table_capacity * sizeof *b->tables);
    taper_free(b->allocator, b->blocks, b->block_capacity * sizeof *b->blocks);
    taper_lookup_free(b->allocator, &b->strings);
    taper_arena_free(&b->arena);
}

// ---- prepending bytes

// Prepends `size` uninitialized bytes and returns them. Returns NULL after a failure.
static uint8_t *room(taper_fbb *b, size_t size)
{
    if (b->failed || b->large) {
        return NULL;
    }
    if (size > LARGEST - b->size) {
        b->large = true;
        return NULL;
    }
    const size_t want = b->size + size;
    if (want > b->capacity) {
        const size_t capacity = taper_max_size(want, taper_max_size(2 * b->capacity, 4096));
        uint8_t *data = taper_alloc(b->allocator, capacity);
        if (data == NULL) {
            b->failed = true;
            return NULL;
        }
        if (b->size != 0) {
            memcpy(data + capacity - b->size, b->data + b->capacity - b->size, b->size);
        }
        taper_free(b->allocator, b->data, b->capacity);
        b->data = data;
        b->capacity = capacity;
    }
    b->size = want;
    return b->data + b->capacity - want;
}

// Adds padding so that the next `size` bytes begin aligned.
static void align(taper_fbb *b, size_t size, size_t alignment)
{
    const size_t padding = (alignment - (b->size + size) % alignment) % alignment;
    uint8_t *to = padding != 0 ? room(b, padding) : NULL;
    if (to != NULL) {
        memset(to, 0, padding);
    }
}

static void put(taper_fbb *b, uint64_t number, size_t size)
{
    uint8_t *to = room(b, size);
    for (size_t i = 0; to != NULL && i < size; i++) {
        to[i] = (uint8_t)(number >> (8 * i));
    }
}

static void put_offset(taper_fbb *b, taper_fbb_ref target)
{
    align(b, 4, 4);
    const int64_t offset = (int64_t)b->size + 4 - target;
    assert(b->failed || b->large || target < (int64_t)b->size + 4);
    b->large = b->large || offset > LARGEST;
    put(b, (uint64_t)offset, 4);
}

static uint8_t *at(const taper_fbb *b, taper_fbb_ref ref)
{
    return b->data + b->capacity - ref;
}

// ---- tables

void taper_fbb_table(taper_fbb *b)
{
    align(b, 0, 4); // aligned, so that tables with the same fields have the same vtable
    b->table = b->size;
    memset(b->fields, 0, sizeof b->fields);
}

static void enter(taper_fbb *b, unsigned slot)
{
    assert(slot < TAPER_FBB_SLOTS);
    b->fields[slot] = b->size;
}

void taper_fbb_number(taper_fbb *b, unsigned slot, unsigned width, uint64_t value, uint64_t otherwise)
{
    if (value != otherwise) {
        align(b, width, width);
        put(b, value, width);
        enter(b, slot);
    }
}

taper_fbb_ref taper_fbb_place(taper_fbb *b, unsigned slot, uint32_t value)
{
    align(b, 4, 4);
    put(b, value, 4);
    enter(b, slot);
    return (taper_fbb_ref)b->size;
}

void taper_fbb_refer(taper_fbb *b, unsigned slot, taper_fbb_ref target)
{
    if (target != 0) {
        put_offset(b, target);
        enter(b, slot);
    }
}

static taper_fbb_ref find_description(const taper_fbb *b, const uint8_t *description, size_t size)
{
    for (size_t i = 0; i < b->table_count && i < SEARCHED_TABLES; i++) {
        const taper_fbb_ref ref = b->tables[b->table_count - 1 - i];
        if ((size_t)ref >= size && memcmp(at(b, ref), description, size) == 0) {
            return ref;
        }
    }
    return 0;
}

static taper_fbb_ref add_description(taper_fbb *b, const uint8_t *description, size_t size)
{
    uint8_t *to = room(b, size);
    if (to == NULL || TAPER_GROW(b->allocator, b->tables, b->table_capacity, b->table_count + 1, NULL) != TAPER_OK) {
        b->failed = b->failed || !b->large;
        return 0;
    }
    memcpy(to, description, size);
    b->tables[b->table_count++] = (taper_fbb_ref)b->size;
    return (taper_fbb_ref)b->size;
}

taper_fbb_ref taper_fbb_table_end(taper_fbb *b)
{
    align(b, 4, 4);
    put(b, 0, 4);
    if (b->failed || b->large) {
        return 0;
    }
    const size_t table = b->size;
    uint8_t description[4 + 2 * TAPER_FBB_SLOTS];
    size_t slots = TAPER_FBB_SLOTS;
    while (slots > 0 && b->fields[slots - 1] == 0) {
        slots--;
    }
    const size_t size = 4 + 2 * slots, length = table - b->table;
    for (size_t i = 0; i < 2 + slots; i++) {
        const size_t number = i == 0 ? size : i == 1 ? length : b->fields[i - 2] != 0 ? table - b->fields[i - 2] : 0;
        description[2 * i] = (uint8_t)number;
        description[2 * i + 1] = (uint8_t)(number >> 8);
    }
    taper_fbb_ref known = find_description(b, description, size);
    if (known == 0) {
        known = add_description(b, description, size);
    }
    taper_fbb_patch(b, (taper_fbb_ref)table, (uint32_t)(known - (taper_fbb_ref)table));
    return (taper_fbb_ref)table;
}

void taper_fbb_patch(taper_fbb *b, taper_fbb_ref place, uint32_t value)
{
    if (!b->failed && !b->large) {
        taper_store_u32(at(b, place), value);
    }
}

// ---- structs, vectors, strings

taper_fbb_ref taper_fbb_struct(taper_fbb *b, size_t size, size_t alignment, uint8_t **to)
{
    align(b, size, alignment);
    *to = room(b, size);
    return (taper_fbb_ref)b->size;
}

taper_fbb_ref taper_fbb_vector(taper_fbb *b, size_t count, size_t width, size_t alignment, uint8_t **to)
{
    size_t size;
    if (count > LARGEST || !taper_mul_size(count, width, &size) || size > LARGEST) {
        b->large = true;
        *to = NULL;
        return 0;
    }
    align(b, size, taper_max_size(alignment, 4));
    uint8_t *items = room(b, size);
    put(b, count, 4); // writing the count may move the bytes
    *to = items != NULL && !b->failed && !b->large ? at(b, (taper_fbb_ref)b->size) + 4 : NULL;
    return (taper_fbb_ref)b->size;
}

taper_fbb_ref taper_fbb_u32s(taper_fbb *b, const uint32_t *items, size_t count)
{
    uint8_t *to;
    const taper_fbb_ref ref = taper_fbb_vector(b, count, 4, 4, &to);
    for (size_t i = 0; i < count && to != NULL; i++) {
        taper_store_u32(to + 4 * i, items[i]);
    }
    return ref;
}

taper_fbb_ref taper_fbb_refs(taper_fbb *b, const taper_fbb_ref *targets, size_t count)
{
    uint8_t *to;
    const taper_fbb_ref ref = taper_fbb_vector(b, count, 4, 4, &to);
    for (size_t i = 0; i < count && to != NULL; i++) {
        const int64_t offset = ref - 4 - 4 * (int64_t)i - targets[i];
        b->large = b->large || offset > LARGEST;
        taper_store_u32(to + 4 * i, (uint32_t)offset);
    }
    return ref;
}

taper_fbb_ref taper_fbb_string(taper_fbb *b, const char *text, size_t length)
{
    uint8_t *to;
    if (length >= LARGEST) {
        b->large = true;
        return 0;
    }
    align(b, length + 1, 4);
    put(b, 0, 1);
    to = room(b, length);
    if (to != NULL && length != 0) {
        memcpy(to, text, length);
    }
    put(b, length, 4);
    return (taper_fbb_ref)b->size;
}

static bool same_text(const void *item, const void *key)
{
    const shared *a = item, *b = key;
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

taper_fbb_ref taper_fbb_shared_string(taper_fbb *b, const char *text)
{
    const shared key = {.text = text, .length = strlen(text)};
    const uint64_t hash = taper_hash_bytes(0, text, key.length);
    const taper_lookup_entry *known = taper_lookup_find(&b->strings, hash, same_text, &key);
    if (known != NULL) {
        return ((const shared *)known->item)->ref;
    }
    shared *made = taper_arena_alloc(&b->arena, sizeof *made);
    if (made == NULL) {
        b->failed = true;
        return 0;
    }
    *made = key;
    made->ref = taper_fbb_string(b, text, key.length);
    (void)taper_lookup_add(b->allocator, &b->strings, hash, made);
    return made->ref;
}

// ---- blocks: a count, then the bytes at a multiple of the alignment

static uint64_t block_start(uint64_t before)
{
    return (before + 4 + TAPER_FBB_ALIGNMENT - 1) / TAPER_FBB_ALIGNMENT * TAPER_FBB_ALIGNMENT;
}

taper_fbb_ref taper_fbb_block_of(taper_fbb *b, const void *data, size_t size, bool text)
{
    if (b->failed || size > LARGEST || b->block_bytes > LARGEST) {
        b->large = b->large || !b->failed;
        return 0;
    }
    if (TAPER_GROW(b->allocator, b->blocks, b->block_capacity, b->block_count + 1, NULL) != TAPER_OK) {
        b->failed = true;
        return 0;
    }
    const uint64_t start = block_start(b->block_bytes);
    b->blocks[b->block_count++] = (taper_fbb_block){.data = data, .size = size, .text = text};
    b->block_bytes = start + size + (text ? 1 : 0);
    return -(taper_fbb_ref)(start - 4);
}

static taper_status write_blocks(const taper_fbb *b, const taper_sink *sink, taper_error *error)
{
    static const uint8_t zeros[2 * TAPER_FBB_ALIGNMENT];
    uint64_t position = 0;
    for (size_t i = 0; i < b->block_count; i++) {
        const taper_fbb_block *block = &b->blocks[i];
        const uint64_t start = block_start(position);
        uint8_t count[4];
        taper_store_u32(count, (uint32_t)block->size);
        TAPER_TRY(taper_sink_write(sink, zeros, (size_t)(start - 4 - position), error));
        TAPER_TRY(taper_sink_write(sink, count, sizeof count, error));
        TAPER_TRY(taper_sink_write(sink, block->data, block->size, error));
        TAPER_TRY(taper_sink_write(sink, zeros, block->text ? 1 : 0, error));
        position = start + block->size + (block->text ? 1 : 0);
    }
    const size_t rest = (size_t)(position % TAPER_FBB_ALIGNMENT);
    return taper_sink_write(sink, zeros, rest != 0 ? TAPER_FBB_ALIGNMENT - rest : 0, error);
}

taper_status taper_fbb_finish(taper_fbb *b, taper_fbb_ref root, const char *identifier, const taper_sink *sink,
                              taper_error *error)
{
    align(b, 8, TAPER_FBB_ALIGNMENT);
    uint8_t *name = room(b, 4);
    if (name != NULL) {
        memcpy(name, identifier, 4);
    }
    put_offset(b, root);
    if (b->failed) {
        return taper_fail_memory(error);
    }
    if (b->large || b->size + b->block_bytes > LARGEST) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE,
                   "the module is too large for a flatbuffer, which ends at 2 GiB: write a zip archive");
    }
    TAPER_TRY(taper_sink_write(sink, b->data + b->capacity - b->size, b->size, error));
    return write_blocks(b, sink, error);
}
