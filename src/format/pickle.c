// SPDX-License-Identifier: BSD-2-Clause
// The pickle reader, a stack machine. All memory that it allocates is proportional to the bytes that it has read: one
// slot or object for each opcode, and a memo no longer than the record.
//
// Items can be added to a list, dict or object only while nothing but the stack and one memo slot refers to it.
// PyTorch's writers never need more references. This rule makes cycles impossible, and the depth of every value is
// known when the value is complete. The reference count tells how many references exist, so memo slots can be set only
// once.
#include "format/pickle.h"

#include <stdio.h>

#include "format/pickle_machine.h"

enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINPERSID = 'Q',
    OP_REDUCE = 'R',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_BUILD = 'b',
    OP_GLOBAL = 'c',
    OP_DICT = 'd',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_LIST = 'l',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_SETITEM = 's', // only Python's own pickler writes this opcode
    OP_TUPLE = 't',
    OP_SETITEMS = 'u',
    OP_EMPTY_DICT = '}',
    OP_EMPTY_TUPLE = ')',
    OP_PROTO = 0x80,
    OP_NEWOBJ = 0x81,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a
};

#define REFUSE(p, ...) return taper_pickle_fail((p), TAPER_ERROR_FILE, __VA_ARGS__)

// ---- the stack

static taper_status push(taper_pickle *p, taper_val value)
{
    return taper_pickle_push(p, value, 0, false);
}

// Returns the number of slots above the innermost mark, which an opcode may pop.
static size_t available(const taper_pickle *p)
{
    return p->count - (p->mark_count != 0 ? p->marks[p->mark_count - 1] : 0);
}

static taper_status need(const taper_pickle *p, size_t count)
{
    if (available(p) < count) {
        REFUSE(p, "the pickle is damaged: too few values for this opcode");
    }
    return TAPER_OK;
}

static taper_status push_mark(taper_pickle *p)
{
    TAPER_TRY(TAPER_GROW(p->allocator, p->marks, p->mark_capacity, p->mark_count + 1, p->error));
    p->marks[p->mark_count++] = (uint32_t)p->count;
    return TAPER_OK;
}

static taper_status pop_mark(taper_pickle *p, size_t *base)
{
    *base = 0;
    if (p->mark_count == 0) {
        REFUSE(p, "the pickle is damaged: no mark to go back to");
    }
    *base = p->marks[--p->mark_count];
    return TAPER_OK;
}

static void drop_to(taper_pickle *p, size_t count)
{
    while (p->count > count) {
        taper_val_release(p->stack[--p->count].value);
    }
}

// ---- the memo

static taper_status put(taper_pickle *p, uint32_t index)
{
    TAPER_TRY(need(p, 1));
    // A memo slot costs at least one byte of the record, so valid indices are below the record's size.
    if (index >= p->reader.size || index >= TAPER_LIMIT_PICKLE_MEMO) {
        REFUSE(p, "memo slot %lu is beyond the limit", (unsigned long)index);
    }
    while (p->memo_count <= index) {
        TAPER_TRY(TAPER_GROW(p->allocator, p->memo, p->memo_capacity, p->memo_count + 1, p->error));
        p->memo[p->memo_count++] = (taper_pickle_slot){.set = false};
    }
    if (p->memo[index].set) {
        REFUSE(p, "memo slot %lu is set twice", (unsigned long)index);
    }
    taper_pickle_slot *top = &p->stack[p->count - 1];
    p->memo[index] = *top;
    p->memo[index].set = true;
    taper_val_retain(top->value);
    top->memo = index;
    return TAPER_OK;
}

static taper_status get(taper_pickle *p, uint32_t index)
{
    if (index >= p->memo_count || !p->memo[index].set) {
        REFUSE(p, "memo slot %lu is not set", (unsigned long)index);
    }
    const taper_pickle_slot slot = p->memo[index];
    TAPER_TRY(taper_pickle_push(p, taper_val_retain(slot.value), slot.depth, slot.raw));
    p->stack[p->count - 1].memo = index;
    p->stack[p->count - 1].closed = slot.closed;
    return TAPER_OK;
}

// ---- containers

// Prepares the container in slot `at` for adding items. Fails if anything else refers to the container. The
// container's depth becomes the largest depth of the items plus one.
static taper_status open_container(taper_pickle *p, size_t at, size_t items)
{
    taper_pickle_slot *slot = &p->stack[at];
    if (taper_refs_count(&slot->value.as.obj->refs) > (slot->memo == TAPER_PICKLE_NO_MEMO ? 1u : 2u)) {
        REFUSE(p, "a %s is changed after it was used", taper_val_kind_name(slot->value));
    }
    unsigned depth = slot->depth;
    for (size_t i = items; i < p->count; i++) {
        if (p->stack[i].raw) {
            REFUSE(p, "a class or a storage where a value is expected");
        }
        if (p->stack[i].depth >= depth) {
            depth = p->stack[i].depth + 1u;
        }
    }
    if (depth > TAPER_LIMIT_VALUE_DEPTH) {
        return taper_pickle_fail(p, TAPER_ERROR_RESOURCE, "values are nested more than %d deep",
                                 TAPER_LIMIT_VALUE_DEPTH);
    }
    slot->depth = (uint16_t)depth;
    if (slot->memo != TAPER_PICKLE_NO_MEMO) {
        p->memo[slot->memo].depth = (uint16_t)depth;
    }
    return TAPER_OK;
}

