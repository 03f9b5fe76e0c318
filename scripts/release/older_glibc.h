// SPDX-License-Identifier: BSD-2-Clause
// wheel.sh includes this header before every source of a wheel. glibc 2.35 gave hypot and hypotf new versions, which set errno in another
// way and compute the same. A module that takes the first version loads with older C libraries too. Without these lines they would be the
// only symbols of 2.35, and leave out systems with 2.34 (RHEL 9, Amazon Linux 2023).
#if defined(__gnu_linux__) && defined(__x86_64__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5\n.symver hypotf, hypotf@GLIBC_2.2.5");
#elif defined(__gnu_linux__) && defined(__aarch64__)
__asm__(".symver hypot, hypot@GLIBC_2.17\n.symver hypotf, hypotf@GLIBC_2.17");
#endif
