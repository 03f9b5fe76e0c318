// SPDX-License-Identifier: BSD-2-Clause
// Loads the library and looks up the classes, methods and fields that it uses. An app may load the library under
// several names, so this function may run again; later calls do nothing.
#include "binding.h"

#include <pthread.h>

// Casts the second argument of AttachCurrentThread, whose type differs between the NDK's jni.h and a JDK's. Only a JDK
// defines JNI_VERSION_9.
#ifdef JNI_VERSION_9
#define ATTACHED(env) ((void **)(env))
#else
#define ATTACHED(env) (env)
#endif

binding_ids binding;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static jclass find(JNIEnv *env, const char *name)
{
    const jclass local = (*env)->FindClass(env, name);
    if (local == NULL) {
        return NULL;
    }
    const jclass global = (jclass)(*env)->NewGlobalRef(env, local);
    (*env)->DeleteLocalRef(env, local);
    return global;
}

static bool find_exception(JNIEnv *env, const char *name, binding_exception *exception)
{
    exception->type = find(env, name);
    if (exception->type != NULL) {
        exception->create = (*env)->GetMethodID(env, exception->type, "<init>", "(Ljava/lang/String;)V");
    }
    if (exception->type == NULL || exception->create == NULL) {
        (*env)->ExceptionClear(env);
        exception->type = NULL;
        return false;
    }
    return true;
}

static bool find_exceptions(JNIEnv *env, binding_ids *ids)
{
    if (!find_exception(env, "com/facebook/jni/CppException", &ids->model) &&
        !find_exception(env, "org/pytorch/TaperException", &ids->model)) {
        return false;
    }
    if (!find_exception(env, "java/lang/RuntimeException", &ids->runtime) ||
        !find_exception(env, "java/lang/IllegalArgumentException", &ids->argument) ||
        !find_exception(env, "java/lang/NullPointerException", &ids->null_pointer) ||
        !find_exception(env, "java/util/concurrent/CancellationException", &ids->cancelled)) {
        return false;
    }
    const jstring text = (*env)->NewStringUTF(env, "Not enough memory");
    const jobject local = text != NULL ? (*env)->NewObject(env, ids->runtime.type, ids->runtime.create, text) : NULL;
    if ((*env)->ExceptionCheck(env)) {
        return false;
    }
    ids->no_memory = local != NULL ? (jthrowable)(*env)->NewGlobalRef(env, local) : NULL;
    (*env)->DeleteLocalRef(env, local);
    (*env)->DeleteLocalRef(env, text);
    return ids->no_memory != NULL;
}

static bool find_values(JNIEnv *env, binding_ids *ids)
{
    ids->value = find(env, "org/pytorch/IValue");
    ids->tensor = find(env, "org/pytorch/Tensor");
    if (ids->value == NULL || ids->tensor == NULL) {
        return false;
    }
    const jclass v = ids->value, t = ids->tensor;
    return (ids->value_create = (*env)->GetMethodID(env, v, "<init>", "(IJLjava/lang/Object;Ljava/lang/String;)V")) &&
           (ids->value_pairs = (*env)->GetMethodID(env, v, "nativePairs", "()[Ljava/lang/Object;")) &&
           (ids->value_dict = (*env)->GetStaticMethodID(env, v, "nativeDict",
                                                        "(ILjava/lang/Object;[Lorg/pytorch/IValue;Ljava/lang/String;)"
                                                        "Lorg/pytorch/IValue;")) &&
           (ids->value_object = (*env)->GetStaticMethodID(env, v, "nativeObject", "(J)Lorg/pytorch/IValue;")) &&
           (ids->value_code = (*env)->GetFieldID(env, v, "mTypeCode", "I")) &&
           (ids->value_number = (*env)->GetFieldID(env, v, "mNumber", "J")) &&
           (ids->value_data = (*env)->GetFieldID(env, v, "mData", "Ljava/lang/Object;")) &&
           (ids->value_type = (*env)->GetFieldID(env, v, "mType", "Ljava/lang/String;")) &&
           (ids->tensor_create = (*env)->GetStaticMethodID(env, t, "nativeNewTensor",
                                                           "(Ljava/nio/ByteBuffer;[JIIZJDJ)Lorg/pytorch/Tensor;")) &&
           (ids->tensor_shape = (*env)->GetFieldID(env, t, "shape", "[J")) &&
           (ids->tensor_data = (*env)->GetFieldID(env, t, "mData", "Ljava/nio/Buffer;")) &&
           (ids->tensor_dtype = (*env)->GetFieldID(env, t, "mDType", "I")) &&
           (ids->tensor_format = (*env)->GetFieldID(env, t, "mFormat", "I")) &&
           (ids->tensor_read_only = (*env)->GetFieldID(env, t, "mReadOnly", "Z")) &&
           (ids->tensor_handle = (*env)->GetFieldID(env, t, "mHandle", "J"));
}

static bool find_descriptor(JNIEnv *env, binding_ids *ids)
{
    const jclass type = (*env)->FindClass(env, "java/io/FileDescriptor");
    if (type == NULL) {
        return false;
    }
    ids->descriptor = (*env)->GetFieldID(env, type, "descriptor", "I"); // name of the field on Android
    if (ids->descriptor == NULL) {
        (*env)->ExceptionClear(env);
        ids->descriptor = (*env)->GetFieldID(env, type, "fd", "I");
    }
    (*env)->DeleteLocalRef(env, type);
    return ids->descriptor != NULL;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    JNIEnv *env;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK) {
        return JNI_ERR;
    }
    pthread_mutex_lock(&lock);
    bool found = binding.vm != NULL;
    if (!found) {
        binding_ids ids = {.vm = vm};
        ids.error = find(env, "java/lang/Error");
        ids.string = find(env, "java/lang/String");
        found = ids.error != NULL && ids.string != NULL && find_exceptions(env, &ids) && find_values(env, &ids) &&
                find_descriptor(env, &ids);
        if (found) {
            binding = ids;
        }
    }
    pthread_mutex_unlock(&lock);
    // The exception of the failed lookup is pending and becomes an UnsatisfiedLinkError.
    return found ? JNI_VERSION_1_6 : JNI_ERR;
}

JNIEnv *binding_env(bool *attached)
{
    JNIEnv *env = NULL;
    *attached = false;
    if ((*binding.vm)->GetEnv(binding.vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK) {
        return env;
    }
    *attached = (*binding.vm)->AttachCurrentThread(binding.vm, ATTACHED(&env), NULL) == JNI_OK;
    return *attached ? env : NULL;
}

void binding_detach(bool attached)
{
    if (attached) {
        (*binding.vm)->DetachCurrentThread(binding.vm);
    }
}
