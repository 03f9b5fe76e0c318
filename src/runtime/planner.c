// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/planner.h"

struct taper_planner {
    taper_allocator allocator;
    taper_heap *heap;
};

taper_status taper_planner_create(const taper_allocator *allocator, taper_heap *heap, taper_planner **planner, taper_error *error)
{
    *planner = taper_alloc_zeroed(allocator, sizeof **planner);
    if (*planner == NULL) {
        return taper_fail_memory(error);
    }
    (*planner)->allocator = *allocator;
    (*planner)->heap = heap;
    return TAPER_OK;
}

void taper_planner_destroy(taper_planner *planner)
{
    if (planner != NULL) {
        const taper_allocator allocator = planner->allocator;
        taper_free(&allocator, planner, sizeof *planner);
    }
}

void taper_planner_begin(taper_planner *planner, const struct taper_function *function, taper_value *const *inputs, size_t count)
{
    (void)planner;
    (void)function;
    (void)inputs;
    (void)count;
}

void taper_planner_end(taper_planner *planner, bool success)
{
    (void)planner;
    (void)success;
}

void taper_planner_forget(taper_planner *planner)
{
    (void)planner;
}

size_t taper_planner_bytes(const taper_planner *planner)
{
    (void)planner;
    return 0;
}

uint64_t taper_planner_calls(const taper_planner *planner)
{
    (void)planner;
    return 0;
}
