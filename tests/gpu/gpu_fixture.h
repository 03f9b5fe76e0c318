// SPDX-License-Identifier: BSD-2-Clause
// Parts that the tests of models on the device share: the name of the device, the call of a small model, and contexts
// whose GPU interface may fail.
#ifndef TAPER_TESTS_GPU_FIXTURE_H
#define TAPER_TESTS_GPU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/listening.h"
#include "tests/gpu/failing_gpu.h"

#ifndef GPU_DEVICE
#define GPU_KIND "vulkan"
#define GPU_DEVICE "vulkan:llvmpipe"
#define GPU_IS_SOFTWARE true // Vulkan uses a driver that computes on the CPU only if GPU_DEVICE names the driver
#endif

static const char device[] = GPU_DEVICE;

static const test_call small = {"classifier.ptl", "forward", "f1,3,64,64", TAPER_OK, false};

static inline size_t find_small(void)
{
    for (size_t i = 0; i < test_call_count; i++) {
        if (strcmp(test_calls[i].file, small.file) == 0 && test_calls[i].status == TAPER_OK) {
            return i;
        }
    }
    fail_msg("there is no call of %s", small.file);
    return 0;
}

static inline void open_failing(listening *w)
{
    open_listening(w, NULL);
    assert_int_equal(set_failing_gpu(w->context, w->error), TAPER_OK);
}

static inline void close_failing(listening *w)
{
    close_listening(w);
    assert_int_equal(gpu_alive(), 0);
}

#endif
