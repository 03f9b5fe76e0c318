// SPDX-License-Identifier: BSD-2-Clause
// Converts IValues to values. Local references are deleted immediately after use, so that their number does not depend
// on the sizes.
#include "binding.h"

#include <stdlib.h>

static taper_value *made(JNIEnv *env, taper_status status, taper_error *error, taper_value *value)
{
    if (status != TAPER_OK) {
        binding_throw_status(env, status, error, NULL);
    }
    taper_error_destroy(error);
    return value;
}

static void release_items(taper_value **items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_value_release(items[i]);
    }
    free(items);
}

// The state of a conversion.
typedef struct walk {
    unsigned depth; // number of containers around the current item
    size_t left;    // number of items that may still be converted
} walk;

static taper_value *value_in(JNIEnv *env, taper_context *context, jobject value, walk *w);

typedef enum item_kind { ITEM_VALUE, ITEM_TENSOR, ITEM_STRING } item_kind;

static taper_value *string_in(JNIEnv *env, taper_context *context, jstring string)
{
    size_t length;
    char *text = binding_text(env, string, "String", &length);
    if (text == NULL) {
        return NULL;
    }
    taper_error *error = taper_error_create();
    taper_value *value;
    const taper_status status = taper_value_string(context, text, length, &value, error);
    free(text);
    return made(env, status, error, value);
}

// Returns the items of an array of objects, which the caller releases, or NULL with an exception pending.
static taper_value **items_in(JNIEnv *env, taper_context *context, jobjectArray array, item_kind kind, size_t *count,
                              walk *w)
{
    if (array == NULL) {
        binding_throw(env, &binding.null_pointer, "List or tuple must be not null");
        return NULL;
    }
    const size_t n = (size_t)(*env)->GetArrayLength(env, array);
    taper_value **items = calloc(n + 1, sizeof *items);
    if (items == NULL) {
        binding_throw_no_memory(env);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const jobject item = (*env)->GetObjectArrayElement(env, array, (jsize)i);
        items[i] = kind == ITEM_TENSOR   ? binding_tensor_in(env, context, item)
                   : kind == ITEM_STRING ? string_in(env, context, (jstring)item)
                                         : value_in(env, context, item, w);
        (*env)->DeleteLocalRef(env, item);
        if (items[i] == NULL) {
            release_items(items, i);
            return NULL;
        }
    }
    *count = n;
    return items;
}

// Returns the items of an array of numbers, which is read in pieces of a fixed size.
static taper_value **numbers_in(JNIEnv *env, taper_context *context, jobject array, binding_code code, size_t *count)
{
    enum { PIECE = 64 };
    union {
        jboolean bools[PIECE];
        jlong longs[PIECE];
        jdouble doubles[PIECE];
    } piece;
    if (array == NULL) {
        binding_throw(env, &binding.null_pointer, "List must be not null");
        return NULL;
    }
    const size_t n = (size_t)(*env)->GetArrayLength(env, (jarray)array);
    taper_value **items = calloc(n + 1, sizeof *items);
    taper_error *error = taper_error_create();
    taper_status status = items != NULL ? TAPER_OK : TAPER_ERROR_RESOURCE;
    for (size_t i = 0; i < n && status == TAPER_OK; i++) {
        const jsize size = (jsize)(n - i < PIECE ? n - i : PIECE);
        if (i % PIECE == 0 && code == CODE_BOOL_LIST) {
            (*env)->GetBooleanArrayRegion(env, (jbooleanArray)array, (jsize)i, size, piece.bools);
        } else if (i % PIECE == 0 && code == CODE_LONG_LIST) {
            (*env)->GetLongArrayRegion(env, (jlongArray)array, (jsize)i, size, piece.longs);
        } else if (i % PIECE == 0) {
            (*env)->GetDoubleArrayRegion(env, (jdoubleArray)array, (jsize)i, size, piece.doubles);
        }
        status = code == CODE_BOOL_LIST   ? taper_value_bool(context, piece.bools[i % PIECE], &items[i], error)
                 : code == CODE_LONG_LIST ? taper_value_int(context, piece.longs[i % PIECE], &items[i], error)
                                          : taper_value_double(context, piece.doubles[i % PIECE], &items[i], error);
    }
    if (items == NULL) {
        binding_throw_no_memory(env);
    } else if (status != TAPER_OK) {
        release_items(items, n);
        items = NULL;
        binding_throw_status(env, status, error, NULL);
    }
    taper_error_destroy(error);
    *count = n;
    return items;
}

static taper_value *list_in(JNIEnv *env, taper_context *context, jobject value, jobject data, binding_code code,
                            walk *w)
{
    size_t count = 0, length;
    taper_value **items = code == CODE_LIST          ? items_in(env, context, data, ITEM_VALUE, &count, w)
                          : code == CODE_TENSOR_LIST ? items_in(env, context, data, ITEM_TENSOR, &count, w)
                                                     : numbers_in(env, context, data, code, &count);
    if (items == NULL) {
        return NULL;
    }
    char *type = NULL;
    const jstring known = (jstring)(*env)->GetObjectField(env, value, binding.value_type);
    if (known != NULL) {
        type = binding_text(env, known, "type", &length);
        (*env)->DeleteLocalRef(env, known);
        if (type == NULL) {
            release_items(items, count);
            return NULL;
        }
    }
    const char *element = type != NULL               ? type
                          : code == CODE_BOOL_LIST   ? "bool"
                          : code == CODE_LONG_LIST   ? "int"
                          : code == CODE_DOUBLE_LIST ? "float"
                          : code == CODE_TENSOR_LIST ? "Tensor"
                                                     // With NULL, the type that the method declares decides the type of
                                                     // the list, even if the list is empty.
                                                     : NULL;
    taper_error *error = taper_error_create();
    taper_value *list;
    const taper_status status = taper_value_list(context, element, items, count, &list, error);
    release_items(items, count);
    free(type);
    return made(env, status, error, list);
}

