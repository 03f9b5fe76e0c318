// SPDX-License-Identifier: BSD-2-Clause
// Writes values as ivalues. Each object, and each distinct number or string, is written once and then referred to by
// its index.
#include "format/lite_flatbuffer_write.h"
#include "format/saved_value.h"

enum { CLASS_WITH_FIELD = 1, CLASS_CUSTOM = 2, CLASS_WITH_SETSTATE = 3 };

static const char native[] = "__torch__.torch.classes.";

// A number or string that was already written.
typedef struct scalar {
    taper_fb_kind kind;
    uint64_t bits;
    const char *text; // text of a string
    size_t length;
    uint32_t index;
} scalar;

#define REFUSE(w, ...) TAPER_FAIL((w)->error, TAPER_ERROR_UNSUPPORTED, "the module cannot be written: " __VA_ARGS__)

// ---- numbers and strings

static bool same_scalar(const void *item, const void *key)
{
    const scalar *a = item, *b = key;
    return a->kind == b->kind && a->bits == b->bits && a->length == b->length &&
           (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

static taper_fbb_ref put_number(taper_fb_writer *w, const scalar *s)
{
    uint8_t *to;
    const size_t size = s->kind == TAPER_FB_BOOL ? 1 : 8;
    const taper_fbb_ref ref = taper_fbb_struct(&w->b, size, size, &to);
    if (to != NULL && size == 1) {
        to[0] = (uint8_t)s->bits;
    } else if (to != NULL) {
        taper_store_u64(to, s->bits);
    }
    return ref;
}

static taper_fbb_ref put_string(taper_fb_writer *w, const char *text, size_t length)
{
    const taper_fbb_ref string = taper_fbb_string(&w->b, text, length);
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, string);
    return taper_fbb_table_end(&w->b);
}

static taper_status write_scalar(taper_fb_writer *w, const scalar *wanted, uint32_t *index)
{
    const uint64_t hash = taper_hash_bytes(taper_hash_bytes(wanted->kind, &wanted->bits, sizeof wanted->bits),
                                           wanted->text, wanted->length);
    const taper_lookup_entry *known = taper_lookup_find(&w->scalars, hash, same_scalar, wanted);
    if (known != NULL) {
        *index = ((const scalar *)known->item)->index;
        return TAPER_OK;
    }
    const taper_fbb_ref ref =
        wanted->kind == TAPER_FB_STRING ? put_string(w, wanted->text, wanted->length) : put_number(w, wanted);
    TAPER_TRY(taper_fb_add(w, wanted->kind, ref, index));
    scalar *made = taper_arena_alloc(&w->arena, sizeof *made);
    if (made == NULL) {
        return taper_fail_memory(w->error);
    }
    *made = *wanted;
    made->index = *index;
    (void)taper_lookup_add(w->allocator, &w->scalars, hash, made);
    return TAPER_OK;
}

static taper_status write_number(taper_fb_writer *w, taper_val value, uint32_t *index)
{
    scalar s = {.kind = value.tag == TAPER_BOOLEAN ? TAPER_FB_BOOL
                        : value.tag == TAPER_INT   ? TAPER_FB_INT
                                                   : TAPER_FB_DOUBLE,
                .bits = (uint64_t)value.as.i};
    if (value.tag == TAPER_BOOLEAN) {
        s.bits = value.as.i != 0 ? 1 : 0;
    } else if (value.tag == TAPER_DOUBLE) {
        memcpy(&s.bits, &value.as.f, sizeof s.bits);
    }
    return write_scalar(w, &s, index);
}

static taper_status write_device(taper_fb_writer *w, taper_val device, uint32_t *index)
{
    char text[TAPER_SAVED_DEVICE];
    if (!taper_saved_device_text(device, text)) {
        REFUSE(w, "a device of the unknown kind %lld", (long long)(device.as.i >> 8));
    }
    return taper_fb_add(w, TAPER_FB_DEVICE, put_string(w, text, strlen(text)), index);
}

static taper_fbb_ref put_complex(taper_fb_writer *w, const taper_complex *number)
{
    uint8_t *to;
    const taper_fbb_ref ref = taper_fbb_struct(&w->b, 16, 8, &to);
    const double parts[2] = {number->re, number->im};
    for (size_t i = 0; i < 2 && to != NULL; i++) {
        uint64_t bits;
        memcpy(&bits, &parts[i], sizeof bits);
        taper_store_u64(to + 8 * i, bits);
    }
    return ref;
}

// ---- lists, tuples, dicts

// Writes the indexes of `count` values. The values are `step` items apart in the array.
static taper_status write_items(taper_fb_writer *w, const taper_val *items, size_t count, size_t step, unsigned depth,
                                taper_fbb_ref *vector)
{
    uint32_t *indexes = taper_alloc(w->allocator, count * sizeof *indexes);
    if (indexes == NULL && count != 0) {
        return taper_fail_memory(w->error);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        status = taper_fb_write_value(w, items[step * i], depth + 1, &indexes[i]);
    }
    if (status == TAPER_OK) {
        *vector = taper_fbb_u32s(&w->b, indexes, count);
    }
    taper_free(w->allocator, indexes, count * sizeof *indexes);
    return status;
}

// A container type that was already written.
typedef struct type_tag {
    const taper_type *key, *value; // key type (NULL for a list) and value type
    taper_fbb_ref ref;
} type_tag;

static bool same_tag(const void *item, const void *key)
{
    const type_tag *a = item, *b = key;
    return a->key == b->key && a->value == b->value;
}

// Writes the name of a container's type. In a flatbuffer every container must have a type.
static taper_status put_type(taper_fb_writer *w, const taper_type *key, const taper_type *value, taper_fbb_ref *ref)
{
    const type_tag wanted = {.key = key, .value = value};
    const taper_type *const types[2] = {key, value};
    const uint64_t hash = taper_hash_bytes(0, types, sizeof types);
    const taper_lookup_entry *known = taper_lookup_find(&w->tags, hash, same_tag, &wanted);
    if (known != NULL) {
        *ref = ((const type_tag *)known->item)->ref;
        return TAPER_OK;
    }
    taper_text text = taper_text_make(w->allocator);
    taper_text_string(&text, key != NULL ? "Dict[" : "List[");
    if (key != NULL) {
        taper_type_print(key, &text);
        taper_text_string(&text, ", ");
    }
    taper_type_print(value, &text);
    taper_text_string(&text, "]");
    type_tag *made = taper_arena_alloc(&w->arena, sizeof *made);
    const char *kept = text.failed ? NULL : taper_arena_string(&w->arena, text.data, text.length);
    taper_text_free(&text);
    if (made == NULL || kept == NULL) {
        return taper_fail_memory(w->error);
    }
    *made = wanted;
    made->ref = *ref = taper_fbb_shared_string(&w->b, kept);
    (void)taper_lookup_add(w->allocator, &w->tags, hash, made);
    return TAPER_OK;
}

static taper_status write_numbers(taper_fb_writer *w, const taper_list *list, taper_fb_kind kind, uint32_t *index)
{
    const size_t width = kind == TAPER_FB_BOOL_LIST ? 1 : 8;
    uint8_t *to;
    const taper_fbb_ref items = taper_fbb_vector(&w->b, list->count, width, width, &to);
    for (size_t i = 0; i < list->count && to != NULL; i++) {
        if (width == 1) {
            to[i] = list->items[i].as.i != 0 ? 1 : 0;
        } else {
            uint64_t bits;
            memcpy(&bits, &list->items[i].as.i, sizeof bits); // copies the bits, also for a double
            taper_store_u64(to + 8 * i, bits);
        }
    }
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, items);
    return taper_fb_add(w, kind, taper_fbb_table_end(&w->b), index);
}

