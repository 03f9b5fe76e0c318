// SPDX-License-Identifier: BSD-2-Clause
// For tests of devices: a context that keeps what is logged, and committed models on a device beside the CPU.
#ifndef TAPER_TESTS_LISTENING_H
#define TAPER_TESTS_LISTENING_H

#include <pthread.h>

#include "tests/api/fixture.h"

enum { HEARD = 1 << 15 };

typedef struct listening {
    taper_context *context;
    taper_error *error;
    test_allocator allocator;
    pthread_mutex_t lock;
    size_t length;
    char heard[HEARD]; // the log, but for what models print
} listening;

void open_listening(listening *w, const char *cache_dir); // cache_dir may be NULL
void close_listening(listening *w);                       // fails the test where memory is left
size_t count_heard(const listening *w, const char *words);

// Same structure; floats to 1e-4 of the largest, integers of quantized tensors within 1.
bool device_alike(const taper_value *a, const taper_value *b);
// A committed model; device and options NULL: the CPU.
taper_status device_load(taper_context *context, const char *file, const char *device, const char *device_options,
                         taper_model **model, taper_error *error);
// Runs the calls of the file of test_calls[first] so many times, on the device and on the CPU, and fails the test where
// they differ.
void hold_against_cpu(listening *w, size_t first, const char *device, int runs);

#endif