static taper_value *tuple_in(JNIEnv *env, taper_context *context, jobject data, walk *w)
{
    size_t count;
    taper_value **items = items_in(env, context, data, ITEM_VALUE, &count, w);
    if (items == NULL) {
        return NULL;
    }
    taper_error *error = taper_error_create();
    taper_value *tuple;
    const taper_status status = taper_value_tuple(context, items, count, &tuple, error);
    release_items(items, count);
    return made(env, status, error, tuple);
}

static taper_value *dict_in(JNIEnv *env, taper_context *context, jobject value, binding_code code, walk *w)
{
    const jobjectArray pairs = (jobjectArray)(*env)->CallObjectMethod(env, value, binding.value_pairs);
    if ((*env)->ExceptionCheck(env) || pairs == NULL) {
        binding_no_error(env);
        return NULL;
    }
    const jobject keys = (*env)->GetObjectArrayElement(env, pairs, 0);
    const jobjectArray values = (jobjectArray)(*env)->GetObjectArrayElement(env, pairs, 1);
    size_t count = 0, key_count = 0, length;
    taper_value **items = items_in(env, context, values, ITEM_VALUE, &count, w), **names = NULL;
    if (items != NULL) {
        names = code == CODE_DICT_LONG_KEY ? numbers_in(env, context, keys, CODE_LONG_LIST, &key_count)
                                           : items_in(env, context, keys, ITEM_STRING, &key_count, w);
    }
    (*env)->DeleteLocalRef(env, keys);
    (*env)->DeleteLocalRef(env, values);
    (*env)->DeleteLocalRef(env, pairs);
    taper_value *dict = NULL;
    if (names != NULL) {
        char *type = NULL;
        const jstring known = (jstring)(*env)->GetObjectField(env, value, binding.value_type);
        if (known != NULL) {
            type = binding_text(env, known, "type", &length);
            (*env)->DeleteLocalRef(env, known);
        }
        if (type != NULL || known == NULL) { // if the type of the items is unknown, the method's declared type decides
            taper_error *error = taper_error_create();
            const taper_status status = taper_value_dict(context, code == CODE_DICT_LONG_KEY ? "int" : "str", type,
                                                         names, items, count, &dict, error);
            dict = made(env, status, error, dict);
        }
        free(type);
        release_items(names, key_count);
    }
    if (items != NULL) {
        release_items(items, count);
    }
    return dict;
}

static double double_of(jlong bits)
{
    union {
        jlong bits;
        double number;
    } both = {.bits = bits};
    return both.number;
}

static taper_value *value_in(JNIEnv *env, taper_context *context, jobject value, walk *w)
{
    if (value == NULL) {
        binding_throw(env, &binding.null_pointer, "IValue must be not null");
        return NULL;
    }
    if (w->depth > BINDING_DEPTH) {
        binding_throw(env, &binding.argument, "IValues are nested more than %d deep", BINDING_DEPTH);
        return NULL;
    }
    if (w->left == 0) {
        binding_throw(env, &binding.argument,
                      "An IValue holds more than %d others, each counted as often as it is held", BINDING_ITEMS);
        return NULL;
    }
    w->left--;
    const binding_code code = (binding_code)(*env)->GetIntField(env, value, binding.value_code);
    const jlong number = (*env)->GetLongField(env, value, binding.value_number);
    taper_value *result = NULL;
    taper_error *error;
    if (code <= CODE_DOUBLE && code != CODE_TENSOR) {
        error = taper_error_create();
        const taper_status status = code == CODE_NULL   ? taper_value_none(context, &result, error)
                                    : code == CODE_BOOL ? taper_value_bool(context, number != 0, &result, error)
                                    : code == CODE_LONG
                                        ? taper_value_int(context, number, &result, error)
                                        : taper_value_double(context, double_of(number), &result, error);
        return made(env, status, error, result);
    }
    if (code == CODE_OBJECT) {
        return taper_value_retain(binding_pointer(number));
    }
    // Each level of nesting holds a few local references. Together they may exceed the 16 that JNI guarantees to a
    // native method.
    if ((*env)->PushLocalFrame(env, 8) != 0) {
        return NULL; // an exception is pending
    }
    const jobject data = (*env)->GetObjectField(env, value, binding.value_data);
    w->depth++;
    result = code == CODE_TENSOR                                          ? binding_tensor_in(env, context, data)
             : code == CODE_STRING                                        ? string_in(env, context, (jstring)data)
             : code == CODE_TUPLE                                         ? tuple_in(env, context, data, w)
             : code == CODE_DICT_STRING_KEY || code == CODE_DICT_LONG_KEY ? dict_in(env, context, value, code, w)
                                                                          : list_in(env, context, value, data, code, w);
    w->depth--;
    (*env)->PopLocalFrame(env, NULL);
    return result;
}

taper_value *binding_value_in(JNIEnv *env, taper_context *context, jobject value)
{
    walk w = {.left = BINDING_ITEMS};
    return value_in(env, context, value, &w);
}
