// SPDX-License-Identifier: BSD-2-Clause
// An allocator with one failing allocation, which also detects leaks. A fuzz target reads its input twice: once without
// a failure, then with one failing allocation that the input selects. This doubles the time of each execution, and the
// inputs of a corpus together select all allocations. If the allocation fails, the reader must report this or work
// without the memory, and must not leak.
#ifndef TAPER_TESTS_FAILING_ALLOCATOR_H
#define TAPER_TESTS_FAILING_ALLOCATOR_H

#include <stdlib.h>

#include <taper/taper.h>

typedef struct failing_allocator {
    taper_allocator allocator; // allocator whose `user` is this struct
    size_t calls, fail_at;     // number of calls so far, and number of the call that fails (0 if none fails)
    size_t blocks, bytes;      // blocks and bytes in use
} failing_allocator;

static inline void *failing_reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    failing_allocator *a = user;
    if (new_size == 0) {
        if (ptr != NULL) {
            a->blocks--;
            a->bytes -= old_size;
        }
        free(ptr);
        return NULL;
    }
    if (++a->calls == a->fail_at) {
        return NULL;
    }
    void *made = realloc(ptr, new_size);
    if (made != NULL) {
        a->blocks += ptr == NULL;
        a->bytes += new_size - (ptr != NULL ? old_size : 0);
    }
    return made;
}

static inline void failing_start(failing_allocator *a, size_t fail_at)
{
    *a = (failing_allocator){.allocator = {a, failing_reallocate}, .fail_at = fail_at};
}

// Aborts if a block was not freed, or was freed with a wrong size.
static inline void failing_end(const failing_allocator *a)
{
    if (a->blocks != 0 || a->bytes != 0) {
        abort();
    }
}

// Returns the number of the allocation, out of `calls`, that must fail for this input.
static inline size_t failing_place(const uint8_t *data, size_t size, size_t calls)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 16777619u;
    }
    return 1 + hash % (calls != 0 ? calls : 1);
}

#endif
