// SPDX-License-Identifier: BSD-2-Clause
// Determines the types of values, and compares values with types.
#include "ir/tensor_def.h"

const char *taper_val_kind_name(taper_val value)
{
    switch (value.tag) {
    case TAPER_NONE:
        return "None";
    case TAPER_BOOLEAN:
        return "bool";
    case TAPER_INT:
        return "int";
    case TAPER_DOUBLE:
        return "float";
    case TAPER_DEVICE:
        return "Device";
    case TAPER_COMPLEX:
        return "complex";
    case TAPER_STRING:
        return "str";
    case TAPER_TENSOR:
        return "Tensor";
    case TAPER_LIST:
        return "List";
    case TAPER_TUPLE:
        return "Tuple";
    case TAPER_DICT:
        return "Dict";
    case TAPER_OBJECT:
        return value.as.object->klass != NULL ? value.as.object->klass->name : "object";
    case TAPER_GENERATOR:
        return "Generator";
    default:
        return "undefined value";
    }
}

// Checking containers that share parts could take exponential time. The answers for the last nested containers are
// remembered, so the work grows with the number of containers.
enum { MEMO_PLACES = 64 };

typedef struct is_a_memo {
    bool ready;
    struct {
        const taper_obj *container; // NULL if the entry is free
        const taper_type *type;
        bool is;
    } places[MEMO_PLACES]; // cache of answers, indexed by a hash
} is_a_memo;

static bool is_a(taper_val value, const taper_type *type, int depth, is_a_memo *memo);

static bool all_are(const taper_val *items, size_t count, size_t step, const taper_type *type, int depth,
                    is_a_memo *memo)
{
    for (size_t i = 0; i < count; i += step) {
        if (!is_a(items[i], type, depth, memo)) {
            return false;
        }
    }
    return true;
}

static bool find_is_a(taper_val value, const taper_type *type, int depth, is_a_memo *memo)
{
    if (depth > TAPER_LIMIT_TYPE_DEPTH) {
        return false;
    }
    switch ((taper_type_kind)type->kind) {
    case TAPER_TYPE_ANY:
    case TAPER_TYPE_VARIABLE:
    case TAPER_TYPE_OPAQUE:
    case TAPER_TYPE_FUTURE:
        return true;
    case TAPER_TYPE_NONE:
        return value.tag == TAPER_NONE;
    case TAPER_TYPE_TENSOR:
        return value.tag == TAPER_TENSOR;
    case TAPER_TYPE_INT:
        return value.tag == TAPER_INT;
    case TAPER_TYPE_FLOAT:
        return value.tag == TAPER_DOUBLE;
    case TAPER_TYPE_BOOL:
        return value.tag == TAPER_BOOLEAN;
    case TAPER_TYPE_COMPLEX:
        return value.tag == TAPER_COMPLEX;
    case TAPER_TYPE_NUMBER:
        return value.tag == TAPER_INT || value.tag == TAPER_DOUBLE || value.tag == TAPER_BOOLEAN ||
               value.tag == TAPER_COMPLEX;
    case TAPER_TYPE_STRING:
        return value.tag == TAPER_STRING;
    case TAPER_TYPE_DEVICE:
        return value.tag == TAPER_DEVICE;
    case TAPER_TYPE_GENERATOR:
        return value.tag == TAPER_GENERATOR;
    case TAPER_TYPE_ANY_LIST:
        return value.tag == TAPER_LIST;
    case TAPER_TYPE_ANY_TUPLE:
        return value.tag == TAPER_TUPLE;
    case TAPER_TYPE_OPTIONAL:
        return value.tag == TAPER_NONE || is_a(value, type->items[0], depth + 1, memo);
    case TAPER_TYPE_UNION:
        for (size_t i = 0; i < type->count; i++) {
            if (is_a(value, type->items[i], depth + 1, memo)) {
                return true;
            }
        }
        return false;
    case TAPER_TYPE_LIST:
        if (value.tag != TAPER_LIST) {
            return false;
        }
        if (value.as.list->element != NULL) {
            return taper_type_matches(value.as.list->element, type->items[0]);
        }
        return all_are(value.as.list->items, value.as.list->count, 1, type->items[0], depth + 1, memo);
    case TAPER_TYPE_DICT:
        if (value.tag != TAPER_DICT) {
            return false;
        }
        if (value.as.dict->key != NULL && value.as.dict->value != NULL) {
            return taper_type_matches(value.as.dict->key, type->items[0]) &&
                   taper_type_matches(value.as.dict->value, type->items[1]);
        }
        return value.as.dict->count == 0 ||
               (all_are(value.as.dict->entries, 2 * value.as.dict->count, 2, type->items[0], depth + 1, memo) &&
                all_are(value.as.dict->entries + 1, 2 * value.as.dict->count - 1, 2, type->items[1], depth + 1, memo));
    case TAPER_TYPE_TUPLE:
        if (value.tag != TAPER_TUPLE || value.as.tuple->count != type->count) {
            return false;
        }
        // A tuple from a file or a host may lack its named type. Then the types of its items decide.
        if (type->name != NULL && value.as.tuple->type != NULL) {
            return taper_type_equal(value.as.tuple->type, type);
        }
        for (size_t i = 0; i < type->count; i++) {
            if (!is_a(value.as.tuple->items[i], type->items[i], depth + 1, memo)) {
                return false;
            }
        }
        return true;
    case TAPER_TYPE_CLASS:
        return value.tag == TAPER_OBJECT && value.as.object->klass != NULL &&
               strcmp(value.as.object->klass->name, type->name) == 0;
    }
    return false;
}

