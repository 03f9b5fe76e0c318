// SPDX-License-Identifier: BSD-2-Clause
// How many threads are worth having, and what caches a core has. cpu.c asks for this machine, the tests for recorded
// ones.
#ifndef TAPER_PLATFORM_CORES_H
#define TAPER_PLATFORM_CORES_H

#include <stddef.h>

// Of the CPUs whose bit is set in allowed (count bytes, CPU 0 first): the physical cores that are big ones among them,
// at most the quota of the process' control groups rounded up, at least 1. Files are looked for under root ("" for the
// system's own /proc and /sys); what they do not say is taken to be as usual.
unsigned taper_cores_count(const char *root, const unsigned char *allowed, size_t count);

typedef struct taper_caches {
    size_t l1, l2; // bytes: of the data cache of one core, of the cache behind it. 0: unknown
} taper_caches;

// The caches of a big core among the allowed CPUs.
taper_caches taper_cores_caches(const char *root, const unsigned char *allowed, size_t count);

taper_caches taper_cpu_caches(void); // of this machine; reads files

#endif
