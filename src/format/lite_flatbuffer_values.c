// SPDX-License-Identifier: BSD-2-Clause
// Reads the values of a flatbuffer module: numbers, containers, objects.
#include "base/charge.h"
#include "base/reader.h"
#include "format/lite_flatbuffer.h"
#include "format/saved_value.h"

static const char native[] = "__torch__.torch.classes.", module_prefix[] = "__torch__.";

typedef enum class_kind {
    CLASS_UNSET,
    CLASS_WITH_FIELD,
    CLASS_CUSTOM,
    CLASS_WITH_SETSTATE,
    CLASS_NON_OBJECT
} class_kind;

// Returns in *value a reference to the value with this index, for a container that is one level deeper than the value.
// On failure *value does not change.
static taper_status take(taper_fb_reader *r, size_t at, uint32_t index, taper_val *value)
{
    taper_val found;
    TAPER_TRY(taper_fb_value(r, at, index, &found));
    if (r->depths[index] >= TAPER_LIMIT_VALUE_DEPTH) {
        return taper_fail(r->fb.error, TAPER_ERROR_RESOURCE, "values nested deeper than %d levels",
                          TAPER_LIMIT_VALUE_DEPTH);
    }
    if (r->depths[r->current] <= r->depths[index]) {
        r->depths[r->current] = (uint16_t)(r->depths[index] + 1);
    }
    *value = taper_val_retain(found);
    return TAPER_OK;
}

// Returns the value whose index is item i of a vector.
static taper_status take_item(taper_fb_reader *r, const taper_fb_vector *indexes, size_t i, taper_val *value)
{
    const uint8_t *item = taper_fb_item(&r->fb, indexes, i, 4);
    return take(r, (size_t)(item - r->fb.data), taper_load_u32(item), value);
}

// Returns the value whose index is stored in a field.
static taper_status take_field(taper_fb_reader *r, const taper_fb_table *table, unsigned slot, taper_val *value)
{
    uint64_t index = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, slot, 4, &index));
    return take(r, table->at, (uint32_t)index, value);
}

// If a function refused an argument, changes its error TAPER_ERROR_ARGUMENT to TAPER_ERROR_FILE and adds the position
// of the table, because the argument is from the file.
static taper_status blame(const taper_fb_reader *r, const taper_fb_table *table, taper_status status)
{
    return status == TAPER_ERROR_ARGUMENT ? taper_fb_damaged(&r->fb, table->at, "%s", taper_error_message(r->fb.error))
                                          : status;
}

// ---- lists, tuples, dicts

static taper_status type_list(taper_fb_reader *r, const taper_fb_table *table, taper_list *list)
{
    taper_fb_name *name;
    const taper_type *type;
    TAPER_TRY(taper_fb_name_in(r, table, 1, &name));
    TAPER_TRY(taper_fb_type_of(r, name, &type));
    if (type->kind != TAPER_TYPE_LIST) {
        return taper_fb_damaged(&r->fb, table->at, "a list of the type \"%.100s\"", name->text);
    }
    const size_t wrong = taper_saved_list_type(list, type->items[0]);
    if (wrong != list->count) {
        return taper_fb_damaged(&r->fb, table->at, "item %zu of a %.100s is a %s", wrong, name->text,
                                taper_val_kind_name(list->items[wrong]));
    }
    return TAPER_OK;
}

static taper_status fill_list(taper_fb_reader *r, const taper_fb_table *table, const taper_fb_vector *items,
                              taper_list *list)
{
    for (size_t i = 0; i < items->count; i++) {
        TAPER_TRY(take_item(r, items, i, &list->items[i]));
        list->count++;
    }
    return type_list(r, table, list);
}

static taper_status read_list(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, 0, 4, &items));
    taper_list *list = taper_list_new(r->module->heap, NULL, items.count);
    if (list == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *value = TAPER_VAL(list);
    return fill_list(r, table, &items, list);
}