static bool is_a(taper_val value, const taper_type *type, int depth, is_a_memo *memo)
{
    if (depth == 0 || value.tag < TAPER_LIST || value.tag > TAPER_DICT) {
        return find_is_a(value, type, depth, memo);
    }
    if (!memo->ready) {
        memset(memo, 0, sizeof *memo);
        memo->ready = true;
    }
    const uint64_t h = ((uint64_t)(uintptr_t)value.as.obj >> 4) * 31 + ((uint64_t)(uintptr_t)type >> 4);
    const size_t place = (size_t)(h * UINT64_C(0x9E3779B97F4A7C15) >> 32) % MEMO_PLACES;
    if (memo->places[place].container == value.as.obj && memo->places[place].type == type) {
        return memo->places[place].is;
    }
    const bool is = find_is_a(value, type, depth, memo);
    memo->places[place].container = value.as.obj;
    memo->places[place].type = type;
    memo->places[place].is = is;
    return is;
}

bool taper_val_is_a(taper_val value, const taper_type *type)
{
    is_a_memo memo;
    memo.ready = false;
    return is_a(value, type, 0, &memo);
}

static void print(taper_val value, taper_text *text, int depth)
{
    // The text is limited, because a type that shares parts may have a huge text.
    if (depth > TAPER_LIMIT_TYPE_DEPTH || text->length > TAPER_LIMIT_TYPE_TEXT) {
        taper_text_string(text, "...");
        return;
    }
    switch (value.tag) {
    case TAPER_NONE:
        taper_text_string(text, "NoneType");
        break;
    case TAPER_LIST:
        taper_text_string(text, "List[");
        if (value.as.list->element != NULL) {
            taper_type_print(value.as.list->element, text);
        } else if (value.as.list->count != 0) {
            print(value.as.list->items[0], text, depth + 1);
        } else {
            taper_text_string(text, "Any");
        }
        taper_text_string(text, "]");
        break;
    case TAPER_TUPLE:
        if (value.as.tuple->type != NULL && value.as.tuple->type->name != NULL) {
            taper_text_string(text, value.as.tuple->type->name);
            break;
        }
        taper_text_string(text, "Tuple[");
        for (size_t i = 0; i < value.as.tuple->count && text->length <= TAPER_LIMIT_TYPE_TEXT; i++) {
            taper_text_string(text, i != 0 ? ", " : "");
            print(value.as.tuple->items[i], text, depth + 1);
        }
        taper_text_string(text, value.as.tuple->count == 0 ? "()]" : "]");
        break;
    case TAPER_DICT:
        taper_text_string(text, "Dict[");
        if (value.as.dict->key != NULL) {
            taper_type_print(value.as.dict->key, text);
        } else if (value.as.dict->count != 0) {
            print(taper_dict_key(value.as.dict, 0), text, depth + 1);
        } else {
            taper_text_string(text, "Any");
        }
        taper_text_string(text, ", ");
        if (value.as.dict->value != NULL) {
            taper_type_print(value.as.dict->value, text);
        } else if (value.as.dict->count != 0) {
            print(taper_dict_value(value.as.dict, 0), text, depth + 1);
        } else {
            taper_text_string(text, "Any");
        }
        taper_text_string(text, "]");
        break;
    default:
        taper_text_string(text, taper_val_kind_name(value));
        break;
    }
}

void taper_val_type_print(taper_val value, taper_text *text)
{
    print(value, text, 0);
}
