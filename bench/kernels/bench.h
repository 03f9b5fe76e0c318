// SPDX-License-Identifier: BSD-2-Clause
// For the kernel benchmarks: time, memory, and the machine's own limit, measured in the same run and interleaved with
// what is compared, because clocks and neighbours change from minute to minute.
#ifndef TAPER_BENCH_KERNELS_H
#define TAPER_BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

double bench_now(void); // seconds
// 64-byte aligned, filled with small numbers of mixed sign; ends the program when there is no memory.
float *bench_floats(size_t count);
void bench_free(float *p);
// Multiply-adds of the widest registers that `cpu` (TAPER_ISA_ bits) allows, GFLOP/s; takes about a millisecond.
double bench_peak(uint64_t cpu);
// The instruction sets of this machine that TAPER_CPU_MASK allows.
uint64_t bench_cpu(void);

// Best time of one call of work(argument), from `rounds` rounds of at least `seconds` each.
double bench_best(void (*work)(void *argument), void *argument, int rounds, double seconds);

#endif
