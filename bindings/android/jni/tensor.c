// SPDX-License-Identifier: BSD-2-Clause
// Tensors. A Java tensor is a direct buffer that Taper uses in place. A tensor of Taper becomes a direct buffer for
// Java; the value in Tensor.mHandle keeps its memory valid.
#include "binding.h"

#include <stdlib.h>
#include <string.h>

// Taper's dtype for each ScalarType.jniCode.
static const int dtype_of_code[] = {-1,         TAPER_U8,  TAPER_I8,  TAPER_I32,  TAPER_F32,  TAPER_I64,
                                    TAPER_F64,  TAPER_I16, TAPER_F16, TAPER_BF16, TAPER_BOOL, TAPER_C64,
                                    TAPER_C128, TAPER_C32, TAPER_QI8, TAPER_QU8,  TAPER_QI32};
enum { CODES = sizeof dtype_of_code / sizeof dtype_of_code[0] };

enum { CONTIGUOUS = 1, CHANNELS_LAST = 2, CHANNELS_LAST_3D = 3 };

// Writes the numbers of the dimensions to `order`, from the innermost in memory to the outermost.
static void order_of(int format, size_t rank, size_t order[TAPER_MAX_RANK])
{
    for (size_t i = 0; i < rank; i++) {
        order[i] = rank - 1 - i;
    }
    if (format != CONTIGUOUS) { // channels, width, height, (depth,) batch
        order[0] = 1;
        for (size_t i = 1; i < rank - 1; i++) {
            order[i] = rank - i;
        }
    }
}

static void release_buffer(void *user)
{
    bool attached;
    JNIEnv *env = binding_env(&attached);
    if (env != NULL) {
        (*env)->DeleteGlobalRef(env, (jobject)user);
        binding_detach(attached);
    }
}

