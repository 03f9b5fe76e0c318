// SPDX-License-Identifier: BSD-2-Clause
// Prints the keys of this machine's instruction sets (isa_list.inc), each followed by a ';'. CMake compiles and runs
// this program for -DTAPER_CPU_LEVELS=native (kernels.cmake).
#include "platform/isa.c"

#include <stdio.h>

int main(void)
{
    uint64_t found = 0;
    PROBE();
#define ISA(key, architecture, bit, needs, probe, flags, hints)                                                        \
    TAPER_IF(                                                                                                          \
        TAPER_ARCH_##architecture, if ((found & (needs)) == (needs) && (probe)) {                                      \
            found |= TAPER_ISA_##key;                                                                                  \
            printf("%s;", #key);                                                                                       \
        })
#include "platform/isa_list.inc"
#undef ISA
    return 0;
}
