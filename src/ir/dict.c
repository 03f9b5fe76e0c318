// SPDX-License-Identifier: BSD-2-Clause
// Dicts keep the order of insertion in an array of entries. A dict with more than a few entries also has a hash table
// of positions, with open addressing. Removing an entry moves the later entries down and rebuilds the table.
#include "base/budget.h"
#include "base/hash.h"
#include "ir/heap.h"

enum { LINEAR_LIMIT = 8, FREE_LOOKS = 16, STEPS_A_LOOK = 2 };

static uint64_t hash_string(const taper_dict *dict, const char *text, size_t length)
{
    return taper_hash_keyed(taper_hash_seed(dict->head.head.heap), text, length);
}

// Sets *hash to a hash with the dict's seed. Because of the seed, a file cannot choose keys that collide.
static bool hash_value(const taper_dict *dict, taper_val key, uint64_t *hash)
{
    const uint64_t seed = taper_hash_seed(dict->head.head.heap);
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
            h = (uint64_t)(int64_t)f; // 1.0 and 1 are the same key, so they have the same hash
        } else {
            memcpy(&h, &f, sizeof h);
        }
        break;
    }
    case TAPER_COMPLEX: {
        // Zeros of either sign are equal. The real part is mixed with the seed before the imaginary part is added.
        // Otherwise a file could choose the two parts so that they cancel.
        const double re = key.as.complex->re == 0 ? 0 : key.as.complex->re;
        const double im = key.as.complex->im == 0 ? 0 : key.as.complex->im;
        uint64_t second;
        memcpy(&h, &re, sizeof h);
        memcpy(&second, &im, sizeof second);
        h = taper_hash_spread(h ^ seed) ^ second;
        break;
    }
    case TAPER_STRING:
        *hash = hash_string(dict, key.as.string->data, key.as.string->length);
        return true;
    case TAPER_TENSOR:
        h = (uint64_t)(uintptr_t)key.as.obj;
        break;
    default:
        return false;
    }
    *hash = taper_hash_spread(h ^ seed);
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

// Returns true for a key that contains NaN, because it equals no key, not even itself. Such a key is not in the table,
// where many such keys would form one long probe sequence.
static bool equals_none(taper_val key)
{
    return (key.tag == TAPER_DOUBLE && key.as.f != key.as.f) ||
           (key.tag == TAPER_COMPLEX &&
            (key.as.complex->re != key.as.complex->re || key.as.complex->im != key.as.complex->im));
}

// Charges to the budget the probes beyond those that a good hash needs. Returns false if the budget is spent.
static bool charge_looks(const taper_dict *dict, uint64_t looks)
{
    return looks <= FREE_LOOKS || taper_spend(taper_heap_allocator(dict->head.head.heap), STEPS_A_LOOK * looks);
}

// Returns the position of the key, or SIZE_MAX if the dict lacks the key. Adds the number of probes to *looks.
static size_t find(const taper_dict *dict, taper_val key, uint64_t hash, uint64_t *looks)
{
    if (dict->index == NULL) {
        for (size_t i = 0; i < dict->count; i++) {
            if (taper_val_equal(taper_dict_key(dict, i), key)) {
                return i;
            }
        }
        return SIZE_MAX;
    }
    if (equals_none(key)) {
        return SIZE_MAX;
    }
    const size_t mask = dict->index_size - 1;
    for (size_t at = (size_t)hash & mask; dict->index[at] != 0; at = (at + 1) & mask) {
        ++*looks;
        if (taper_val_equal(taper_dict_key(dict, dict->index[at] - 1), key)) {
            return dict->index[at] - 1;
        }
    }
    return SIZE_MAX;
}

taper_val *taper_dict_find(const taper_dict *dict, taper_val key)
{
    uint64_t hash, looks = 0;
    const size_t at = hash_value(dict, key, &hash) ? find(dict, key, hash, &looks) : SIZE_MAX;
    looks += key.tag == TAPER_STRING ? key.as.string->length : 0;
    (void)charge_looks(dict, looks); // if this spends the budget, the next allocation is refused
    return at == SIZE_MAX ? NULL : &dict->entries[2 * at + 1];
}

