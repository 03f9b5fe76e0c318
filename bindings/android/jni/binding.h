// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the files of the binding. Functions that take a JNIEnv and can fail leave an exception pending
// after a failure. The exception is never a java.lang.Error.
#ifndef TAPER_BINDING_H
#define TAPER_BINDING_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include <taper/taper.h>

// ---- classes, methods and fields of Java, looked up once (ids.c)

typedef struct binding_exception {
    jclass type;
    jmethodID create; // constructor that takes a String
} binding_exception;

typedef struct binding_ids {
    JavaVM *vm;
    jclass error, string, value, tensor;
    jmethodID value_create, value_pairs, value_dict, value_object, tensor_create;
    jfieldID value_code, value_number, value_data, value_type;
    jfieldID tensor_shape, tensor_data, tensor_dtype, tensor_format, tensor_read_only, tensor_handle;
    jfieldID descriptor; // field of java.io.FileDescriptor
    // model: the exception for a failed load or run; com.facebook.jni.CppException if the app has that class
    binding_exception runtime, argument, null_pointer, cancelled, model;
    jthrowable no_memory; // created in advance, because creating it later may fail
} binding_ids;

extern binding_ids binding; // set by JNI_OnLoad, and constant afterwards

// Returns the JNIEnv of this thread, or NULL if the thread cannot be attached to the virtual machine. If *attached is
// true, call binding_detach after use.
JNIEnv *binding_env(bool *attached);
void binding_detach(bool attached);

// ---- exceptions (throw.c)

void binding_throw(JNIEnv *env, const binding_exception *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void binding_throw_no_memory(JNIEnv *env);
// Call this after a call into Java failed. A pending exception remains, unless it is an Error. If an Error or nothing
// is pending, this function throws the exception for lack of memory.
void binding_no_error(JNIEnv *env);
// Throws the exception for a status of Taper. before: PyTorch's text for this error, which is put before Taper's
// message, or NULL if there is none.
void binding_throw_status(JNIEnv *env, taper_status status, const taper_error *error, const char *before);

// ---- strings (text.c)

// Returns the UTF-8 of a string, which the caller frees. Invalid Unicode becomes U+FFFD. If `string` is NULL, the
// exception names `name`. Returns NULL with an exception pending on failure.
char *binding_text(JNIEnv *env, jstring string, const char *name, size_t *length);
jstring binding_string(JNIEnv *env, const char *text, size_t length);

// ---- modules (module.c)

typedef struct binding_module binding_module;
taper_context *binding_module_context(const binding_module *module);

// ---- conversion of values (value_in.c, value_out.c, tensor.c)

// The values of IValue.TYPE_CODE_….
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

// Limits of a value that is converted in either direction. Each level of depth is a recursive call, on stacks as small
// as 256 KB. Items are counted each time they are visited: a tuple may contain one tuple twice on each level, so the
// number of visits could grow exponentially.
enum { BINDING_DEPTH = 64, BINDING_ITEMS = 1 << 20 };

// These functions return a new reference, or NULL with an exception pending.
taper_value *binding_value_in(JNIEnv *env, taper_context *context, jobject value);
taper_value *binding_tensor_in(JNIEnv *env, taper_context *context, jobject tensor);
// These functions return a new local reference to an IValue or Tensor, or NULL with an exception pending.
jobject binding_value_out(JNIEnv *env, taper_context *context, taper_value *value);
jobject binding_tensor_out(JNIEnv *env, taper_context *context, taper_value *tensor);
// Returns the type of the value as text, which the caller frees, or NULL with an exception pending.
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
