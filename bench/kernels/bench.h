// SPDX-License-Identifier: BSD-2-Clause
// Helpers for the kernel benchmarks: time, memory, and the machine's peak rate. The peak rate is measured in the same
// run of the benchmark, between the kernels' measurements, because clock rates and other load change from minute to
// minute.
#ifndef TAPER_BENCH_KERNELS_H
#define TAPER_BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

double bench_now(void); // returns the time of a clock, in seconds
// Returns 64-byte aligned memory filled with small numbers of mixed sign. Ends the program if there is no memory.
float *bench_floats(size_t count);
void bench_free(float *p);
// Returns the peak rate of multiply-adds in GFLOP/s, with the widest registers that `cpu` (TAPER_ISA_ bits) allows.
// Takes about a millisecond.
double bench_peak(uint64_t cpu);
// Returns the instruction sets of this machine that TAPER_CPU_MASK allows.
uint64_t bench_cpu(void);

// Returns the best time of one call of work(argument), over `rounds` rounds of at least `seconds` each.
double bench_best(void (*work)(void *argument), void *argument, int rounds, double seconds);

#endif
