// SPDX-License-Identifier: BSD-2-Clause
// Writes opcodes, numbers, strings and the memo. Equal strings share a memo slot, as in PyTorch, and so do equal
// globals. If the table of these slots is full, the text is written again at its next use.
#include "format/pickle_write.h"

#include <assert.h>
#include <stdio.h>

#include "base/limits.h"

// A string or global that was already written.
typedef struct written {
    const char *text; // text of a string, or module of a global
    size_t length;
    const char *name; // name of a global; NULL for a string
    size_t slot;
} written;

taper_status taper_pickler_fail(const taper_pickler *p, taper_status status, const char *format, ...)
{
    char line[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return taper_fail(p->error, status, "%s cannot be written: %s", p->name, line);
}

void taper_pickler_start(taper_pickler *p, const taper_allocator *allocator, const taper_pickle_saver *saver,
                         const char *name, taper_error *error)
{
    *p = (taper_pickler){.allocator = allocator, .saver = saver, .name = name, .error = error};
    p->bytes = taper_bytes_make(allocator);
    taper_arena_init(&p->arena, allocator);
    taper_bytes_byte(&p->bytes, TAPER_PICKLE_PROTO);
    taper_bytes_byte(&p->bytes, 2);
}

void taper_pickler_free(taper_pickler *p)
{
    taper_bytes_free(&p->bytes);
    taper_arena_free(&p->arena);
    taper_lookup_free(p->allocator, &p->strings);
    taper_lookup_free(p->allocator, &p->globals);
    taper_lookup_free(p->allocator, &p->tags);
    taper_pointer_free(p->allocator, &p->objects);
}

// A reader's stack is limited. If the pickle needs a larger stack, writing fails, because no reader would accept the
// pickle.
void taper_pickler_op(taper_pickler *p, taper_pickle_opcode op, int64_t change)
{
    taper_bytes_byte(&p->bytes, op);
    p->stack += (uint64_t)change;
    p->overflow = p->overflow || p->stack > TAPER_LIMIT_PICKLE_STACK;
}

// ---- the memo

size_t taper_pickler_put(taper_pickler *p)
{
    const uint32_t slot = p->memo;
    if (slot >= TAPER_LIMIT_PICKLE_MEMO) {
        p->overflow = true;
        return slot;
    }
    p->memo++;
    taper_bytes_byte(&p->bytes, slot <= UINT8_MAX ? TAPER_PICKLE_BINPUT : TAPER_PICKLE_LONG_BINPUT);
    taper_bytes_number(&p->bytes, slot, slot <= UINT8_MAX ? 1 : 4);
    return slot;
}

void taper_pickler_get(taper_pickler *p, size_t slot)
{
    taper_pickler_op(p, slot <= UINT8_MAX ? TAPER_PICKLE_BINGET : TAPER_PICKLE_LONG_BINGET, 1);
    taper_bytes_number(&p->bytes, slot, slot <= UINT8_MAX ? 1 : 4);
}

static bool same_text(const void *item, const void *key)
{
    const written *a = item, *b = key;
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0 &&
           (a->name == NULL || strcmp(a->name, b->name) == 0);
}

// Stores the last written item in the memo for its next use.
static size_t remember(taper_pickler *p, taper_lookup *lookup, uint64_t hash, const written *what)
{
    const size_t slot = taper_pickler_put(p);
    written *made = taper_arena_alloc(&p->arena, sizeof *made);
    if (made == NULL) {
        p->bytes.failed = true;
        return slot;
    }
    *made = *what;
    made->slot = slot;
    (void)taper_lookup_add(p->allocator, lookup, hash, made);
    return slot;
}

// ---- scalars

void taper_pickler_none(taper_pickler *p)
{
    taper_pickler_op(p, TAPER_PICKLE_NONE, 1);
}

void taper_pickler_bool(taper_pickler *p, bool value)
{
    taper_pickler_op(p, value ? TAPER_PICKLE_NEWTRUE : TAPER_PICKLE_NEWFALSE, 1);
}

void taper_pickler_int(taper_pickler *p, int64_t value)
{
    if (value >= 0 && value <= UINT16_MAX) {
        const bool small = value <= UINT8_MAX;
        taper_pickler_op(p, small ? TAPER_PICKLE_BININT1 : TAPER_PICKLE_BININT2, 1);
        taper_bytes_number(&p->bytes, (uint64_t)value, small ? 1 : 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        taper_pickler_op(p, TAPER_PICKLE_BININT, 1);
        taper_bytes_number(&p->bytes, (uint64_t)value, 4);
    } else {
        taper_pickler_op(p, TAPER_PICKLE_LONG1, 1);
        taper_bytes_byte(&p->bytes, 8);
        taper_bytes_number(&p->bytes, (uint64_t)value, 8);
    }
}

void taper_pickler_double(taper_pickler *p, double value)
{
    uint64_t bits;
    uint8_t big[8];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < 8; i++) {
        big[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    taper_pickler_op(p, TAPER_PICKLE_BINFLOAT, 1);
    taper_bytes_append(&p->bytes, big, sizeof big);
}

size_t taper_pickler_string(taper_pickler *p, const char *text, size_t length)
{
    const written key = {.text = text, .length = length};
    const uint64_t hash = taper_hash_bytes(0, text, length);
    const taper_lookup_entry *known = taper_lookup_find(&p->strings, hash, same_text, &key);
    if (known != NULL) {
        const size_t slot = ((const written *)known->item)->slot;
        taper_pickler_get(p, slot);
        return slot;
    }
    p->overflow = p->overflow || length > UINT32_MAX;
    taper_pickler_op(p, TAPER_PICKLE_BINUNICODE, 1);
    taper_bytes_number(&p->bytes, length, 4);
    taper_bytes_append(&p->bytes, text, length);
    return remember(p, &p->strings, hash, &key);
}

size_t taper_pickler_global(taper_pickler *p, const char *module, size_t module_length, const char *name)
{
    const written key = {.text = module, .length = module_length, .name = name};
    const uint64_t hash = taper_hash_bytes(taper_hash_bytes(0, module, module_length), name, strlen(name));
    const taper_lookup_entry *known = taper_lookup_find(&p->globals, hash, same_text, &key);
    if (known != NULL) {
        const size_t slot = ((const written *)known->item)->slot;
        taper_pickler_get(p, slot);
        return slot;
    }
    taper_pickler_op(p, TAPER_PICKLE_GLOBAL, 1);
    taper_bytes_append(&p->bytes, module, module_length);
    taper_bytes_byte(&p->bytes, '\n');
    taper_bytes_append(&p->bytes, name, strlen(name));
    taper_bytes_byte(&p->bytes, '\n');
    return remember(p, &p->globals, hash, &key);
}

// ---- tuples

enum { SHORT_TUPLE = 3 }; // number of items of the longest tuple that has an opcode without MARK

void taper_pickler_open(taper_pickler *p, size_t count)
{
    if (count > SHORT_TUPLE) {
        taper_pickler_op(p, TAPER_PICKLE_MARK, 0);
    }
}

void taper_pickler_close(taper_pickler *p, size_t count)
{
    static const taper_pickle_opcode opcodes[SHORT_TUPLE + 1] = {TAPER_PICKLE_EMPTY_TUPLE, TAPER_PICKLE_TUPLE1,
                                                                 TAPER_PICKLE_TUPLE2, TAPER_PICKLE_TUPLE3};
    taper_pickler_op(p, count > SHORT_TUPLE ? TAPER_PICKLE_TUPLE : opcodes[count], 1 - (int64_t)count);
}

taper_status taper_pickler_finish(taper_pickler *p)
{
    taper_bytes_byte(&p->bytes, TAPER_PICKLE_STOP);
    if (p->bytes.failed) {
        return taper_fail_memory(p->error);
    }
    if (p->overflow) {
        return taper_pickler_fail(p, TAPER_ERROR_RESOURCE,
                                  "it would be larger than readers take (%d values at once, %d of them shared)",
                                  TAPER_LIMIT_PICKLE_STACK, TAPER_LIMIT_PICKLE_MEMO);
    }
    assert(p->stack == 1);
    return TAPER_OK;
}
