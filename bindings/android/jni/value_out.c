// SPDX-License-Identifier: BSD-2-Clause
// Converts values to IValues.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

char *binding_value_type(JNIEnv *env, const taper_value *value)
{
    const size_t length = taper_value_type(value, NULL, 0); // 0 if memory runs out
    char *type = length != 0 ? malloc(length + 1) : NULL;
    if (type == NULL || taper_value_type(value, type, length + 1) != length) {
        free(type);
        binding_throw_no_memory(env);
        return NULL;
    }
    return type;
}

static jobject create(JNIEnv *env, binding_code code, jlong number, jobject data, jstring type)
{
    const jobject value = (*env)->NewObject(env, binding.value, binding.value_create, (jint)code, number, data, type);
    if ((*env)->ExceptionCheck(env) || value == NULL) {
        binding_no_error(env);
        return NULL;
    }
    return value;
}

// Gets item `index` of a value, or key number `index` if `key` is true. *item is a new reference. Returns false with an
// exception pending on failure.
static bool item_at(JNIEnv *env, const taper_value *value, size_t index, bool key, taper_value **item)
{
    taper_error *error = taper_error_create();
    const taper_status status =
        key ? taper_value_key(value, index, item, error) : taper_value_item(value, index, item, error);
    if (status != TAPER_OK) {
        binding_throw_status(env, status, error, NULL);
    }
    taper_error_destroy(error);
    return status == TAPER_OK;
}

// The state of a conversion.
typedef struct walk {
    unsigned depth; // number of containers around the current item
    size_t left;    // number of items that may still be converted
} walk;

static jobject value_out(JNIEnv *env, taper_context *context, taper_value *value, walk *w);

// Converts the items of a list or tuple to an IValue[], or to a Tensor[] if `tensors` is true.
static jobjectArray items_out(JNIEnv *env, taper_context *context, const taper_value *value, bool tensors, walk *w)
{
    const size_t count = taper_value_count(value);
    const jobjectArray array =
        (*env)->NewObjectArray(env, (jsize)count, tensors ? binding.tensor : binding.value, NULL);
    if (array == NULL) {
        binding_no_error(env);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        taper_value *item;
        jobject out = NULL;
        if (item_at(env, value, i, false, &item)) {
            out = tensors ? binding_tensor_out(env, context, item) : value_out(env, context, item, w);
            taper_value_release(item);
        }
        if (out == NULL) {
            (*env)->DeleteLocalRef(env, array);
            return NULL;
        }
        (*env)->SetObjectArrayElement(env, array, (jsize)i, out);
        (*env)->DeleteLocalRef(env, out);
    }
    return array;
}

// Functions that store a number in element i of the piece. They return false if the number is of another kind.
enum { PIECE = 64 };
typedef union number_piece {
    jboolean bools[PIECE];
    jlong longs[PIECE];
    jdouble doubles[PIECE];
} number_piece;

static bool get_number(const taper_value *item, binding_code code, number_piece *piece, size_t i)
{
    int flag = 0;
    int64_t integer = 0;
    taper_status status;
    if (code == CODE_BOOL_LIST) {
        status = taper_value_get_bool(item, &flag, NULL);
        piece->bools[i] = flag != 0;
    } else if (code == CODE_LONG_LIST) {
        status = taper_value_get_int(item, &integer, NULL);
        piece->longs[i] = integer;
    } else {
        status = taper_value_get_double(item, &piece->doubles[i], NULL);
    }
    return status == TAPER_OK;
}

// Converts a list of numbers, or the keys of a dict if `keys` is true, to a boolean[], long[] or double[].
static jobject numbers_out(JNIEnv *env, const taper_value *value, binding_code code, bool keys)
{
    const size_t count = taper_value_count(value);
    const jsize n = (jsize)count;
    number_piece piece;
    const jobject array = code == CODE_BOOL_LIST   ? (jobject)(*env)->NewBooleanArray(env, n)
                          : code == CODE_LONG_LIST ? (jobject)(*env)->NewLongArray(env, n)
                                                   : (jobject)(*env)->NewDoubleArray(env, n);
    if (array == NULL) {
        binding_no_error(env);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        taper_value *item;
        bool fits = false;
        if (item_at(env, value, i, keys, &item)) {
            fits = get_number(item, code, &piece, i % PIECE);
            taper_value_release(item);
            if (!fits) {
                binding_throw(env, &binding.model, "An item of a list is not of the list's type");
            }
        }
        if (!fits) {
            (*env)->DeleteLocalRef(env, array);
            return NULL;
        }
        if (i % PIECE != PIECE - 1 && i != count - 1) {
            continue;
        }
        const jsize start = (jsize)(i - i % PIECE), size = (jsize)(i % PIECE + 1);
        if (code == CODE_BOOL_LIST) {
            (*env)->SetBooleanArrayRegion(env, (jbooleanArray)array, start, size, piece.bools);
        } else if (code == CODE_LONG_LIST) {
            (*env)->SetLongArrayRegion(env, (jlongArray)array, start, size, piece.longs);
        } else {
            (*env)->SetDoubleArrayRegion(env, (jdoubleArray)array, start, size, piece.doubles);
        }
    }
    return array;
}

