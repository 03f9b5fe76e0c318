// SPDX-License-Identifier: BSD-2-Clause
// wheel.sh includes this header before every source of a wheel. glibc 2.35 has new versions of hypot and hypotf, which
// compute the same results as the first versions, but set errno in another way. A module that uses the first versions
// also loads with older C libraries. Without these lines, hypot and hypotf would be the only symbols of 2.35, and
// wheels would not load with glibc 2.34 (RHEL 9, Amazon Linux 2023).
#if defined(__gnu_linux__) && defined(__x86_64__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5\n.symver hypotf, hypotf@GLIBC_2.2.5");
#elif defined(__gnu_linux__) && defined(__aarch64__)
__asm__(".symver hypot, hypot@GLIBC_2.17\n.symver hypotf, hypotf@GLIBC_2.17");
#endif
