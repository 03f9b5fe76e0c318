// SPDX-License-Identifier: BSD-2-Clause
// Prefetching for code outside of kernels. Kernels use their own prefetch instructions.
#ifndef TAPER_BASE_FETCH_H
#define TAPER_BASE_FETCH_H

#include <stddef.h>

enum { TAPER_FETCH_LINE = 64 };

// Prefetches bytes that will be read soon into the caches. Does nothing if the compiler has no prefetch.
static inline void taper_fetch(const void *data, size_t bytes)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < bytes; i += TAPER_FETCH_LINE) {
        __builtin_prefetch((const char *)data + i);
    }
#else
    (void)data;
    (void)bytes;
#endif
}

#endif
