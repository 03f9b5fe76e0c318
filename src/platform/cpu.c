// SPDX-License-Identifier: BSD-2-Clause
// Finds the number of cores of this machine and the sizes of their caches. isa.c finds their instruction sets.
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1 // needed for sysctlbyname
#include "platform/platform.h"

#include <sched.h>
#include <unistd.h>

#include "platform/cores.h"

#ifdef __APPLE__
#include <sys/sysctl.h>

// Returns the system's number with this name, or 0 if there is none.
static int64_t ask(const char *name)
{
    int64_t number = 0; // some numbers have only 32 bits; on a little-endian machine the other bits remain 0
    size_t size = sizeof number;
    return sysctlbyname(name, &number, &size, NULL, 0) == 0 && number > 0 ? number : 0;
}
#endif

#ifdef __linux__
enum { MOST_CPUS = 8192 };

static bool ask_allowed(unsigned char *allowed)
{
    return sched_getaffinity(0, MOST_CPUS / 8, (cpu_set_t *)(void *)allowed) == 0;
}
#endif

taper_caches taper_cpu_caches(void)
{
    taper_caches caches = {0, 0};
#ifdef __linux__
    unsigned char allowed[MOST_CPUS / 8] = {0};
    if (ask_allowed(allowed)) {
        caches = taper_cores_caches("", allowed, sizeof allowed);
    }
#elif defined(__APPLE__)
    caches.l1 = (size_t)ask("hw.l1dcachesize");
    caches.l2 = (size_t)ask("hw.l2cachesize");
#endif
    return caches;
}

unsigned taper_cpu_cores(void)
{
#ifdef __linux__
    unsigned char allowed[MOST_CPUS / 8] = {0};
    if (ask_allowed(allowed)) {
        return taper_cores_count("", allowed, sizeof allowed);
    }
#elif defined(__APPLE__)
    int64_t count = ask("hw.perflevel0.physicalcpu");
    count = count != 0 ? count : ask("hw.physicalcpu");
    if (count != 0) {
        return (unsigned)count;
    }
#endif
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}
