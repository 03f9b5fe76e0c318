// SPDX-License-Identifier: BSD-2-Clause
// How large the caches of a core are, from cpuinfo (TAPER_WITH_CPUINFO); and how many cores there are. isa.c says what
// they can do.
#define _GNU_SOURCE 1
#include "platform/platform.h"

#include <sched.h>
#include <unistd.h>

#include "platform/cores.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#ifdef TAPER_WITH_CPUINFO
#include <cpuinfo.h>

size_t taper_cpu_l1_bytes(void)
{
    if (cpuinfo_initialize() && cpuinfo_get_l1d_caches_count() != 0 && cpuinfo_get_l1d_cache(0)->size != 0) {
        return cpuinfo_get_l1d_cache(0)->size;
    }
    return 32 * 1024;
}

size_t taper_cpu_l2_bytes(void)
{
    if (cpuinfo_initialize() && cpuinfo_get_l2_caches_count() != 0 && cpuinfo_get_l2_cache(0)->size != 0) {
        return cpuinfo_get_l2_cache(0)->size;
    }
    return 512 * 1024;
}

#else

size_t taper_cpu_l1_bytes(void)
{
    return 32 * 1024;
}

size_t taper_cpu_l2_bytes(void)
{
    return 512 * 1024;
}
#endif

unsigned taper_cpu_cores(void)
{
#ifdef __linux__
    unsigned char allowed[1024] = {0}; // what is set here has room for 8192 CPUs
    if (sched_getaffinity(0, sizeof allowed, (cpu_set_t *)(void *)allowed) == 0) {
        return taper_cores_count("", allowed, sizeof allowed);
    }
#elif defined(__APPLE__)
    int32_t count = 0;
    size_t size = sizeof count;
    if ((sysctlbyname("hw.perflevel0.physicalcpu", &count, &size, NULL, 0) == 0 ||
         sysctlbyname("hw.physicalcpu", &count, &size, NULL, 0) == 0) &&
        count > 0) {
        return (unsigned)count;
    }
#endif
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}
