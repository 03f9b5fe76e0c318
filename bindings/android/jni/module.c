// SPDX-License-Identifier: BSD-2-Clause
// Modules: a model with one session, and a lock around its runs. Java ensures that a module is released after the last
// call that uses it.
#include "binding.h"
#include "org_pytorch_NativeLibrary.h" // generated from the Java class

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <taper/taper_app.h>
#include <taper/taper_compile.h>
#include <taper/taper_device.h>

struct binding_module {
    taper_context *context; // context of the process, borrowed
    taper_model *model;
    taper_session *session;
    pthread_mutex_t lock;
    jlong bytes; // size of the model file
};

// The context of the process. It is never released, because tensors are passed between modules.
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static taper_context *shared_context;
static unsigned threads; // number of threads that the app requested; 0 for Taper's default
static bool no_nnapi;    // true if the app disabled NNAPI, so files converted for it run on the CPU

static taper_status get_context(taper_context **context, taper_error *error)
{
    pthread_mutex_lock(&context_lock);
    taper_status status = TAPER_OK;
    if (shared_context == NULL) {
        status = taper_context_create(NULL, &shared_context, error);
        if (status == TAPER_OK && threads != 0) {
            taper_context_set_threads(shared_context, threads);
        }
    }
    *context = shared_context;
    pthread_mutex_unlock(&context_lock);
    return status;
}

taper_context *binding_module_context(const binding_module *module)
{
    return module->context;
}

JNIEXPORT void JNICALL Java_org_pytorch_NativeLibrary_setNumThreads(JNIEnv *env, jclass type, jint count)
{
    (void)env, (void)type;
    pthread_mutex_lock(&context_lock);
    threads = (unsigned)count;
    taper_context_set_threads(shared_context, threads);
    pthread_mutex_unlock(&context_lock);
}

JNIEXPORT void JNICALL Java_org_pytorch_NativeLibrary_setCacheDir(JNIEnv *env, jclass type, jstring path)
{
    (void)type;
    size_t length;
    char *text = binding_text(env, path, "The directory", &length);
    if (text == NULL) {
        return;
    }
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_status status = get_context(&context, error);
    if (status == TAPER_OK) {
        status = taper_context_set_cache_dir(context, text, error);
    }
    if (status != TAPER_OK) {
        binding_throw_status(env, status, error, NULL);
    }
    taper_error_destroy(error);
    free(text);
}

JNIEXPORT void JNICALL Java_org_pytorch_NativeLibrary_setNnapiEnabled(JNIEnv *env, jclass type, jboolean enabled)
{
    (void)env, (void)type;
    pthread_mutex_lock(&context_lock);
    no_nnapi = !enabled;
    pthread_mutex_unlock(&context_lock);
}

// ---- loading

typedef struct source {
    const char *path;
    int descriptor; // descriptor of the model's file, or -1 with a path
    uint64_t offset, length;
    const void *bytes;
    jobject buffer; // global reference that keeps `bytes` valid
} source;

static void release_buffer(void *user)
{
    bool attached;
    JNIEnv *env = binding_env(&attached);
    if (env != NULL) {
        (*env)->DeleteGlobalRef(env, (jobject)user);
        binding_detach(attached);
    }
}