// Returns the kind of list that stores numbers directly, or the kind for lists of any values.
static taper_fb_kind kind_of_list(const taper_list *list)
{
    const taper_type_kind element = list->element != NULL ? (taper_type_kind)list->element->kind : TAPER_TYPE_ANY;
    const taper_tag tag = element == TAPER_TYPE_INT     ? TAPER_INT
                          : element == TAPER_TYPE_FLOAT ? TAPER_DOUBLE
                                                        : TAPER_BOOLEAN;
    if (element != TAPER_TYPE_INT && element != TAPER_TYPE_FLOAT && element != TAPER_TYPE_BOOL) {
        return TAPER_FB_LIST;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag != tag) {
            return TAPER_FB_LIST;
        }
    }
    return tag == TAPER_INT ? TAPER_FB_INT_LIST : tag == TAPER_DOUBLE ? TAPER_FB_DOUBLE_LIST : TAPER_FB_BOOL_LIST;
}

static taper_status write_list(taper_fb_writer *w, const taper_list *list, unsigned depth, uint32_t *index)
{
    const taper_fb_kind kind = kind_of_list(list);
    if (kind != TAPER_FB_LIST) {
        return write_numbers(w, list, kind, index);
    }
    taper_fbb_ref items, type;
    TAPER_TRY(write_items(w, list->items, list->count, 1, depth, &items));
    TAPER_TRY(put_type(w, NULL, list->element != NULL ? list->element : &taper_type_any, &type));
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, items);
    taper_fbb_refer(&w->b, 1, type);
    return taper_fb_add(w, kind, taper_fbb_table_end(&w->b), index);
}