// Replaces the slots from `base` on by a tuple of their values.
static taper_status make_tuple(taper_pickle *p, size_t base)
{
    const size_t count = p->count - base;
    taper_tuple *tuple = taper_tuple_new(p->heap, NULL, count);
    if (tuple == NULL) {
        return taper_fail_memory(p->error);
    }
    unsigned depth = 0;
    bool raw = false;
    for (size_t i = 0; i < count; i++) {
        const taper_pickle_slot *slot = &p->stack[base + i];
        tuple->items[i] = slot->value;
        depth = slot->depth >= depth ? slot->depth + 1u : depth;
        raw |= slot->raw;
    }
    p->count = base;
    return taper_pickle_push(p, TAPER_VAL(tuple), depth, raw);
}

static taper_status append_items(taper_pickle *p, size_t base)
{
    if (base == 0 || p->stack[base - 1].value.tag != TAPER_LIST || p->stack[base - 1].value.as.list->element != NULL) {
        REFUSE(p, "the pickle is damaged: APPENDS without a fresh list");
    }
    TAPER_TRY(open_container(p, base - 1, base));
    taper_list *list = p->stack[base - 1].value.as.list;
    for (size_t i = base; i < p->count; i++) {
        const taper_val item = p->stack[i].value;
        p->stack[i].value = taper_val_none(); // the tuple has taken over the reference
        TAPER_TRY(taper_list_append(list, item, p->error));
    }
    p->count = base;
    return TAPER_OK;
}

static taper_status set_items(taper_pickle *p, size_t base)
{
    if (base == 0 || p->stack[base - 1].value.tag != TAPER_DICT || p->stack[base - 1].value.as.dict->key != NULL) {
        REFUSE(p, "the pickle is damaged: SETITEMS without a fresh dict");
    }
    if ((p->count - base) % 2 != 0) {
        REFUSE(p, "the pickle is damaged: a key without a value");
    }
    TAPER_TRY(open_container(p, base - 1, base));
    taper_dict *dict = p->stack[base - 1].value.as.dict;
    for (size_t i = base; i < p->count; i += 2) {
        const taper_val key = p->stack[i].value, value = p->stack[i + 1].value;
        p->stack[i].value = p->stack[i + 1].value = taper_val_none();
        const taper_status status = taper_dict_set(dict, key, value, p->error);
        if (status != TAPER_OK) {
            return taper_pickle_blame(p, status);
        }
    }
    p->count = base;
    return TAPER_OK;
}

// Handles LIST and DICT, which make a container of the items that are already on the stack.
static taper_status collect(taper_pickle *p, bool dict)
{
    size_t base;
    TAPER_TRY(pop_mark(p, &base));
    taper_obj *container =
        dict ? (taper_obj *)taper_dict_new(p->heap, NULL, NULL) : (taper_obj *)taper_list_new(p->heap, NULL, 0);
    TAPER_TRY(taper_pickle_push_new(p, container));
    const taper_pickle_slot made = p->stack[p->count - 1];
    memmove(p->stack + base + 1, p->stack + base, (p->count - 1 - base) * sizeof *p->stack);
    p->stack[base] = made;
    return dict ? set_items(p, base + 1) : append_items(p, base + 1);
}

// ---- objects and calls

static taper_status new_object(taper_pickle *p)
{
    TAPER_TRY(need(p, 2));
    const taper_val arguments = p->stack[p->count - 1].value;
    const taper_pickle_global *global = taper_pickle_global_of(p, p->stack[p->count - 2].value);
    if (TAPER_PICKLE_SUBCLASSES(p) && global != NULL && global->kind == TAPER_GLOBAL_NOTHING) {
        drop_to(p, p->count - 2);
        return push(p, taper_val_none());
    }
    if (global == NULL || global->kind != TAPER_GLOBAL_CLASS || arguments.tag != TAPER_TUPLE ||
        arguments.as.tuple->count != 0) {
        REFUSE(p, "the pickle is damaged: an object is made of something that is not a class");
    }
    const taper_class *class = taper_types_class(p->types, global->name, 0, NULL);
    drop_to(p, p->count - 2);
    return taper_pickle_push_new(p, class != NULL ? taper_object_new(p->heap, class, 0) : NULL);
}