static bool is_string(taper_val key, const char *text, size_t length)
{
    return key.tag == TAPER_STRING && key.as.string->length == length && memcmp(key.as.string->data, text, length) == 0;
}

taper_val *taper_dict_find_string(const taper_dict *dict, const char *text, size_t length)
{
    size_t found = SIZE_MAX;
    uint64_t looks = length;
    if (dict->index == NULL) {
        for (size_t i = 0; i < dict->count && found == SIZE_MAX; i++) {
            found = is_string(taper_dict_key(dict, i), text, length) ? i : SIZE_MAX;
        }
    } else {
        const size_t mask = dict->index_size - 1;
        size_t at = (size_t)hash_string(dict, text, length) & mask;
        for (; dict->index[at] != 0 && found == SIZE_MAX; at = (at + 1) & mask, looks++) {
            found = is_string(taper_dict_key(dict, dict->index[at] - 1), text, length) ? dict->index[at] - 1 : SIZE_MAX;
        }
    }
    (void)charge_looks(dict, looks);
    return found == SIZE_MAX ? NULL : &dict->entries[2 * found + 1];
}

static void enter(taper_dict *dict, taper_val key, size_t position, uint64_t hash, uint64_t *looks)
{
    if (equals_none(key)) {
        return;
    }
    const size_t mask = dict->index_size - 1;
    size_t at = (size_t)hash & mask;
    while (dict->index[at] != 0) {
        at = (at + 1) & mask;
        ++*looks;
    }
    dict->index[at] = (uint32_t)(position + 1);
}

static void reindex(taper_dict *dict, uint64_t *looks)
{
    if (dict->index != NULL) {
        memset(dict->index, 0, dict->index_size * sizeof *dict->index);
        for (size_t i = 0; i < dict->count; i++) {
            const taper_val key = taper_dict_key(dict, i);
            uint64_t hash = 0;
            (void)hash_value(dict, key, &hash);
            enter(dict, key, i, hash, looks);
        }
    }
}

taper_status taper_dict_set(taper_dict *dict, taper_val key, taper_val value, taper_error *error)
{
    uint64_t hash, looks = 0;
    taper_status status = TAPER_OK;
    if (!hash_value(dict, key, &hash)) {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT, "a %s cannot be a key of a dict", taper_val_kind_name(key));
        goto fail;
    }
    if (key.tag == TAPER_STRING) { // a string is hashed, compared, and hashed again when the table grows
        status = taper_charge(taper_heap_allocator(dict->head.head.heap), 8 * (uint64_t)key.as.string->length, error);
        if (status != TAPER_OK) {
            goto fail;
        }
    }
    const size_t at = find(dict, key, hash, &looks);
    if (at != SIZE_MAX) {
        (void)charge_looks(dict, looks);
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
        reindex(dict, &looks);
        looks += 4 * (uint64_t)dict->count; // the hash of every key is computed again
    }
    dict->entries[2 * dict->count] = key;
    dict->entries[2 * dict->count + 1] = value;
    dict->count++;
    if (dict->index != NULL) {
        enter(dict, key, dict->count - 1, hash, &looks);
    }
    (void)charge_looks(dict, looks);
    return TAPER_OK;
fail:
    taper_val_release(key);
    taper_val_release(value);
    return status;
}

bool taper_dict_remove(taper_dict *dict, taper_val key, taper_val *value)
{
    uint64_t hash, looks = 0;
    const size_t at = hash_value(dict, key, &hash) ? find(dict, key, hash, &looks) : SIZE_MAX;
    if (at == SIZE_MAX) {
        (void)charge_looks(dict, looks);
        return false;
    }
    const taper_val old = taper_dict_key(dict, at);
    *value = taper_dict_value(dict, at);
    dict->count--;
    memmove(dict->entries + 2 * at, dict->entries + 2 * at + 2, 2 * (dict->count - at) * sizeof *dict->entries);
    reindex(dict, &looks);
    (void)charge_looks(dict, looks);
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
    uint64_t looks = 0;
    reindex(dict, &looks);
}