static taper_status write_tuple(taper_fb_writer *w, const taper_tuple *tuple, unsigned depth, uint32_t *index)
{
    taper_fbb_ref items;
    TAPER_TRY(write_items(w, tuple->items, tuple->count, 1, depth, &items));
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, items);
    return taper_fb_add(w, TAPER_FB_TUPLE, taper_fbb_table_end(&w->b), index);
}

static taper_status write_dict(taper_fb_writer *w, const taper_dict *dict, unsigned depth, uint32_t *index)
{
    taper_fbb_ref keys, values, type;
    TAPER_TRY(write_items(w, dict->entries, dict->count, 2, depth, &keys));
    TAPER_TRY(write_items(w, dict->count != 0 ? dict->entries + 1 : NULL, dict->count, 2, depth, &values));
    TAPER_TRY(put_type(w, dict->key != NULL ? dict->key : &taper_type_any,
                       dict->value != NULL ? dict->value : &taper_type_any, &type));
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, keys);
    taper_fbb_refer(&w->b, 1, values);
    taper_fbb_refer(&w->b, 2, type);
    return taper_fb_add(w, TAPER_FB_DICT, taper_fbb_table_end(&w->b), index);
}

// ---- objects

static taper_status add_class(taper_fb_writer *w, const taper_class *class, unsigned kind, size_t *number)
{
    const size_t *known = taper_pointer_find(&w->classes, class);
    if (known != NULL) {
        *number = *known;
        return TAPER_OK;
    }
    const size_t slots = kind == CLASS_WITH_FIELD ? class->count : 0;
    taper_fbb_ref *names = taper_alloc(w->allocator, slots * sizeof *names);
    if (names == NULL && slots != 0) {
        return taper_fail_memory(w->error);
    }
    for (size_t i = 0; i < slots; i++) {
        names[i] = taper_fbb_shared_string(&w->b, class->slots[i]);
    }
    const taper_fbb_ref attributes = taper_fbb_refs(&w->b, names, slots);
    taper_free(w->allocator, names, slots * sizeof *names);
    const taper_fbb_ref name = taper_fbb_shared_string(&w->b, class->name);
    TAPER_TRY(TAPER_GROW(w->allocator, w->class_items, w->class_capacity, w->class_count + 1, w->error));
    TAPER_TRY(TAPER_GROW(w->allocator, w->class_tables, w->class_table_capacity, w->class_count + 1, w->error));
    TAPER_TRY(taper_pointer_add(w->allocator, &w->classes, class, w->class_count, w->error));
    *number = w->class_count++;
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 0, name);
    taper_fbb_refer(&w->b, 2, attributes);
    taper_fbb_number(&w->b, 1, 1, kind, 0);
    w->class_items[*number] = class;
    w->class_tables[*number] = taper_fbb_table_end(&w->b);
    return TAPER_OK;
}

