// SPDX-License-Identifier: BSD-2-Clause
// Sets the attributes of the objects in data.pkl, in the order in which their class declares them. Containers without
// types (archive versions 1 and 2) get the types that the class declares.
#include "base/charge.h"
#include "format/archive.h"
#include "format/saved_value.h"
#include "frontend/torchscript/unit.h"

enum { DEEPEST = 16, MOST_LOOKS = 1 << 22, STEPS_AN_ATTRIBUTE = 20 };

// Sets the declared types on containers that have no types. A container that does not fit its declaration is not
// changed; operators will report it. *looks: number of visited values, which is limited, because tuples may share their
// contents.
static void give_types(taper_val value, const taper_type *type, int depth, size_t *looks)
{
    if (type->kind == TAPER_TYPE_OPTIONAL) {
        type = type->items[0];
    }
    if (depth > DEEPEST || ++*looks > MOST_LOOKS) {
        return;
    }
    if (value.tag == TAPER_LIST && type->kind == TAPER_TYPE_LIST && value.as.list->element == NULL) {
        if (taper_saved_list_type(value.as.list, type->items[0]) == value.as.list->count) {
            for (size_t i = 0; i < value.as.list->count; i++) {
                give_types(value.as.list->items[i], type->items[0], depth + 1, looks);
            }
        }
    } else if (value.tag == TAPER_DICT && type->kind == TAPER_TYPE_DICT && value.as.dict->key == NULL) {
        if (taper_saved_dict_type(value.as.dict, type) == value.as.dict->count) {
            for (size_t i = 0; i < value.as.dict->count; i++) {
                give_types(taper_dict_value(value.as.dict, i), type->items[1], depth + 1, looks);
            }
        }
    } else if (value.tag == TAPER_TUPLE && type->kind == TAPER_TYPE_TUPLE && value.as.tuple->count == type->count) {
        if (type->fields != NULL && value.as.tuple->type == NULL) {
            value.as.tuple->type = type;
        }
        for (size_t i = 0; i < value.as.tuple->count; i++) {
            give_types(value.as.tuple->items[i], type->items[i], depth + 1, looks);
        }
    }
}

static taper_status set_attributes(taper_ts_unit *unit, taper_ts_definition *class, taper_object *object,
                                   const taper_dict *state)
{
    TAPER_TRY(taper_ts_class(unit, class, &object->klass));
    size_t slot = 0;
    TAPER_TRY(taper_charge(unit->allocator, STEPS_AN_ATTRIBUTE * (uint64_t) class->attribute_count, unit->error));
    for (uint32_t i = 0; i < class->attribute_count; i++) {
        taper_ts_attribute *attribute = &class->attributes[i];
        if (attribute->value != NULL) {
            continue;
        }
        const char *name = unit->atoms.names[attribute->atom];
        const taper_val *found = taper_dict_find_string(state, name, strlen(name));
        if (found == NULL) {
            TAPER_FAIL(unit->error, TAPER_ERROR_FILE, "data.pkl holds a %s without its attribute %s",
                       object->klass->name, name);
        }
        TAPER_TRY(taper_ts_resolve_attribute(unit, class, attribute));
        if (attribute->resolved != NULL) {
            give_types(*found, attribute->resolved, 0, &unit->looks);
        }
        TAPER_TRY(taper_object_set(object, slot++, taper_val_retain(*found), unit->error));
    }
    return TAPER_OK;
}

taper_status taper_ts_set_state(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error)
{
    const taper_ts_objects *host = user;
    taper_ts_unit *unit = host->unit;
    taper_ts_definition *class;
    const char *name = object->klass->name;
    *taken = false;
    TAPER_TRY(taper_ts_find_text(unit, name, strlen(name), &class));
    if (class == NULL || class->kind != TAPER_TS_A_CLASS) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the archive holds an object of %s and no source of that class", name);
    }
    if (taper_ts_method(class, TAPER_ATOM_SETSTATE) != NULL) {
        TAPER_TRY(taper_ts_class(unit, class, &object->klass));
        *taken = true;
        return taper_archive_set_pending(host->archive, object, state, error);
    }
    if (state.tag != TAPER_DICT) {
        return TAPER_OK; // not an error here: the pickle reader will report it
    }
    TAPER_TRY(set_attributes(unit, class, object, state.as.dict));
    *taken = true;
    taper_val_release(state);
    return TAPER_OK;
}

// Returns true for numbers, bools and strings: the possible values of enum members in PyTorch.
static bool is_simple(taper_val value)
{
    return value.tag == TAPER_BOOLEAN || value.tag == TAPER_INT || value.tag == TAPER_DOUBLE ||
           value.tag == TAPER_STRING;
}

static taper_status value_members(taper_ts_unit *unit, taper_ts_definition *d)
{
    d->member_values = taper_dict_new(unit->module->heap, NULL, NULL);
    if (d->member_values == NULL) {
        return taper_fail_memory(unit->error);
    }
    for (uint32_t i = 0; i < d->attribute_count; i++) {
        taper_val member;
        TAPER_TRY(taper_ts_enum_member(unit, d, i, &member));
        const taper_val value = member.as.object->slots[1];
        if (is_simple(value) && taper_dict_find(d->member_values, value) == NULL) {
            TAPER_TRY(taper_dict_set(d->member_values, taper_val_retain(value), taper_val_int(i), unit->error));
        }
    }
    return TAPER_OK;
}

// Finds the index of the first member with this value, or UINT32_MAX if there is none.
static taper_status find_member(taper_ts_unit *unit, taper_ts_definition *d, taper_val value, uint32_t *index)
{
    *index = UINT32_MAX;
    if (d->member_values == NULL) {
        TAPER_TRY(value_members(unit, d));
    }
    const taper_val *known = is_simple(value) ? taper_dict_find(d->member_values, value) : NULL;
    if (known != NULL) {
        *index = (uint32_t)known->as.i;
        return TAPER_OK;
    }
    TAPER_TRY(taper_charge(unit->allocator, 20 * (uint64_t)d->attribute_count, unit->error));
    for (uint32_t i = 0; i < d->attribute_count && *index == UINT32_MAX; i++) {
        taper_val member;
        TAPER_TRY(taper_ts_enum_member(unit, d, i, &member));
        if (taper_val_equal(member.as.object->slots[1], value)) {
            *index = i;
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_pickled_member(void *user, const char *class_name, taper_val value, taper_val *member,
                                     taper_error *error)
{
    const taper_ts_objects *host = user;
    taper_ts_definition *d;
    TAPER_TRY(taper_ts_find_text(host->unit, class_name, strlen(class_name), &d));
    if (d != NULL && d->kind == TAPER_TS_AN_ENUM) {
        uint32_t index;
        TAPER_TRY(find_member(host->unit, d, value, &index));
        if (index != UINT32_MAX) {
            TAPER_TRY(taper_ts_enum_member(host->unit, d, index, member));
            (void)taper_val_retain(*member);
            return TAPER_OK;
        }
    }
    TAPER_FAIL(error, TAPER_ERROR_FILE, "the archive holds a member of %s that its sources do not know", class_name);
}
