// SPDX-License-Identifier: BSD-2-Clause
// Makes allocations fail for FailTest. This file is linked into a copy of libpytorch_jni.so, whose calls of malloc and
// similar functions are redirected to it.
#include <jni.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

// Only allocations of the thread that requested failures are counted.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static jint left = -1; // number of allocations that succeed before one fails; negative if no allocation shall fail
static bool failed;

static bool fails(void)
{
    bool now = false;
    pthread_mutex_lock(&lock);
    if (left >= 0 && pthread_equal(thread, pthread_self())) {
        now = left-- == 0;
        failed = failed || now;
    }
    pthread_mutex_unlock(&lock);
    return now;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return size != 0 && fails() ? NULL : __real_realloc(old, size);
}

// Makes one allocation fail, after the next `count` allocations have succeeded. Returns true if an allocation has
// failed since the last call.
JNIEXPORT jboolean JNICALL Java_FailTest_failAfter(JNIEnv *env, jclass type, jint count);
JNIEXPORT jboolean JNICALL Java_FailTest_failAfter(JNIEnv *env, jclass type, jint count)
{
    (void)env;
    (void)type;
    pthread_mutex_lock(&lock);
    const bool before = failed;
    failed = false;
    left = count;
    thread = pthread_self();
    pthread_mutex_unlock(&lock);
    return before;
}