taper_value *binding_tensor_in(JNIEnv *env, taper_context *context, jobject tensor)
{
    if (tensor == NULL) {
        binding_throw(env, &binding.null_pointer, "Tensor must be not null");
        return NULL;
    }
    const jlong handle = (*env)->GetLongField(env, tensor, binding.tensor_handle);
    if (handle != 0) {
        return taper_value_retain(binding_pointer(handle));
    }
    const int code = (*env)->GetIntField(env, tensor, binding.tensor_dtype);
    const int format = (*env)->GetIntField(env, tensor, binding.tensor_format);
    const jlongArray shape = (jlongArray)(*env)->GetObjectField(env, tensor, binding.tensor_shape);
    const size_t rank = (size_t)(*env)->GetArrayLength(env, shape);
    jlong sizes[TAPER_MAX_RANK];
    if (rank > TAPER_MAX_RANK) {
        (*env)->DeleteLocalRef(env, shape);
        binding_throw(env, &binding.argument, "Tensor has %zu dimensions, more than %d", rank, TAPER_MAX_RANK);
        return NULL;
    }
    (*env)->GetLongArrayRegion(env, shape, 0, (jsize)rank, sizes);
    (*env)->DeleteLocalRef(env, shape);
    if ((format == CHANNELS_LAST && rank != 4) || (format == CHANNELS_LAST_3D && rank != 5)) {
        binding_throw(env, &binding.argument, "Memory format %s needs a tensor of %d dimensions, not %zu",
                      format == CHANNELS_LAST ? "CHANNELS_LAST" : "CHANNELS_LAST_3D", format + 2, rank);
        return NULL;
    }
    int64_t shaped[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    size_t order[TAPER_MAX_RANK];
    int64_t count = 1;
    order_of(format, rank, order);
    // Java has checked the product of the sizes, but if one size is 0, the other sizes may be anything.
    for (size_t i = 0; i < rank; i++) {
        const size_t d = order[i];
        shaped[d] = sizes[d];
        strides[d] = count;
        if (__builtin_mul_overflow(count, sizes[d], &count)) {
            count = 0;
        }
    }
    const jobject data = (*env)->GetObjectField(env, tensor, binding.tensor_data);
    const jobject kept = (*env)->NewGlobalRef(env, data);
    void *address = kept != NULL ? (*env)->GetDirectBufferAddress(env, data) : NULL;
    (*env)->DeleteLocalRef(env, data);
    if (kept == NULL) {
        binding_throw_no_memory(env);
        return NULL;
    }
    static char none[16]; // Java may have no address for an empty buffer
    taper_error *error = taper_error_create();
    taper_value *value;
    const size_t bytes = (size_t)count * taper_dtype_size((taper_dtype)dtype_of_code[code]);
    const taper_status status = taper_value_tensor_from(
        context, (taper_dtype)dtype_of_code[code], rank, shaped, format == CONTIGUOUS ? NULL : strides,
        address != NULL || bytes != 0 ? address : none, bytes,
        (*env)->GetBooleanField(env, tensor, binding.tensor_read_only), release_buffer, kept, &value, error);
    if (status != TAPER_OK) {
        (*env)->DeleteGlobalRef(env, kept);
        binding_throw_status(env, status, error, NULL);
    }
    taper_error_destroy(error);
    return value;
}

// ---- tensors that become results in Java

static bool is_dense(const taper_tensor_info *info, int format)
{
    size_t order[TAPER_MAX_RANK];
    int64_t expected = 1;
    order_of(format, info->rank, order);
    for (size_t i = 0; i < info->rank; i++) {
        const int64_t size = info->sizes[order[i]];
        if ((size != 1 && info->strides[order[i]] != expected) || __builtin_mul_overflow(expected, size, &expected)) {
            return false;
        }
    }
    return true;
}

// Returns the memory format of the tensor, or 0 if it has none of Java's memory formats.
static int format_of(const taper_tensor_info *info)
{
    // The order matters: a tensor that is in both formats counts as channels-last, as in PyTorch.
    if (info->rank == 4 && is_dense(info, CHANNELS_LAST)) {
        return CHANNELS_LAST;
    }
    if (info->rank == 5 && is_dense(info, CHANNELS_LAST_3D)) {
        return CHANNELS_LAST_3D;
    }
    return is_dense(info, CONTIGUOUS) ? CONTIGUOUS : 0;
}

static void copy_dense(char *to, const taper_tensor_info *info, size_t element)
{
    int64_t at[TAPER_MAX_RANK] = {0};
    const char *from = info->data;
    while (true) {
        memcpy(to, from, element);
        to += element;
        size_t d = info->rank;
        while (d != 0) {
            d--;
            from += info->strides[d] * (int64_t)element;
            if (++at[d] < info->sizes[d]) {
                break;
            }
            from -= info->strides[d] * info->sizes[d] * (int64_t)element;
            at[d] = 0;
            if (d == 0) {
                return;
            }
        }
        if (info->rank == 0) {
            return;
        }
    }
}

// Returns a contiguous tensor with the same elements.
static taper_value *dense_copy(JNIEnv *env, taper_context *context, const taper_tensor_info *info, size_t bytes)
{
    const size_t element = taper_dtype_size(info->dtype);
    taper_error *error = taper_error_create();
    taper_value *copy = NULL;
    taper_status status = TAPER_OK;
    if (info->quantized == 0) {
        taper_tensor_info to = {.struct_size = sizeof to};
        status = taper_value_tensor(context, info->dtype, info->rank, info->sizes, &copy, error);
        if (status == TAPER_OK && (status = taper_value_get_tensor(copy, &to, error)) == TAPER_OK && bytes != 0) {
            copy_dense(to.data, info, element);
        }
    } else if (info->quantized == 1) {
        char *elements = malloc(bytes + 1);
        if (elements == NULL) {
            taper_error_destroy(error);
            binding_throw_no_memory(env);
            return NULL;
        }
        if (bytes != 0) {
            copy_dense(elements, info, element);
        }
        status = taper_value_tensor_quantized(context, info->dtype, info->rank, info->sizes, elements, bytes,
                                              info->scale, info->zero_point, &copy, error);
        free(elements);
    } else {
        binding_throw(env, &binding.model,
                      "A tensor that is quantized per channel, and not dense, has no form in Java");
    }
    if (status != TAPER_OK) {
        taper_value_release(copy);
        copy = NULL;
        binding_throw_status(env, status, error, NULL);
    }
    taper_error_destroy(error);
    return copy;
}

// Makes a Java tensor over the memory of `value`, or NULL with an exception pending. Takes ownership of `value`.
static jobject make_tensor(JNIEnv *env, taper_value *value, const taper_tensor_info *info, size_t bytes, int code,
                           int format)
{
    static char none[16];
    jlong sizes[TAPER_MAX_RANK];
    jobject tensor = NULL;
    for (size_t i = 0; i < info->rank; i++) {
        sizes[i] = info->sizes[i];
    }
    const jlongArray shape = (*env)->NewLongArray(env, (jsize)info->rank);
    if (shape != NULL) {
        (*env)->SetLongArrayRegion(env, shape, 0, (jsize)info->rank, sizes);
    }
    const jobject data =
        shape != NULL ? (*env)->NewDirectByteBuffer(env, bytes != 0 ? info->data : none, (jlong)bytes) : NULL;
    if (data == NULL) {
        taper_value_release(value);
        binding_no_error(env);
    } else {
        tensor = (*env)->CallStaticObjectMethod(env, binding.tensor, binding.tensor_create, data, shape, (jint)code,
                                                (jint)format, (jboolean)(info->read_only != 0), binding_handle(value),
                                                info->scale, (jlong)info->zero_point);
        if ((*env)->ExceptionCheck(env) || tensor == NULL) {
            // Java may have taken the value or not. A leak of the value is safer than a second release.
            binding_no_error(env);
            tensor = NULL;
        }
    }
    (*env)->DeleteLocalRef(env, data);
    (*env)->DeleteLocalRef(env, shape);
    return tensor;
}

jobject binding_tensor_out(JNIEnv *env, taper_context *context, taper_value *value)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_error *error = taper_error_create();
    const taper_status status = taper_value_get_tensor(value, &info, error);
    if (status != TAPER_OK) {
        binding_throw_status(env, status, error, NULL);
        taper_error_destroy(error);
        return NULL;
    }
    taper_error_destroy(error);
    int code = 1;
    while (code < CODES && dtype_of_code[code] != (int)info.dtype) {
        code++;
    }
    if (code == CODES || info.rank > TAPER_MAX_RANK) {
        binding_throw(env, &binding.argument, "at::Tensor scalar type %s is not supported on java side",
                      taper_dtype_name(info.dtype));
        return NULL;
    }
    uint64_t bytes = taper_dtype_size(info.dtype);
    bool overflows = false;
    for (size_t i = 0; i < info.rank; i++) {
        overflows = __builtin_mul_overflow(bytes, (uint64_t)info.sizes[i], &bytes) || overflows;
    }
    for (size_t i = 0; i < info.rank && overflows; i++) {
        overflows = info.sizes[i] != 0; // if this size is 0, the tensor is empty and its other sizes may be anything
    }
    if (overflows || bytes > INT32_MAX) {
        binding_throw(env, &binding.model, "The result is larger than 2 GB, which is more than a buffer can hold");
        return NULL;
    }
    const int format = format_of(&info);
    if (format != 0) {
        return make_tensor(env, taper_value_retain(value), &info, (size_t)bytes, code, format);
    }
    taper_value *copy = dense_copy(env, context, &info, (size_t)bytes);
    if (copy == NULL) {
        return NULL;
    }
    if (taper_value_get_tensor(copy, &info, NULL) != TAPER_OK) {
        taper_value_release(copy);
        binding_throw_no_memory(env);
        return NULL;
    }
    return make_tensor(env, copy, &info, (size_t)bytes, code, CONTIGUOUS);
}
