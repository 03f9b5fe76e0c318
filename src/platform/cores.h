// SPDX-License-Identifier: BSD-2-Clause
// The number of useful threads and the sizes of a core's caches. cpu.c asks for this machine, the tests for recorded
// machines.
#ifndef TAPER_PLATFORM_CORES_H
#define TAPER_PLATFORM_CORES_H

#include <stddef.h>

// Returns the number of big physical cores among the allowed CPUs, at least 1 and at most the quota of the process'
// control groups, rounded up. allowed: a bit for each CPU, CPU 0 first; count: its bytes. Files are read under root,
// which is "" for the system's own /proc and /sys. A missing file means the usual: no quota, one class of cores.
unsigned taper_cores_count(const char *root, const unsigned char *allowed, size_t count);

typedef struct taper_caches {
    size_t l1, l2; // bytes of the data cache of one core, and of its second-level cache; 0 if unknown
} taper_caches;

// Returns the caches of a big core among the allowed CPUs.
taper_caches taper_cores_caches(const char *root, const unsigned char *allowed, size_t count);

taper_caches taper_cpu_caches(void); // caches of this machine; reads files

#endif