static taper_status read_numbers(taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind kind, taper_val *value)
{
    const size_t width = kind == TAPER_FB_BOOL_LIST ? 1 : 8;
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, 0, width, &items));
    taper_list *list = taper_list_new(r->module->heap,
                                      kind == TAPER_FB_INT_LIST      ? &taper_type_int
                                      : kind == TAPER_FB_DOUBLE_LIST ? &taper_type_float
                                                                     : &taper_type_bool,
                                      items.count);
    if (list == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    for (size_t i = 0; i < items.count; i++) {
        const uint8_t *bytes = taper_fb_item(&r->fb, &items, i, width);
        if (kind == TAPER_FB_BOOL_LIST) {
            list->items[i] = taper_val_bool(bytes[0] != 0);
        } else if (kind == TAPER_FB_INT_LIST) {
            list->items[i] = taper_val_int((int64_t)taper_load_u64(bytes));
        } else {
            const uint64_t bits = taper_load_u64(bytes);
            list->items[i] = taper_val_double(0);
            memcpy(&list->items[i].as.f, &bits, sizeof bits);
        }
    }
    list->count = items.count;
    *value = TAPER_VAL(list);
    r->depths[r->current] = 1;
    return TAPER_OK;
}

static taper_status read_tuple(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    taper_fb_vector items;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, 0, 4, &items));
    taper_tuple *tuple = taper_tuple_new(r->module->heap, NULL, items.count);
    if (tuple == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *value = TAPER_VAL(tuple);
    for (size_t i = 0; i < items.count; i++) {
        TAPER_TRY(take_item(r, &items, i, &tuple->items[i]));
    }
    return TAPER_OK;
}

static taper_status fill_dict(taper_fb_reader *r, const taper_fb_table *table, const taper_fb_vector *keys,
                              const taper_fb_vector *values, taper_dict *dict)
{
    TAPER_TRY(taper_dict_reserve(dict, keys->count, r->fb.error));
    for (size_t i = 0; i < keys->count; i++) {
        taper_val key, value;
        TAPER_TRY(take_item(r, keys, i, &key));
        taper_status status = take_item(r, values, i, &value);
        if (status != TAPER_OK) {
            taper_val_release(key);
            return status;
        }
        status = taper_dict_set(dict, key, value, r->fb.error);
        if (status != TAPER_OK) {
            return blame(r, table, status);
        }
    }
    taper_fb_name *name;
    const taper_type *type;
    TAPER_TRY(taper_fb_name_in(r, table, 2, &name));
    TAPER_TRY(taper_fb_type_of(r, name, &type));
    if (type->kind != TAPER_TYPE_DICT) {
        return taper_fb_damaged(&r->fb, table->at, "a dict of the type \"%.100s\"", name->text);
    }
    const size_t wrong = taper_saved_dict_type(dict, type);
    if (wrong != dict->count) {
        return taper_fb_damaged(&r->fb, table->at, "entry %zu of a %.100s has the types %s and %s", wrong, name->text,
                                taper_val_kind_name(taper_dict_key(dict, wrong)),
                                taper_val_kind_name(taper_dict_value(dict, wrong)));
    }
    return TAPER_OK;
}

static taper_status read_dict(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    taper_fb_vector keys, values;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, 0, 4, &keys));
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, 1, 4, &values));
    if (keys.count != values.count) {
        return taper_fb_damaged(&r->fb, table->at, "a dict of %zu keys and %zu values", keys.count, values.count);
    }
    taper_dict *dict = taper_dict_new(r->module->heap, NULL, NULL);
    if (dict == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *value = TAPER_VAL(dict);
    return fill_dict(r, table, &keys, &values, dict);
}

// ---- objects