static taper_status build(taper_pickle *p)
{
    TAPER_TRY(need(p, 2));
    const size_t at = p->count - 2;
    // Does nothing in two cases: the state dicts of Python modules have metadata that are not needed, and an object
    // that was replaced by None needs no state.
    const bool nothing = TAPER_PICKLE_SUBCLASSES(p) && p->stack[at].value.tag == TAPER_NONE;
    if (p->stack[at].value.tag == TAPER_DICT || nothing) {
        drop_to(p, at + 1);
        return TAPER_OK;
    }
    if (p->stack[at].value.tag != TAPER_OBJECT || p->stack[at].closed) {
        REFUSE(p, "the pickle is damaged: BUILD without a fresh object");
    }
    TAPER_TRY(open_container(p, at, at + 1));
    p->stack[at].closed = true;
    if (p->stack[at].memo != TAPER_PICKLE_NO_MEMO) {
        p->memo[p->stack[at].memo].closed = true;
    }
    p->count--;
    return taper_pickle_build(p, p->stack[at].value.as.object, p->stack[at + 1].value);
}

static taper_status reduce(taper_pickle *p)
{
    TAPER_TRY(need(p, 2));
    // The arguments are removed from their slot, because the call pushes its result into this slot.
    const taper_pickle_slot arguments = p->stack[p->count - 1];
    const taper_pickle_global *global = taper_pickle_global_of(p, p->stack[p->count - 2].value);
    const bool member = global != NULL && global->kind == TAPER_GLOBAL_CLASS && arguments.value.tag != TAPER_TUPLE;
    if (global == NULL || (arguments.value.tag != TAPER_TUPLE && !member)) {
        REFUSE(p, "the pickle is damaged: REDUCE without a function and its arguments");
    }
    // the popped values, a global and arguments that were taken out, own no reference, so only the count changes
    p->count -= 2;
    const taper_status status = member ? taper_pickle_member(p, global, arguments.value)
                                       : taper_pickle_call(p, global, arguments.value.as.tuple, arguments.depth);
    taper_val_release(arguments.value);
    return status;
}

static taper_status persistent_id(taper_pickle *p)
{
    TAPER_TRY(need(p, 1));
    const taper_val id = p->stack[--p->count].value;
    const taper_status status = taper_pickle_storage(p, id);
    taper_val_release(id);
    return status;
}

// ---- scalars

static taper_status push_string(taper_pickle *p)
{
    uint32_t length;
    const uint8_t *bytes;
    TAPER_TRY(taper_read_u32(&p->reader, &length));
    TAPER_TRY(taper_read_bytes(&p->reader, length, &bytes));
    return taper_pickle_push_new(p, taper_string_new(p->heap, (const char *)bytes, length));
}

static taper_status push_long(taper_pickle *p)
{
    uint8_t length;
    const uint8_t *bytes;
    TAPER_TRY(taper_read_u8(&p->reader, &length));
    TAPER_TRY(taper_read_bytes(&p->reader, length, &bytes));
    if (length > 8) {
        REFUSE(p, "an integer of %u bytes does not fit 64 bits", length);
    }
    uint64_t bits = length != 0 && (bytes[length - 1] & 0x80) != 0 ? UINT64_MAX : 0;
    for (unsigned i = length; i-- > 0;) {
        bits = bits << 8 | bytes[i];
    }
    return push(p, taper_val_int((int64_t)bits));
}

static taper_status push_int(taper_pickle *p, unsigned bytes)
{
    const uint8_t *at;
    TAPER_TRY(taper_read_bytes(&p->reader, bytes, &at));
    const int64_t value = bytes == 1 ? at[0] : bytes == 2 ? taper_load_u16(at) : (int32_t)taper_load_u32(at);
    return push(p, taper_val_int(value));
}

static taper_status read_index(taper_pickle *p, bool is_long, uint32_t *index)
{
    if (is_long) {
        return taper_read_u32(&p->reader, index);
    }
    uint8_t byte = 0;
    const taper_status status = taper_read_u8(&p->reader, &byte);
    *index = byte;
    return status;
}

static taper_status push_global(taper_pickle *p)
{
    const char *module, *name;
    size_t module_length, name_length;
    TAPER_TRY(taper_read_line(&p->reader, &module, &module_length));
    TAPER_TRY(taper_read_line(&p->reader, &name, &name_length));
    return taper_pickle_find_global(p, module, module_length, name, name_length);
}

static taper_status read_protocol(taper_pickle *p)
{
    uint8_t protocol;
    TAPER_TRY(taper_read_u8(&p->reader, &protocol));
    if (protocol != 2) {
        REFUSE(p, "pickle protocol %u: TorchScript archives are written with protocol 2", protocol);
    }
    return TAPER_OK;
}

