// SPDX-License-Identifier: BSD-2-Clause
// What the files of the binding share. Functions that take a JNIEnv and can fail leave an exception pending when they
// do; none of those is ever a java.lang.Error.
#ifndef TAPER_BINDING_H
#define TAPER_BINDING_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include <taper/taper.h>

// ---- Java's side, looked up once (ids.c)

typedef struct binding_exception {
    jclass type;
    jmethodID create; // (String)
} binding_exception;

typedef struct binding_ids {
    JavaVM *vm;
    jclass error, string, value, tensor;
    jmethodID value_create, value_pairs, value_dict, value_object, tensor_create;
    jfieldID value_code, value_number, value_data, value_type;
    jfieldID tensor_shape, tensor_data, tensor_dtype, tensor_format, tensor_read_only, tensor_handle;
    jfieldID descriptor; // of java.io.FileDescriptor
    // model: com.facebook.jni.CppException where there is one
    binding_exception runtime, argument, null_pointer, cancelled, model;
    jthrowable no_memory; // made beforehand
} binding_ids;

extern binding_ids binding; // set by JNI_OnLoad, constant from then on

JNIEnv *binding_env(bool *attached); // of this thread; *attached: binding_detach it when done. NULL: it cannot have one
void binding_detach(bool attached);

// ---- exceptions (throw.c)

void binding_throw(JNIEnv *env, const binding_exception *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void binding_throw_no_memory(JNIEnv *env);
// After a call of Java's that failed: what is pending stays, unless it is an Error.
void binding_no_error(JNIEnv *env);
// What Taper says. before: what PyTorch said there, or NULL.
void binding_throw_status(JNIEnv *env, taper_status status, const taper_error *error, const char *before);

// ---- text (text.c)

// UTF-8 of a string, to be freed; what is no Unicode becomes U+FFFD. name is of what is null, if it is.
char *binding_text(JNIEnv *env, jstring string, const char *name, size_t *length);
jstring binding_string(JNIEnv *env, const char *text, size_t length);

// ---- modules (module.c)

typedef struct binding_module binding_module;
taper_context *binding_module_context(const binding_module *module);

// ---- values (value_in.c, value_out.c, tensor.c)

// IValue.TYPE_CODE_…
typedef enum binding_code {
    CODE_NULL = 1,
    CODE_TENSOR,
    CODE_BOOL,
    CODE_LONG,
    CODE_DOUBLE,
    CODE_STRING,
    CODE_TUPLE,
    CODE_BOOL_LIST,
    CODE_LONG_LIST,
    CODE_DOUBLE_LIST,
    CODE_TENSOR_LIST,
    CODE_LIST,
    CODE_DICT_STRING_KEY,
    CODE_DICT_LONG_KEY,
    CODE_OBJECT
} binding_code;

// Limits of a value that goes in or out. Its depth: each level is a call, on stacks as small as 256 KB. Its items: a
// tuple may hold one tuple twice, and so on in each level, so that there are more paths than anybody can walk.
enum { BINDING_DEPTH = 64, BINDING_ITEMS = 1 << 20 };

// A new reference; NULL: an exception is pending.
taper_value *binding_value_in(JNIEnv *env, taper_context *context, jobject value);
taper_value *binding_tensor_in(JNIEnv *env, taper_context *context, jobject tensor);
// A new local reference, to an IValue or Tensor; NULL: an exception is pending.
jobject binding_value_out(JNIEnv *env, taper_context *context, taper_value *value);
jobject binding_tensor_out(JNIEnv *env, taper_context *context, taper_value *tensor);
// Its type as text, to be freed; NULL: an exception is pending.
char *binding_value_type(JNIEnv *env, const taper_value *value);

static inline void *binding_pointer(jlong handle)
{
    return (void *)(intptr_t)handle;
}

static inline jlong binding_handle(const void *pointer)
{
    return (jlong)(intptr_t)pointer;
}

#endif