static taper_status read_class(taper_fb_reader *r, size_t number, taper_fb_class *class)
{
    taper_fb_table table;
    taper_fb_name *name;
    taper_fb_vector slots;
    uint64_t kind = CLASS_UNSET;
    TAPER_TRY(taper_fb_item_table(&r->fb, &r->object_types, number, &table));
    TAPER_TRY(taper_fb_name_in(r, &table, 0, &name));
    TAPER_TRY(taper_fb_number(&r->fb, &table, 1, 1, &kind));
    TAPER_TRY(taper_fb_vector_in(&r->fb, &table, 2, 4, &slots));
    const bool is_native = strncmp(name->text, native, sizeof native - 1) == 0;
    if (strncmp(name->text, module_prefix, sizeof module_prefix - 1) != 0 ||
        (kind != CLASS_WITH_FIELD && kind != CLASS_CUSTOM && kind != CLASS_WITH_SETSTATE) ||
        is_native != (kind == CLASS_CUSTOM)) {
        return taper_fb_damaged(&r->fb, table.at, "an object of the class \"%.100s\", kind %u", name->text,
                                (unsigned)kind);
    }
    static const char *const state[] = {"state"}, *const none[] = {NULL};
    class->kind = (uint8_t)kind;
    // An object of a native class of PyTorch keeps its state unchanged; the operators of the class read it.
    if (kind == CLASS_CUSTOM) {
        class->klass = taper_types_class(r->module->types, name->text, 1, state);
    } else if (kind == CLASS_WITH_SETSTATE) {
        class->klass = taper_types_class(r->module->types, name->text, 0, NULL);
    } else {
        const char **names = taper_alloc(r->module->allocator, slots.count * sizeof *names);
        if (names == NULL && slots.count != 0) {
            return taper_fail_memory(r->fb.error);
        }
        taper_status status = TAPER_OK;
        for (size_t i = 0; i < slots.count && status == TAPER_OK; i++) {
            size_t at;
            taper_fb_name *slot;
            status = taper_fb_item_target(&r->fb, &slots, i, &at);
            status = status == TAPER_OK ? taper_fb_name_at(r, at, &slot) : status;
            names[i] = status == TAPER_OK ? slot->text : NULL;
        }
        if (status == TAPER_OK) {
            class->klass =
                taper_types_class(r->module->types, name->text, slots.count, slots.count != 0 ? names : none);
        }
        taper_free(r->module->allocator, names, slots.count * sizeof *names);
        TAPER_TRY(status);
    }
    return class->klass != NULL ? TAPER_OK : taper_fail_memory(r->fb.error);
}

// Fails unless the function that restores the object belongs to the object's class.
static taper_status check_setstate(const taper_fb_reader *r, const taper_fb_table *table, taper_fb_class *class)
{
    const char *name = NULL, *class_name = class->klass->name;
    uint64_t index = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, 3, 4, &index));
    if (class->setstate != 0 && index == class->setstate - 1) {
        return TAPER_OK; // this class was checked before; the result is kept, because names may be long and objects
                         // many
    }
    if (index < r->current && r->values[index].tag == TAPER_UNDEFINED) {
        name = r->module->functions[r->values[index].as.i].name;
    }
    const size_t length = strlen(class_name);
    if (name == NULL || strncmp(name, class_name, length) != 0 || strcmp(name + length, ".__setstate__") != 0) {
        return taper_fb_damaged(&r->fb, table->at, "a %.100s without its __setstate__", class_name);
    }
    class->setstate = (uint32_t)index + 1;
    return taper_charge(r->module->allocator, length / 4, r->fb.error);
}

static taper_status read_pending(taper_fb_reader *r, const taper_fb_table *table, taper_fb_class *class,
                                 taper_object *object)
{
    TAPER_TRY(check_setstate(r, table, class));
    TAPER_TRY(TAPER_GROW(r->module->allocator, r->pending, r->pending_capacity, r->pending_count + 1, r->fb.error));
    taper_val state;
    TAPER_TRY(take_field(r, table, 1, &state));
    taper_obj_retain(&object->head.head);
    r->pending[r->pending_count++] = (taper_module_pending){.object = object, .state = state};
    return TAPER_OK;
}

static taper_status fill_object(taper_fb_reader *r, const taper_fb_table *table, taper_fb_class *class,
                                taper_object *object)
{
    if (class->kind == CLASS_WITH_SETSTATE) {
        return read_pending(r, table, class, object);
    }
    if (class->kind == CLASS_CUSTOM) {
        taper_val state;
        TAPER_TRY(take_field(r, table, 1, &state));
        return taper_object_set(object, 0, state, r->fb.error);
    }
    taper_fb_vector attributes;
    TAPER_TRY(taper_fb_vector_in(&r->fb, table, 2, 4, &attributes));
    if (attributes.count != object->klass->count) {
        return taper_fb_damaged(&r->fb, table->at, "a %.100s with %zu attributes instead of %zu", object->klass->name,
                                attributes.count, object->klass->count);
    }
    for (size_t i = 0; i < attributes.count; i++) {
        taper_val value;
        TAPER_TRY(take_item(r, &attributes, i, &value));
        TAPER_TRY(taper_object_set(object, i, value, r->fb.error));
    }
    return TAPER_OK;
}