// ---- reading all opcodes

static taper_status step(taper_pickle *p, uint8_t op)
{
    size_t base = 0;
    uint32_t index = 0;
    double number = 0;
    switch (op) {
    case OP_PROTO:
        return read_protocol(p);
    case OP_MARK:
        return push_mark(p);
    case OP_NONE:
        return push(p, taper_val_none());
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return push(p, taper_val_bool(op == OP_NEWTRUE));
    case OP_BININT1:
        return push_int(p, 1);
    case OP_BININT2:
        return push_int(p, 2);
    case OP_BININT:
        return push_int(p, 4);
    case OP_LONG1:
        return push_long(p);
    case OP_BINFLOAT:
        TAPER_TRY(taper_read_f64_big(&p->reader, &number));
        return push(p, taper_val_double(number));
    case OP_BINUNICODE:
        return push_string(p);
    case OP_EMPTY_TUPLE:
        return make_tuple(p, p->count);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        TAPER_TRY(need(p, op - OP_TUPLE1 + 1u));
        return make_tuple(p, p->count - (op - OP_TUPLE1 + 1u));
    case OP_TUPLE:
        TAPER_TRY(pop_mark(p, &base));
        return make_tuple(p, base);
    case OP_EMPTY_LIST:
        return taper_pickle_push_new(p, taper_list_new(p->heap, NULL, 0));
    case OP_APPENDS:
        TAPER_TRY(pop_mark(p, &base));
        return append_items(p, base);
    case OP_EMPTY_DICT:
        return taper_pickle_push_new(p, taper_dict_new(p->heap, NULL, NULL));
    case OP_SETITEM:
        TAPER_TRY(need(p, 3));
        return set_items(p, p->count - 2);
    case OP_SETITEMS:
        TAPER_TRY(pop_mark(p, &base));
        return set_items(p, base);
    case OP_LIST:
    case OP_DICT:
        return collect(p, op == OP_DICT);
    case OP_BINPUT:
    case OP_LONG_BINPUT:
        TAPER_TRY(read_index(p, op == OP_LONG_BINPUT, &index));
        return put(p, index);
    case OP_BINGET:
    case OP_LONG_BINGET:
        TAPER_TRY(read_index(p, op == OP_LONG_BINGET, &index));
        return get(p, index);
    case OP_GLOBAL:
        return push_global(p);
    case OP_NEWOBJ:
        return new_object(p);
    case OP_BUILD:
        return build(p);
    case OP_REDUCE:
        return reduce(p);
    case OP_BINPERSID:
        return persistent_id(p);
    default:
        REFUSE(
            p,
            "opcode 0x%02x, which no TorchScript archive holds: the record is damaged or was not written by PyTorch's "
            "serializer",
            op);
    }
}

static taper_status run(taper_pickle *p, taper_val *value)
{
    for (;;) {
        uint8_t op;
        p->start = p->reader.position;
        TAPER_TRY(taper_read_u8(&p->reader, &op));
        if (op == OP_STOP) {
            break;
        }
        TAPER_TRY(step(p, op));
    }
    if (p->mark_count != 0 || p->count != 1) {
        REFUSE(p, "the pickle is damaged: it ends with %zu values instead of one", p->count);
    }
    if (p->stack[0].raw) {
        REFUSE(p, "the pickle holds a class or a storage instead of a value");
    }
    p->count = 0;
    *value = p->stack[0].value;
    return TAPER_OK;
}

taper_status taper_pickle_read(taper_heap *heap, taper_type_scope *scope, const taper_pickle_host *host,
                               const taper_pickle_source *source, taper_val *value, taper_error *error)
{
    *value = taper_val_none();
    taper_pickle p = {
        .heap = heap,
        .types = taper_heap_types(heap),
        .scope = scope,
        .host = host,
        .allocator = taper_heap_allocator(heap),
        .reader = taper_reader_make(source->data, source->size, source->offset, source->name, error),
        .error = error,
    };
    taper_arena_init(&p.arena, p.allocator);
    const taper_status status = run(&p, value);
    drop_to(&p, 0);
    for (size_t i = 0; i < p.memo_count; i++) {
        taper_val_release(p.memo[i].value); // memo slots that were never set are None
    }
    if (p.empty != NULL) {
        taper_obj_release(&p.empty->head);
    }
    taper_free(p.allocator, p.stack, p.stack_capacity * sizeof *p.stack);
    taper_free(p.allocator, p.memo, p.memo_capacity * sizeof *p.memo);
    taper_free(p.allocator, p.marks, p.mark_capacity * sizeof *p.marks);
    taper_free(p.allocator, p.globals, p.global_capacity * sizeof *p.globals);
    taper_arena_free(&p.arena);
    return status;
}
