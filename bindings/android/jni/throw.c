// SPDX-License-Identifier: BSD-2-Clause
// Throws exceptions: maps Taper's statuses to the exceptions that apps of PyTorch Mobile expect. None of these
// exceptions is a java.lang.Error.
#include "binding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void binding_throw_no_memory(JNIEnv *env)
{
    (*env)->ExceptionClear(env);
    (void)(*env)->Throw(env, binding.no_memory);
}

void binding_no_error(JNIEnv *env)
{
    const jthrowable pending = (*env)->ExceptionOccurred(env);
    if (pending == NULL) {
        binding_throw_no_memory(env); // the call failed without an exception
        return;
    }
    (*env)->ExceptionClear(env);
    if ((*env)->IsInstanceOf(env, pending, binding.error)) {
        binding_throw_no_memory(env);
    } else {
        (void)(*env)->Throw(env, pending);
    }
    (*env)->DeleteLocalRef(env, pending);
}

static void throw_text(JNIEnv *env, const binding_exception *type, const char *text)
{
    const jstring message = binding_string(env, text, strlen(text));
    if (message == NULL) {
        return;
    }
    const jthrowable exception = (jthrowable)(*env)->NewObject(env, type->type, type->create, message);
    if ((*env)->ExceptionCheck(env) || exception == NULL) {
        binding_no_error(env);
    } else {
        (void)(*env)->Throw(env, exception);
        (*env)->DeleteLocalRef(env, exception);
    }
    (*env)->DeleteLocalRef(env, message);
}

void binding_throw(JNIEnv *env, const binding_exception *type, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw_text(env, type, text);
}

void binding_throw_status(JNIEnv *env, taper_status status, const taper_error *error, const char *before)
{
    const binding_exception *type = status == TAPER_ERROR_RAISED      ? &binding.runtime
                                    : status == TAPER_ERROR_CANCELLED ? &binding.cancelled
                                                                      : &binding.model;
    const char *message = taper_error_message(error), *detail = taper_error_detail(error);
    const size_t size = (before != NULL ? strlen(before) : 0) + strlen(message) + strlen(detail) + 3;
    const bool unsaid = size == 3 && status != TAPER_ERROR_CANCELLED; // memory ran out for the text of the error
    char *text = unsaid ? NULL : malloc(size);
    if (text == NULL) {
        binding_throw_no_memory(env);
        return;
    }
    (void)snprintf(text, size, "%s%s%s%s%s", before != NULL ? before : "", before != NULL ? "\n" : "", message,
                   detail[0] != '\0' ? "\n" : "", detail);
    throw_text(env, type, text);
    free(text);
}