static taper_status read_object(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    uint64_t number = 0;
    TAPER_TRY(taper_fb_number(&r->fb, table, 0, 4, &number));
    if (number >= r->object_types.count) {
        return taper_fb_damaged(&r->fb, table->at, "an object of class %llu, of %zu", (unsigned long long)number,
                                r->object_types.count);
    }
    taper_fb_class *class = &r->classes[number];
    if (class->klass == NULL) {
        TAPER_TRY(read_class(r, (size_t)number, class));
    }
    taper_object *object = taper_object_new(r->module->heap, class->klass, 0);
    if (object == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *value = TAPER_VAL(object);
    return fill_object(r, table, class, object);
}

// ---- values of any kind

static taper_status made(const taper_fb_reader *r, void *object, taper_val *value)
{
    if (object == NULL) {
        return taper_fail_memory(r->fb.error);
    }
    *value = TAPER_VAL(object);
    return TAPER_OK;
}

static double load_f64(const uint8_t *bytes)
{
    const uint64_t bits = taper_load_u64(bytes);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static taper_status read_string(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    taper_fb_string string;
    TAPER_TRY(taper_fb_string_in(&r->fb, table, 0, &string));
    return made(r, taper_string_new(r->module->heap, string.text, string.length), value);
}

static taper_status read_device(taper_fb_reader *r, const taper_fb_table *table, taper_val *value)
{
    taper_fb_string text;
    TAPER_TRY(taper_fb_string_in(&r->fb, table, 0, &text));
    if (!taper_saved_device(text.text, text.length, -1, value)) {
        return taper_fb_damaged(&r->fb, table->at, "\"%.*s\" is no device", (int)taper_min_size(text.length, 60),
                                text.text);
    }
    return TAPER_OK;
}

static taper_status refuse_enum(taper_fb_reader *r, const taper_fb_table *table)
{
    taper_fb_name *name;
    TAPER_TRY(taper_fb_name_in(r, table, 0, &name));
    return taper_fail(r->fb.error, TAPER_ERROR_UNSUPPORTED,
                      "a member of the enum %.200s: lite modules cannot hold enums; store its value before saving the "
                      "model",
                      name->text);
}

static taper_status read_parts(taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind kind, taper_val *value)
{
    switch (kind) {
    case TAPER_FB_TENSOR:
        return taper_fb_read_tensor(r, table, value);
    case TAPER_FB_STRING:
        return read_string(r, table, value);
    case TAPER_FB_LIST:
        r->depths[r->current] = 1;
        return read_list(r, table, value);
    case TAPER_FB_TUPLE:
        r->depths[r->current] = 1;
        return read_tuple(r, table, value);
    case TAPER_FB_DICT:
        r->depths[r->current] = 1;
        return read_dict(r, table, value);
    case TAPER_FB_OBJECT:
        r->depths[r->current] = 1;
        return read_object(r, table, value);
    case TAPER_FB_DEVICE:
        return read_device(r, table, value);
    case TAPER_FB_ENUM:
        return refuse_enum(r, table);
    default:
        return read_numbers(r, table, kind, value);
    }
}

taper_status taper_fb_read_value(taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind kind, taper_val *value)
{
    if (kind == TAPER_FB_NONE) {
        return TAPER_OK; // the ivalue is None already
    }
    size_t at;
    TAPER_TRY(taper_fb_target(&r->fb, table, 1, &at));
    if (at == 0) {
        return taper_fb_damaged(&r->fb, table->at, "a value of kind %d that is not there", (int)kind);
    }
    if (kind > TAPER_FB_COMPLEX) {
        taper_fb_table parts;
        TAPER_TRY(taper_fb_table_at(&r->fb, at, &parts));
        return read_parts(r, &parts, kind, value);
    }
    const uint8_t *bytes;
    TAPER_TRY(taper_fb_bytes(&r->fb, at, kind == TAPER_FB_COMPLEX ? 16 : kind == TAPER_FB_BOOL ? 1 : 8, &bytes));
    if (kind == TAPER_FB_COMPLEX) {
        return made(r, taper_complex_new(r->module->heap, load_f64(bytes), load_f64(bytes + 8)), value);
    }
    *value = kind == TAPER_FB_BOOL  ? taper_val_bool(bytes[0] != 0)
             : kind == TAPER_FB_INT ? taper_val_int((int64_t)taper_load_u64(bytes))
                                    : taper_val_double(load_f64(bytes));
    return TAPER_OK;
}
