// SPDX-License-Identifier: BSD-2-Clause
// Dicts in order of insertion: entries in an array, and beside it, once there are more than a few, an open-addressing
// table of positions. Removing moves the later entries down and rebuilds the table.
#include "base/budget.h"
#include "ir/heap.h"

enum { LINEAR_LIMIT = 8 };

// The seed keeps a file from choosing keys that collide.
static bool hash_value(const taper_dict *dict, taper_val key, uint64_t *hash)
{
    const uint64_t seed = (uint64_t)(uintptr_t)dict->head.head.heap * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = 0;
    switch (key.tag) {
    case TAPER_BOOLEAN:
    case TAPER_INT:
    case TAPER_DEVICE:
        h = (uint64_t)key.as.i;
        break;
    case TAPER_DOUBLE: {
        const double f = key.as.f == 0 ? 0 : key.as.f;
        if (f >= -9e15 && f <= 9e15 && (double)(int64_t)f == f) {
            h = (uint64_t)(int64_t)f; // 1.0 and 1 are the same key
        } else {
            memcpy(&h, &f, sizeof h);
        }
        break;
    }
    case TAPER_COMPLEX: {
        uint64_t im;
        const double re = key.as.complex->re;
        memcpy(&h, &re, sizeof h);
        memcpy(&im, &key.as.complex->im, sizeof im);
        h ^= im * 31;
        break;
    }
    case TAPER_STRING:
        h = UINT64_C(14695981039346656037) ^ seed;
        for (size_t i = 0; i < key.as.string->length; i++) {
            h = (h ^ (unsigned char)key.as.string->data[i]) * UINT64_C(1099511628211);
        }
        break;
    case TAPER_TENSOR:
        h = (uint64_t)(uintptr_t)key.as.obj;
        break;
    default:
        return false;
    }
    h ^= seed;
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    *hash = h;
    return true;
}

taper_dict *taper_dict_new(taper_heap *heap, const taper_type *key, const taper_type *value)
{
    taper_dict *dict = taper_heap_alloc(heap, sizeof *dict);
    if (dict != NULL) {
        memset(dict, 0, sizeof *dict);
        dict->key = key;
        dict->value = value;
        taper_heap_adopt(heap, &dict->head.head, TAPER_DICT);
    }
    return dict;
}

// Where key is, whose hash is known.
static size_t find(const taper_dict *dict, taper_val key, uint64_t hash)
{
    if (dict->index == NULL) {
        for (size_t i = 0; i < dict->count; i++) {
            if (taper_val_equal(taper_dict_key(dict, i), key)) {
                return i;
            }
        }
        return SIZE_MAX;
    }
    const size_t mask = dict->index_size - 1;
    for (size_t at = (size_t)hash & mask; dict->index[at] != 0; at = (at + 1) & mask) {
        if (taper_val_equal(taper_dict_key(dict, dict->index[at] - 1), key)) {
            return dict->index[at] - 1;
        }
    }
    return SIZE_MAX;
}

taper_val *taper_dict_find(const taper_dict *dict, taper_val key)
{
    uint64_t hash;
    const size_t at = hash_value(dict, key, &hash) ? find(dict, key, hash) : SIZE_MAX;
    return at == SIZE_MAX ? NULL : &dict->entries[2 * at + 1];
}

static void enter(taper_dict *dict, size_t position, uint64_t hash)
{
    const size_t mask = dict->index_size - 1;
    size_t at = (size_t)hash & mask;
    while (dict->index[at] != 0) {
        at = (at + 1) & mask;
    }
    dict->index[at] = (uint32_t)(position + 1);
}

static void reindex(taper_dict *dict)
{
    if (dict->index != NULL) {
        memset(dict->index, 0, dict->index_size * sizeof *dict->index);
        for (size_t i = 0; i < dict->count; i++) {
            uint64_t hash = 0;
            (void)hash_value(dict, taper_dict_key(dict, i), &hash);
            enter(dict, i, hash);
        }
    }
}

taper_status taper_dict_set(taper_dict *dict, taper_val key, taper_val value, taper_error *error)
{
    uint64_t hash;
    taper_status status = TAPER_OK;
    if (!hash_value(dict, key, &hash)) {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT, "a %s cannot be a key of a dict", taper_val_kind_name(key));
        goto fail;
    }
    if (key.tag == TAPER_STRING) { // hashed, compared, and hashed again when the table grows
        status = taper_charge(taper_heap_allocator(dict->head.head.heap), 8 * (uint64_t)key.as.string->length, error);
        if (status != TAPER_OK) {
            goto fail;
        }
    }
    const size_t at = find(dict, key, hash);
    if (at != SIZE_MAX) {
        taper_val_release(key);
        taper_val_replace(&dict->entries[2 * at + 1], value);
        return TAPER_OK;
    }
    status = taper_dict_reserve(dict, dict->count + 1, error);
    if (status != TAPER_OK) {
        goto fail;
    }
    if (dict->count + 1 > LINEAR_LIMIT && 2 * (dict->count + 1) > dict->index_size) {
        const size_t size = dict->index_size == 0 ? 4 * LINEAR_LIMIT : 2 * dict->index_size;
        taper_heap *heap = dict->head.head.heap;
        uint32_t *index = taper_heap_alloc(heap, size * sizeof *index);
        if (index == NULL) {
            status = taper_fail_memory(error);
            goto fail;
        }
        taper_heap_free(heap, dict->index, dict->index_size * sizeof *index);
        dict->index = index;
        dict->index_size = size;
        reindex(dict);
    }
    dict->entries[2 * dict->count] = key;
    dict->entries[2 * dict->count + 1] = value;
    dict->count++;
    if (dict->index != NULL) {
        enter(dict, dict->count - 1, hash);
    }
    return TAPER_OK;
fail:
    taper_val_release(key);
    taper_val_release(value);
    return status;
}

bool taper_dict_remove(taper_dict *dict, taper_val key, taper_val *value)
{
    uint64_t hash;
    const size_t at = hash_value(dict, key, &hash) ? find(dict, key, hash) : SIZE_MAX;
    if (at == SIZE_MAX) {
        return false;
    }
    const taper_val old = taper_dict_key(dict, at);
    *value = taper_dict_value(dict, at);
    dict->count--;
    memmove(dict->entries + 2 * at, dict->entries + 2 * at + 2, 2 * (dict->count - at) * sizeof *dict->entries);
    reindex(dict);
    taper_val_release(old);
    return true;
}

void taper_dict_clear(taper_dict *dict)
{
    while (dict->count != 0) {
        dict->count--;
        const taper_val key = taper_dict_key(dict, dict->count), value = taper_dict_value(dict, dict->count);
        taper_val_release(key);
        taper_val_release(value);
    }
    reindex(dict);
}
