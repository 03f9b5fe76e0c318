// SPDX-License-Identifier: BSD-2-Clause
// Code that all kernel checks share: memory next to an inaccessible page, after its end or before its beginning, random
// and special numbers, and comparisons that count failures. Every kernel of a list that this CPU can run is compared
// with the portable kernel or with double precision.
#ifndef TAPER_TESTS_KERNELS_CHECK_H
#define TAPER_TESTS_KERNELS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t check_cpu(void); // returns the TAPER_ISA_ bits of this machine that TAPER_CPU_MASK allows

// ---- memory: check_memory_reset frees all of it
typedef enum check_place {
    // The bytes after the buffer and the allowed over-read are inaccessible, which detects reads beyond the allowed
    // over-read.
    CHECK_TAIL,
    CHECK_HEAD // the byte before the buffer is inaccessible, which detects reads before the start
} check_place;
float *check_floats(size_t count, check_place place, size_t slack);
void *check_bytes(size_t size, check_place place, size_t slack);
void check_memory_reset(void);

// ---- numbers NEON of 32-bit ARM flushes denormals to zero. While its kernels are checked, the functions below make no
// denormals. check_lost() is the greatest error of a result due to flushing, otherwise 0.
float check_number(float x); // returns x, or zero if x is a denormal and denormals are flushed
float check_of_bits(uint32_t bits);
float check_lost(void);
uint32_t check_random(void);
size_t check_below(size_t n); // returns a random number from 0 to n - 1
float check_uniform(float low, float high);
void check_fill(float *p, size_t count, float low, float high);
// Replaces about one number in `one_in` by NaN, an infinity, a zero of either sign, a denormal, +-3, +-6 or a large
// number. With sums = true, finite numbers are at most 200, so that sums do not overflow.
void check_fill_special(float *p, size_t count, size_t one_in, bool sums);
float check_special(size_t index); // returns item `index` of the endlessly repeated list of special numbers
#define CHECK_SPECIALS 24

// ---- comparison
// Returns true if both numbers are NaN, if they are equal (also infinities), or if they differ by at most bound.
bool check_close(float got, float want, float bound);
// Returns the difference in units in the last place of `want`. A correctly rounded result differs by at most 0.5.
double check_ulp(float got, double want);

// Requantizes a sum as QNNPACK does: rounds to 16 bits, adds the zero point with saturation, and clamps.
struct taper_i8_epilogue;
uint8_t check_requantized(int32_t sum, float scale, const struct taper_i8_epilogue *e);

// Checks native.h for doubles (native_f64_check.c). check_doubles_fill makes operands, check_doubles_tame moves the
// operands of sines and powers into the range of the fast formula, and check_double_is checks a result.
struct taper_native_numbers;
void check_doubles_fill(double *x, size_t count);
void check_doubles_tame(int native, double *x, double *y, size_t count);
bool check_double_is(int native, double x, double y, double z, double got, const struct taper_native_numbers *p);

// Checks the special functions of native.h (native_special_check.c).
struct taper_native_entry;
void check_native_special(const struct taper_native_entry *entry);
// Checks the functions of native.h for bytes (native_u8_check.c).
void check_native_bytes(const struct taper_native_entry *entry);

void check_begin(const char *family, const char *entry);
// Counts a check, which fails if `good` is false; prints the first few failures of an entry.
void check_that(bool good, const char *format, ...);
bool check_failed(void); // returns true if this entry has failed a check

// Each function checks one family of kernels. bench: true to measure the speed instead.
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