static jobject list_out(JNIEnv *env, taper_context *context, const taper_value *value, walk *w)
{
    char *type = binding_value_type(env, value); // text of the value's type, for example "List[int]"
    if (type == NULL) {
        return NULL;
    }
    const size_t length = strlen(type);
    const bool known = length > 6 && strncmp(type, "List[", 5) == 0;
    if (known) {
        type[length - 1] = '\0';
    }
    const char *element = known ? type + 5 : "";
    const binding_code code = strcmp(element, "bool") == 0     ? CODE_BOOL_LIST
                              : strcmp(element, "int") == 0    ? CODE_LONG_LIST
                              : strcmp(element, "float") == 0  ? CODE_DOUBLE_LIST
                              : strcmp(element, "Tensor") == 0 ? CODE_TENSOR_LIST
                                                               : CODE_LIST;
    const jobject items = code == CODE_LIST || code == CODE_TENSOR_LIST
                              ? items_out(env, context, value, code == CODE_TENSOR_LIST, w)
                              : numbers_out(env, value, code, false);
    jobject list = NULL;
    jstring name = NULL;
    if (items != NULL && code == CODE_LIST && known) {
        name = binding_string(env, element, strlen(element));
    }
    if (items != NULL && (name != NULL || code != CODE_LIST || !known)) {
        list = create(env, code, 0, items, name);
    }
    (*env)->DeleteLocalRef(env, name);
    (*env)->DeleteLocalRef(env, items);
    free(type);
    return list;
}

static jobjectArray strings_out(JNIEnv *env, const taper_value *dict)
{
    const size_t count = taper_value_count(dict);
    const jobjectArray array = (*env)->NewObjectArray(env, (jsize)count, binding.string, NULL);
    if (array == NULL) {
        binding_no_error(env);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        taper_value *key;
        const char *text = NULL;
        size_t length = 0;
        jstring string = NULL;
        if (item_at(env, dict, i, true, &key)) {
            if (taper_value_get_string(key, &text, &length, NULL) == TAPER_OK) {
                string = binding_string(env, text, length);
            } else {
                binding_throw(env, &binding.argument, "Unknown IValue-Dict key type");
            }
            taper_value_release(key);
        }
        if (string == NULL) {
            (*env)->DeleteLocalRef(env, array);
            return NULL;
        }
        (*env)->SetObjectArrayElement(env, array, (jsize)i, string);
        (*env)->DeleteLocalRef(env, string);
    }
    return array;
}

// Returns the position of the value type in "Dict(str, List[int])" and removes the closing parenthesis. Returns NULL if
// the text has another form.
static char *split_dict(char *type)
{
    const size_t length = strlen(type);
    char *comma = strchr(type, ',');
    if (strncmp(type, "Dict", 4) != 0 || comma == NULL || comma[1] != ' ') {
        return NULL;
    }
    type[length - 1] = '\0';
    *comma = '\0'; // the type of a key contains no comma
    return comma + 2;
}

