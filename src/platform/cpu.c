// SPDX-License-Identifier: BSD-2-Clause
// What the CPU can do, from cpuinfo (TAPER_WITH_CPUINFO) or, without it, from the compiler's own probe; and how many
// cores there are.
#define _GNU_SOURCE 1
#include "platform/platform.h"

#include <sched.h>
#include <unistd.h>

#include "platform/cores.h"

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

// What the kernel says, also of instructions that cpuinfo does not know.
static uint64_t kernel_features(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? TAPER_CPU_NEON_DOT : 0) |
           (getauxval(AT_HWCAP2) & HWCAP2_I8MM ? TAPER_CPU_NEON_I8MM : 0);
}
#else
#define kernel_features() 0
#endif

#ifdef TAPER_WITH_CPUINFO
#include <cpuinfo.h>

uint64_t taper_cpu_features(void)
{
    uint64_t features = 0;
    if (!cpuinfo_initialize()) {
        return 0;
    }
#if defined(__x86_64__) || defined(__i386__)
    if (cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c()) {
        features |= TAPER_CPU_AVX2;
        if (cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() && cpuinfo_has_x86_avx512dq() &&
            cpuinfo_has_x86_avx512vl()) {
            features |= TAPER_CPU_AVX512;
            if (cpuinfo_has_x86_avx512vnni()) {
                features |= TAPER_CPU_AVX512VNNI;
            }
        }
    }
#elif defined(__aarch64__)
    features |= TAPER_CPU_NEON;
    if (cpuinfo_has_arm_neon_dot()) {
        features |= TAPER_CPU_NEON_DOT;
    }
    if (cpuinfo_has_arm_neon_fp16_arith()) {
        features |= TAPER_CPU_NEON_FP16;
    }
#endif
    features |= kernel_features();
    return features;
}

bool taper_cpu_has_pclmul(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return cpuinfo_initialize() && cpuinfo_has_x86_pclmulqdq();
#else
    return false;
#endif
}

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

uint64_t taper_cpu_features(void)
{
    uint64_t features = 0;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) { // every CPU with these has F16C
        features |= TAPER_CPU_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
            features |= TAPER_CPU_AVX512;
            if (__builtin_cpu_supports("avx512vnni")) {
                features |= TAPER_CPU_AVX512VNNI;
            }
        }
    }
#elif defined(__aarch64__)
    features |= TAPER_CPU_NEON; // part of the architecture
#endif
    features |= kernel_features();
    return features;
}

bool taper_cpu_has_pclmul(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("pclmul");
#else
    return false;
#endif
}

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
