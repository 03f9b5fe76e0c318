// SPDX-License-Identifier: BSD-2-Clause
// Finds the number of useful threads and the sizes of a core's caches. cpu.c uses these functions for this machine, and
// tests use them for copies of other machines' files.
#ifndef TAPER_PLATFORM_CORES_H
#define TAPER_PLATFORM_CORES_H

#include <stddef.h>

// Returns the number of big physical cores among the allowed CPUs. The result is at least 1 and at most the CPU quota
// of the process' control groups, rounded up. allowed: a bit for each CPU, CPU 0 first; count: number of bytes of
// `allowed`. Files are read under the directory `root`, which is "" for the system's own /proc and /sys. A missing file
// means the usual case: no quota, all cores equal.
unsigned taper_cores_count(const char *root, const unsigned char *allowed, size_t count);

typedef struct taper_caches {
    size_t l1, l2; // bytes of one core's level 1 data cache, and of its level 2 cache; 0 if unknown
} taper_caches;

// Returns the sizes of the caches of a big core among the allowed CPUs.
taper_caches taper_cores_caches(const char *root, const unsigned char *allowed, size_t count);

taper_caches taper_cpu_caches(void); // sizes of this machine's caches; this call reads files

#endif
