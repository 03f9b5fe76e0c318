// SPDX-License-Identifier: BSD-2-Clause
// What the kernel checks share: memory that ends (or begins) at a page that cannot be touched, random and special
// numbers, and comparison with a count of failures. Every entry of a list that this CPU can run is held against the
// portable one or against double precision.
#ifndef TAPER_TESTS_KERNELS_CHECK_H
#define TAPER_TESTS_KERNELS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t check_cpu(void); // TAPER_ISA_ bits of this machine that TAPER_CPU_MASK allows

// ---- memory: given back all at once by check_memory_reset.
typedef enum check_place {
    CHECK_TAIL, // the byte behind the buffer (and its slack) is on the forbidden page: finds over-reads
    CHECK_HEAD  // the byte before the buffer is on it: finds under-reads
} check_place;
float *check_floats(size_t count, check_place place, size_t slack);
void *check_bytes(size_t size, check_place place, size_t slack);
void check_memory_reset(void);

// ---- numbers
// Denormals are zero to NEON of 32-bit ARM. While its kernels are checked numbers that are made here have none, and a
// result may lack one: check_lost() is the most that it lacks.
float check_number(float x); // zero for a denormal, then
float check_of_bits(uint32_t bits);
float check_lost(void);
uint32_t check_random(void);
size_t check_below(size_t n); // 0 .. n - 1
float check_uniform(float low, float high);
void check_fill(float *p, size_t count, float low, float high);
// About one number in `one_in` becomes NaN, an infinity, a zero of either sign, a denormal, +-3, +-6 or a large one.
// With sums = true no finite one is larger than 200, so that no sum of them overflows.
void check_fill_special(float *p, size_t count, size_t one_in, bool sums);
float check_special(size_t index); // the list of special numbers, repeating
#define CHECK_SPECIALS 24

// ---- comparison
// Equal as results: both NaN, or equal (infinities included), or within the bound.
bool check_close(float got, float want, float bound);
// Distance in units in the last place of `want` (a double result rounded to float has at most 0.5).
double check_ulp(float got, double want);

// A quantized result, as QNNPACK makes it of a sum: to 16 bits, the zero point with saturation, the clamp.
struct taper_i8_epilogue;
uint8_t check_requantized(int32_t sum, float scale, const struct taper_i8_epilogue *e);

// Of native.h with doubles (native_f64_check.c): operands, and whether a result is right.
struct taper_native_numbers;
void check_doubles_fill(double *x, size_t count);
bool check_double_is(int native, double x, double y, double z, double got, const struct taper_native_numbers *p);

// Its special functions (native_special_check.c).
struct taper_native_entry;
void check_native_special(const struct taper_native_entry *entry);
// native_u8_check.c: what is done with bytes.
void check_native_bytes(const struct taper_native_entry *entry);

void check_begin(const char *family, const char *entry);
// Counts; prints the first few failures of an entry.
void check_that(bool good, const char *format, ...);
bool check_failed(void); // has this entry failed already?

// The families. bench: print speeds instead of checking.
void check_dwconv_f32(bool bench);
void check_dwconv_i8(bool bench);
void check_gemm_f32(bool bench);
void check_gemm_half(bool bench);
void check_gemm_i8(bool bench);
void check_vector_f32(bool bench);
void check_vector_u8(bool bench);
void check_winograd_f32(bool bench);
void check_winograd_i8(bool bench);
void check_planar_f32(bool bench);
void check_cast(bool bench);
void check_native(bool bench);
void check_fft_f32(bool bench);
void check_narrow_f32(bool bench);
void check_vector_f32_thorough(bool bench);

#endif
