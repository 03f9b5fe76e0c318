// SPDX-License-Identifier: BSD-2-Clause
// Parts that the tests of devices share: a context that keeps its log, and functions that run committed models on a
// device and on the CPU.
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
    char heard[HEARD]; // text of the log, without output of models
} listening;

void open_listening(listening *w, const char *cache_dir); // cache_dir: a directory, or NULL for no cache
void close_listening(listening *w);                       // fails the test if memory is leaked
size_t count_heard(const listening *w, const char *words);

// Returns true if both values have the same structure, floats differ by at most 1e-4 of the largest float, and integers
// of quantized tensors by at most 1.
bool device_alike(const taper_value *a, const taper_value *b);
// Loads a committed model for a device. If device and device_options are NULL, loads it for the CPU.
taper_status device_load(taper_context *context, const char *file, const char *device, const char *device_options,
                         taper_model **model, taper_error *error);
// Runs the calls of the model file of test_calls[first] `runs` times on the device and on the CPU. Fails the test if
// the results differ.
void hold_against_cpu(listening *w, size_t first, const char *device, int runs);

#endif
