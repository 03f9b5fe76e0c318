// SPDX-License-Identifier: BSD-2-Clause
// The lock, the log of misuse, and the switches of TAPER_NNAPI_DOUBLE, which are separated by semicolons:
//   refuse=3,4          no device supports these operations
//   fail=NAME:N:ERROR   the N-th call of the function NAME returns the error (its name without ANEURALNETWORKS_)
//   lost=N              the accelerator is lost from its N-th execution on
//   wrong               the last element of each result is off by one
//   slow=N              each execution takes N milliseconds longer
//   hold                executions that begin wait until the switch is removed and any function is called
//   garbage_sizes       sizes and ranks of results are reported wrongly
//   no_devices          there are no devices
// When the variable changes, the switches are read again and all counts restart at 0.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double.h"

enum { TEXT_MAX = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const char *entered = "";
// Value of the variable when it was read, and a copy of it, split at the semicolons.
static char read_text[TEXT_MAX], text[TEXT_MAX];
static unsigned fail_calls, runs;

// Returns the value of a switch, "" if it has no value, or NULL if it is not set.
static const char *find_switch(const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text; *at != '\0'; at += strlen(at) + 1) {
        if (strncmp(at, name, length) == 0 && (at[length] == '\0' || at[length] == '=')) {
            return at + length + (at[length] == '=');
        }
    }
    return NULL;
}

static void read_switches(void)
{
    const char *now = getenv("TAPER_NNAPI_DOUBLE");
    now = now != NULL && strlen(now) < TEXT_MAX - 1 ? now : "";
    if (strcmp(now, read_text) != 0) {
        memset(text, 0, sizeof text);
        strcpy(read_text, now);
        strcpy(text, now);
        for (char *at = text; (at = strchr(at, ';')) != NULL;) {
            *at++ = '\0';
        }
        fail_calls = runs = 0;
        double_wake();
    }
}

static int error_number(const char *name)
{
    static const char *const names[] = {"NO_ERROR",
                                        "OUT_OF_MEMORY",
                                        "INCOMPLETE",
                                        "UNEXPECTED_NULL",
                                        "BAD_DATA",
                                        "OP_FAILED",
                                        "BAD_STATE",
                                        "UNMAPPABLE",
                                        "OUTPUT_INSUFFICIENT_SIZE",
                                        "UNAVAILABLE_DEVICE",
                                        "MISSED_DEADLINE_TRANSIENT",
                                        "MISSED_DEADLINE_PERSISTENT",
                                        "RESOURCE_EXHAUSTED_TRANSIENT",
                                        "RESOURCE_EXHAUSTED_PERSISTENT",
                                        "DEAD_OBJECT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (int)i;
        }
    }
    return ANEURALNETWORKS_OP_FAILED;
}

int double_enter(const char *function)
{
    double_resume(function);
    read_switches();
    const char *fail = find_switch("fail");
    const size_t length = strlen(function);
    if (fail != NULL && strncmp(fail, function, length) == 0 && fail[length] == ':') {
        char *end;
        const unsigned long wanted = strtoul(fail + length + 1, &end, 10);
        if (++fail_calls == wanted && *end == ':') {
            return error_number(end + 1);
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}

void double_leave(void)
{
    pthread_mutex_unlock(&lock);
}

void double_resume(const char *function)
{
    pthread_mutex_lock(&lock);
    entered = function;
}

void double_wait(void)
{
    const char *function = entered;
    pthread_cond_wait(&changed, &lock);
    entered = function;
}

void double_wake(void)
{
    pthread_cond_broadcast(&changed);
}

int double_misuse(int code, const char *format, ...)
{
    const char *path = getenv("TAPER_NNAPI_DOUBLE_LOG");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(file, "%s: ", entered);
        vfprintf(file, format, arguments);
        fputc('\n', file);
        va_end(arguments);
        fclose(file);
    }
    return code;
}

bool double_refuses(int32_t operation)
{
    const char *at = find_switch("refuse");
    while (at != NULL && *at != '\0') {
        char *end;
        const long code = strtol(at, &end, 10);
        if (end == at) {
            return false;
        }
        if (code == operation) {
            return true;
        }
        at = *end == ',' ? end + 1 : end;
    }
    return false;
}

bool double_has_no_devices(void)
{
    return find_switch("no_devices") != NULL;
}

bool double_is_wrong(void)
{
    return find_switch("wrong") != NULL;
}

bool double_has_garbage_sizes(void)
{
    return find_switch("garbage_sizes") != NULL;
}

unsigned double_slowness(void)
{
    const char *slow = find_switch("slow");
    return slow != NULL ? (unsigned)strtoul(slow, NULL, 10) : 0;
}

bool double_holds(void)
{
    return find_switch("hold") != NULL;
}

void double_count_run(void)
{
    runs++;
}

bool double_is_lost(void)
{
    const char *lost = find_switch("lost");
    return lost != NULL && runs >= strtoul(lost, NULL, 10);
}