static jobject dict_out(JNIEnv *env, taper_context *context, const taper_value *value, walk *w)
{
    char *type = binding_value_type(env, value);
    if (type == NULL) {
        return NULL;
    }
    const char *element = split_dict(type);
    const char *key = element != NULL ? type + 5 : "";
    const binding_code code = strcmp(key, "str") == 0   ? CODE_DICT_STRING_KEY
                              : strcmp(key, "int") == 0 ? CODE_DICT_LONG_KEY
                                                        : CODE_NULL;
    if (code == CODE_NULL) {
        free(type);
        binding_throw(env, &binding.argument, "Unknown IValue-Dict key type");
        return NULL;
    }
    jobject dict = NULL, keys = NULL, values = NULL;
    const jstring name = binding_string(env, element, strlen(element));
    free(type);
    if (name != NULL) {
        keys = code == CODE_DICT_STRING_KEY ? (jobject)strings_out(env, value)
                                            : numbers_out(env, value, CODE_LONG_LIST, true);
    }
    if (keys != NULL) {
        values = items_out(env, context, value, false, w);
    }
    if (values != NULL) {
        dict = (*env)->CallStaticObjectMethod(env, binding.value, binding.value_dict, (jint)code, keys, values, name);
        if ((*env)->ExceptionCheck(env) || dict == NULL) {
            binding_no_error(env);
            dict = NULL;
        }
    }
    (*env)->DeleteLocalRef(env, values);
    (*env)->DeleteLocalRef(env, keys);
    (*env)->DeleteLocalRef(env, name);
    return dict;
}

// Makes an IValue that contains `data`, and deletes the local reference to `data`.
static jobject with(JNIEnv *env, binding_code code, jobject data)
{
    const jobject value = data != NULL ? create(env, code, 0, data, NULL) : NULL;
    (*env)->DeleteLocalRef(env, data);
    return value;
}

static jobject object_out(JNIEnv *env, taper_value *value)
{
    taper_value *kept = taper_value_retain(value);
    const jobject object =
        (*env)->CallStaticObjectMethod(env, binding.value, binding.value_object, binding_handle(kept));
    if ((*env)->ExceptionCheck(env) || object == NULL) {
        binding_no_error(env); // the value is leaked, because it is unknown if Java has taken it
        return NULL;
    }
    return object;
}

static jobject any_out(JNIEnv *env, taper_context *context, taper_value *value, walk *w)
{
    int flag;
    int64_t integer;
    union {
        double number;
        jlong bits;
    } real;
    const char *text;
    size_t length;
    // Getters that match the kind of the value do not fail.
    switch (taper_value_kind(value)) {
    case TAPER_KIND_NONE:
        return create(env, CODE_NULL, 0, NULL, NULL);
    case TAPER_KIND_BOOL:
        return taper_value_get_bool(value, &flag, NULL) == TAPER_OK ? create(env, CODE_BOOL, flag != 0, NULL, NULL)
                                                                    : NULL;
    case TAPER_KIND_INT:
        return taper_value_get_int(value, &integer, NULL) == TAPER_OK ? create(env, CODE_LONG, integer, NULL, NULL)
                                                                      : NULL;
    case TAPER_KIND_DOUBLE:
        return taper_value_get_double(value, &real.number, NULL) == TAPER_OK
                   ? create(env, CODE_DOUBLE, real.bits, NULL, NULL)
                   : NULL;
    case TAPER_KIND_STRING:
        return taper_value_get_string(value, &text, &length, NULL) == TAPER_OK
                   ? with(env, CODE_STRING, binding_string(env, text, length))
                   : NULL;
    case TAPER_KIND_TENSOR:
        return with(env, CODE_TENSOR, binding_tensor_out(env, context, value));
    case TAPER_KIND_TUPLE:
        return with(env, CODE_TUPLE, items_out(env, context, value, false, w));
    case TAPER_KIND_LIST:
        return list_out(env, context, value, w);
    case TAPER_KIND_DICT:
        return dict_out(env, context, value, w);
    case TAPER_KIND_COMPLEX:
    case TAPER_KIND_DEVICE:
    case TAPER_KIND_OBJECT:
    case TAPER_KIND_OTHER:
    default:
        return object_out(env, value);
    }
}

static jobject value_out(JNIEnv *env, taper_context *context, taper_value *value, walk *w)
{
    if (w->depth > BINDING_DEPTH) {
        binding_throw(env, &binding.model, "The result is nested more than %d deep", BINDING_DEPTH);
        return NULL;
    }
    if (w->left == 0) {
        binding_throw(env, &binding.model, "The result holds more than %d items, each counted as often as it is held",
                      BINDING_ITEMS);
        return NULL;
    }
    w->left--;
    w->depth++;
    const jobject object = any_out(env, context, value, w);
    w->depth--;
    return object;
}

jobject binding_value_out(JNIEnv *env, taper_context *context, taper_value *value)
{
    walk w = {.left = BINDING_ITEMS};
    return value_out(env, context, value, &w);
}