// All paths are opened here. With O_NONBLOCK, opening a pipe does not wait for a writer.
static int open_path(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

// Returns true if the end of the file has the signature of a zip archive's directory, which is in the last 65,557
// bytes. The position of the descriptor belongs to the host and does not change.
static bool has_directory(int fd)
{
    enum { PIECE = 4096, TAIL = 65557 };
    struct stat info;
    bool found = false;
    const off_t end = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
    ssize_t size = 4;
    for (off_t at = end > TAIL ? end - TAIL : 0; !found && at < end && size > 3; at += PIECE - 4) {
        char piece[PIECE];
        size = pread(fd, piece, sizeof piece, at);
        for (ssize_t i = 0; i + 4 <= size && !found; i++) {
            found = memcmp(piece + i, "PK\5\6", 4) == 0;
        }
    }
    return found;
}

// Writes PyTorch Mobile's message for a failure to load this file, because apps may look for that message. Writes "" if
// PyTorch Mobile has no message for this failure.
static void before_text(const source *from, taper_status status, char *text, size_t size)
{
    text[0] = '\0';
    if (status != TAPER_ERROR_FILE || from->bytes != NULL) {
        return;
    }
    const int fd = from->path != NULL ? open_path(from->path) : from->descriptor;
    if (from->path != NULL && fd < 0) {
        (void)snprintf(text, size, "open file failed because of errno %d on fopen: , file path: %s", errno, from->path);
    } else if (!has_directory(fd)) {
        (void)snprintf(text, size, "%s",
                       "PytorchStreamReader failed reading zip archive: failed finding central directory");
    }
    if (from->path != NULL && fd >= 0) {
        (void)close(fd);
    }
}

// Device.CPU runs files converted for NNAPI on NNAPI, as in PyTorch Mobile. Files converted for Vulkan run on the CPU.
static taper_load_options options_for(const taper_device_choice *device)
{
    pthread_mutex_lock(&context_lock);
    const bool own = !no_nnapi && device->kind == TAPER_DEVICE_CPU;
    pthread_mutex_unlock(&context_lock);
    return (taper_load_options){.struct_size = sizeof(taper_load_options),
                                .compiler = taper_compiler(),
                                .flags = TAPER_LOAD_EVALUATION,
                                .device = own ? NULL : device,
                                .barred_devices =
                                    TAPER_DEVICE_BIT(TAPER_DEVICE_VULKAN) | TAPER_DEVICE_BIT(TAPER_DEVICE_METAL)};
}

static taper_status load_model(binding_module *m, const source *from, const char *device, taper_error *error)
{
    taper_device_choice choice = {.struct_size = sizeof choice};
    taper_status status = taper_device_parse(device, &choice, error);
    const taper_load_options options = options_for(&choice);
    if (status == TAPER_OK) {
        status = get_context(&m->context, error);
    }
    if (status == TAPER_OK && from->path != NULL) {
        status = taper_model_load(m->context, from->path, &options, &m->model, error);
    } else if (status == TAPER_OK && from->bytes != NULL) {
        status = taper_model_load_memory(m->context, from->bytes, (size_t)from->length, release_buffer, from->buffer,
                                         &options, &m->model, error);
    } else if (status == TAPER_OK) {
        status =
            taper_model_load_fd(m->context, from->descriptor, from->offset, from->length, &options, &m->model, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_create(m->model, NULL, &m->session, error);
    }
    return status;
}

static jlong bytes_of(const source *from)
{
    struct stat info;
    if (from->length != 0) {
        return (jlong)from->length;
    }
    const int known = from->path != NULL ? stat(from->path, &info) : fstat(from->descriptor, &info);
    return known == 0 ? (jlong)info.st_size : 0;
}

static void release_module(binding_module *m)
{
    taper_session_destroy(m->session);
    taper_model_release(m->model);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static jlong load(JNIEnv *env, const source *from, jstring device)
{
    size_t length;
    char *name = binding_text(env, device, "Device", &length);
    binding_module *m = calloc(1, sizeof *m);
    taper_error *error = taper_error_create();
    if (name == NULL || m == NULL || pthread_mutex_init(&m->lock, NULL) != 0) {
        if (name != NULL) {
            binding_throw_no_memory(env);
        }
        if (from->buffer != NULL) {
            (*env)->DeleteGlobalRef(env, from->buffer);
        }
        free(m);
        m = NULL;
    } else {
        const taper_status status = load_model(m, from, name, error);
        if (status != TAPER_OK) {
            char before[4096];
            before_text(from, status, before, sizeof before);
            if (from->buffer != NULL && m->model == NULL) {
                (*env)->DeleteGlobalRef(env, from->buffer);
            }
            binding_throw_status(env, status, error, before[0] != '\0' ? before : NULL);
            release_module(m);
            m = NULL;
        } else {
            m->bytes = bytes_of(from);
        }
    }
    taper_error_destroy(error);
    free(name);
    return binding_handle(m);
}

JNIEXPORT jlong JNICALL Java_org_pytorch_NativeLibrary_loadFile(JNIEnv *env, jclass type, jstring path, jstring device)
{
    (void)type;
    size_t length;
    char *text = binding_text(env, path, "Model path", &length);
    if (text == NULL) {
        return 0;
    }
    jlong handle = 0;
    if (strlen(text) != length) {
        binding_throw(env, &binding.argument, "Model path has a character 0");
    } else {
        handle = load(env, &(source){.path = text, .descriptor = -1}, device);
    }
    free(text);
    return handle;
}

JNIEXPORT jlong JNICALL Java_org_pytorch_NativeLibrary_loadDescriptor(JNIEnv *env, jclass type, jobject descriptor,
                                                                      jlong offset, jlong length, jstring device)
{
    (void)type;
    const int fd = descriptor != NULL ? (*env)->GetIntField(env, descriptor, binding.descriptor) : -1;
    if (fd < 0) {
        binding_throw(env, &binding.argument, "File descriptor is not open");
        return 0;
    }
    return load(env, &(source){.descriptor = fd, .offset = (uint64_t)offset, .length = (uint64_t)length}, device);
}

JNIEXPORT jlong JNICALL Java_org_pytorch_NativeLibrary_loadBuffer(JNIEnv *env, jclass type, jobject buffer,
                                                                  jstring device)
{
    (void)type;
    const jlong size = (*env)->GetDirectBufferCapacity(env, buffer);
    static const char none[1];
    const void *bytes = size > 0 ? (*env)->GetDirectBufferAddress(env, buffer) : none;
    const jobject kept = (*env)->NewGlobalRef(env, buffer);
    if (kept == NULL || bytes == NULL) {
        binding_throw_no_memory(env);
        return 0;
    }
    return load(env, &(source){.descriptor = -1, .bytes = bytes, .length = (uint64_t)size, .buffer = kept}, device);
}

JNIEXPORT void JNICALL Java_org_pytorch_NativeLibrary_releaseModule(JNIEnv *env, jclass type, jlong module)
{
    (void)env, (void)type;
    release_module(binding_pointer(module));
}

JNIEXPORT jlong JNICALL Java_org_pytorch_NativeLibrary_moduleBytes(JNIEnv *env, jclass type, jlong module)
{
    (void)env, (void)type;
    enum { SMALL = 256 << 10 }; // bytes of a loaded model besides its file, as measured
    return ((binding_module *)binding_pointer(module))->bytes + SMALL;
}

JNIEXPORT void JNICALL Java_org_pytorch_NativeLibrary_releaseValue(JNIEnv *env, jclass type, jlong value)
{
    (void)env, (void)type;
    taper_value_release(binding_pointer(value));
}

// ---- running

// Returns the model's own copy of the method name, or NULL with an exception pending.
static const char *find_method(JNIEnv *env, const binding_module *m, jstring method)
{
    size_t length;
    char *name = binding_text(env, method, "Method name", &length);
    if (name == NULL) {
        return NULL;
    }
    const char *found = NULL;
    const size_t count = taper_model_method_count(m->model);
    for (size_t i = 0; i < count && found == NULL; i++) {
        const char *own = taper_model_method_name(m->model, i);
        if (strcmp(own, name) == 0 && strlen(own) == length) {
            found = own;
        }
    }
    if (found == NULL) {
        binding_throw(env, &binding.argument, "Undefined method %s", name);
    }
    free(name);
    return found;
}

static jobject run(JNIEnv *env, binding_module *m, const char *method, taper_value **inputs, size_t count)
{
    taper_error *error = taper_error_create();
    taper_value *result = NULL;
    pthread_mutex_lock(&m->lock);
    const taper_status status = taper_session_run(m->session, method, inputs, count, &result, error);
    if (status == TAPER_ERROR_ARGUMENT) {
        // The advice is optional: if this call fails, the error is still complete.
        (void)!taper_session_advise(m->session, method, inputs, count, error);
    }
    pthread_mutex_unlock(&m->lock);
    jobject out = NULL;
    if (status != TAPER_OK) {
        binding_throw_status(env, status, error, NULL);
    } else {
        out = binding_value_out(env, m->context, result);
        taper_value_release(result);
    }
    taper_error_destroy(error);
    return out;
}

JNIEXPORT jobject JNICALL Java_org_pytorch_NativeLibrary_run(JNIEnv *env, jclass type, jlong module, jstring method,
                                                             jobjectArray inputs)
{
    (void)type;
    enum { FEW = 8 };
    binding_module *m = binding_pointer(module);
    const char *name = find_method(env, m, method);
    if (name == NULL) {
        return NULL;
    }
    const size_t count = (size_t)(*env)->GetArrayLength(env, inputs);
    taper_value *few[FEW];
    taper_value **values = count <= FEW ? few : calloc(count, sizeof *values);
    if (values == NULL) {
        binding_throw_no_memory(env);
        return NULL;
    }
    size_t n = 0;
    for (; n < count; n++) {
        const jobject input = (*env)->GetObjectArrayElement(env, inputs, (jsize)n);
        values[n] = binding_value_in(env, m->context, input);
        (*env)->DeleteLocalRef(env, input);
        if (values[n] == NULL) {
            break;
        }
    }
    const jobject out = n == count ? run(env, m, name, values, count) : NULL;
    while (n != 0) {
        taper_value_release(values[--n]);
    }
    if (values != few) {
        free(values);
    }
    return out;
}

JNIEXPORT void JNICALL Java_org_pytorch_NativeLibrary_cancel(JNIEnv *env, jclass type, jlong module)
{
    (void)env, (void)type;
    taper_session_cancel(((binding_module *)binding_pointer(module))->session);
}

// ---- facts about a module

JNIEXPORT jstring JNICALL Java_org_pytorch_NativeLibrary_device(JNIEnv *env, jclass type, jlong module)
{
    (void)type;
    const char *name = taper_model_device(((binding_module *)binding_pointer(module))->model);
    return binding_string(env, name, strlen(name));
}

static bool put_string(JNIEnv *env, jobjectArray array, size_t index, const char *text)
{
    if (text == NULL) {
        return true;
    }
    const jstring string = binding_string(env, text, strlen(text));
    if (string == NULL) {
        return false;
    }
    (*env)->SetObjectArrayElement(env, array, (jsize)index, string);
    (*env)->DeleteLocalRef(env, string);
    return true;
}

static jobjectArray new_strings(JNIEnv *env, size_t count)
{
    const jobjectArray array = (*env)->NewObjectArray(env, (jsize)count, binding.string, NULL);
    if (array == NULL) {
        binding_no_error(env);
    }
    return array;
}

JNIEXPORT jobjectArray JNICALL Java_org_pytorch_NativeLibrary_methods(JNIEnv *env, jclass type, jlong module)
{
    (void)type;
    const taper_model *model = ((binding_module *)binding_pointer(module))->model;
    const size_t count = taper_model_method_count(model);
    const jobjectArray names = new_strings(env, count);
    for (size_t i = 0; names != NULL && i < count; i++) {
        if (!put_string(env, names, i, taper_model_method_name(model, i))) {
            return NULL;
        }
    }
    return names;
}

JNIEXPORT jobjectArray JNICALL Java_org_pytorch_NativeLibrary_inputs(JNIEnv *env, jclass type, jlong module,
                                                                     jstring method)
{
    (void)type;
    const binding_module *m = binding_pointer(module);
    const char *name = find_method(env, m, method);
    const int count = name != NULL ? taper_model_method_arguments(m->model, name) : -1;
    const jobjectArray pairs = count >= 0 ? new_strings(env, 2 * (size_t)count) : NULL;
    for (size_t i = 0; pairs != NULL && i < (size_t)count; i++) {
        if (!put_string(env, pairs, 2 * i, taper_model_argument_name(m->model, name, i)) ||
            !put_string(env, pairs, 2 * i + 1, taper_model_argument_text(m->model, name, i))) {
            return NULL;
        }
    }
    return pairs;
}

JNIEXPORT jstring JNICALL Java_org_pytorch_NativeLibrary_returnType(JNIEnv *env, jclass type, jlong module,
                                                                    jstring method)
{
    (void)type;
    const binding_module *m = binding_pointer(module);
    const char *name = find_method(env, m, method);
    const char *text = name != NULL ? taper_model_return_text(m->model, name) : NULL;
    return text != NULL ? binding_string(env, text, strlen(text)) : NULL;
}

JNIEXPORT jbyteArray JNICALL Java_org_pytorch_NativeLibrary_extraFile(JNIEnv *env, jclass type, jlong module,
                                                                      jstring name)
{
    (void)type;
    const binding_module *m = binding_pointer(module);
    size_t length;
    char *text = binding_text(env, name, "Name of an extra file", &length);
    if (text == NULL) {
        return NULL;
    }
    const void *data = NULL;
    size_t size = 0;
    bool there = false;
    for (size_t i = 0; i < taper_model_extra_count(m->model) && !there; i++) {
        there = strcmp(taper_model_extra_name(m->model, i), text) == 0;
    }
    taper_error *error = taper_error_create();
    const taper_status status = there ? taper_model_extra(m->model, text, &data, &size, error) : TAPER_OK;
    free(text);
    jbyteArray bytes = NULL;
    if (status != TAPER_OK) {
        binding_throw_status(env, status, error, NULL);
    } else if (there) {
        bytes = size <= INT32_MAX ? (*env)->NewByteArray(env, (jsize)size) : NULL;
        if (bytes == NULL) {
            binding_no_error(env);
        } else {
            (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)size, data);
        }
    }
    taper_error_destroy(error);
    return bytes;
}