static taper_status write_object(taper_fb_writer *w, const taper_object *object, unsigned depth, uint32_t *index)
{
    const taper_class *class = object->klass;
    const bool is_native = strncmp(class->name, native, sizeof native - 1) == 0;
    const taper_val *state = NULL;
    size_t function = 0, number;
    uint32_t state_index = 0;
    if (is_native && object->count != 1) {
        REFUSE(w, "an object of the class %.200s has no state", class->name);
    }
    if (is_native) { // the object's only slot is its state
        state = &object->slots[0];
        // Objects in constants are saved as their attributes unless they have a __setstate__.
    } else if (w->in_state || taper_set_states_has(&w->states, object)) {
        TAPER_TRY(taper_set_states_find(&w->states, object, &state, &function, w->error));
    }
    if (state != NULL && !is_native && w->functions[function] == 0) {
        REFUSE(w, "a constant of the class %.200s comes before its __setstate__", class->name);
    }
    if (state == NULL && object->count != class->count) {
        REFUSE(w, "an object of the class %.200s has %zu attributes, of which %zu have names", class->name,
               object->count, class->count);
    }
    taper_fbb_ref attributes = 0;
    if (state != NULL) {
        TAPER_TRY(taper_fb_write_value(w, *state, depth + 1, &state_index));
    } else {
        TAPER_TRY(write_items(w, object->slots, object->count, 1, depth, &attributes));
    }
    const unsigned kind = is_native ? CLASS_CUSTOM : state != NULL ? CLASS_WITH_SETSTATE : CLASS_WITH_FIELD;
    TAPER_TRY(add_class(w, class, kind, &number));
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 2, attributes);
    taper_fbb_number(&w->b, 0, 4, number, 0);
    taper_fbb_number(&w->b, 1, 4, state_index, 0);
    taper_fbb_number(&w->b, 3, 4, kind == CLASS_WITH_SETSTATE ? w->functions[function] : 0, 0);
    return taper_fb_add(w, TAPER_FB_OBJECT, taper_fbb_table_end(&w->b), index);
}

// ---- values of any kind

static taper_status write_object_value(taper_fb_writer *w, taper_val value, unsigned depth, uint32_t *index)
{
    taper_fbb_ref ref;
    switch ((taper_tag)value.tag) {
    case TAPER_COMPLEX:
        return taper_fb_add(w, TAPER_FB_COMPLEX, put_complex(w, value.as.complex), index);
    case TAPER_TENSOR:
        TAPER_TRY(taper_fb_write_tensor(w, value.as.tensor, &ref));
        return taper_fb_add(w, TAPER_FB_TENSOR, ref, index);
    case TAPER_LIST:
        return write_list(w, value.as.list, depth, index);
    case TAPER_TUPLE:
        return write_tuple(w, value.as.tuple, depth, index);
    case TAPER_DICT:
        return write_dict(w, value.as.dict, depth, index);
    case TAPER_OBJECT:
        return write_object(w, value.as.object, depth, index);
    case TAPER_STRING:
        return write_scalar(
            w, &(scalar){.kind = TAPER_FB_STRING, .text = value.as.string->data, .length = value.as.string->length},
            index);
    default:
        REFUSE(w, "a %s has no form in a file", taper_val_kind_name(value));
    }
}

// Writes a value that several containers may hold. Writes it only once.
static taper_status write_shared(taper_fb_writer *w, taper_val value, unsigned depth, uint32_t *index)
{
    const bool shared = taper_refs_count(&value.as.obj->refs) > 1;
    const size_t *known = shared ? taper_pointer_find(&w->objects, value.as.obj) : NULL;
    if (known != NULL && *known == TAPER_FB_OPEN) {
        REFUSE(w, "a %s holds itself, which no file can say", taper_val_kind_name(value));
    }
    if (known != NULL) {
        *index = (uint32_t)*known;
        return TAPER_OK;
    }
    if (!shared) {
        return write_object_value(w, value, depth, index);
    }
    TAPER_TRY(taper_pointer_add(w->allocator, &w->objects, value.as.obj, TAPER_FB_OPEN, w->error));
    TAPER_TRY(write_object_value(w, value, depth, index));
    *taper_pointer_find(&w->objects, value.as.obj) = *index;
    return TAPER_OK;
}

taper_status taper_fb_write_value(taper_fb_writer *w, taper_val value, unsigned depth, uint32_t *index)
{
    *index = 0; // index of the ivalue None
    if (depth > TAPER_LIMIT_VALUE_DEPTH) {
        TAPER_FAIL(w->error, TAPER_ERROR_RESOURCE, "the module cannot be written: values are nested more than %d deep",
                   TAPER_LIMIT_VALUE_DEPTH);
    }
    switch ((taper_tag)value.tag) {
    case TAPER_NONE:
        return TAPER_OK;
    case TAPER_BOOLEAN:
    case TAPER_INT:
    case TAPER_DOUBLE:
        return write_number(w, value, index);
    case TAPER_DEVICE:
        return write_device(w, value, index);
    case TAPER_UNDEFINED:
        REFUSE(w, "a value that was never set");
    default:
        return write_shared(w, value, depth, index);
    }
}
