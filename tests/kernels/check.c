// SPDX-License-Identifier: BSD-2-Clause
// kernel_check [--bench] [family] checks kernels; see check.h. --thorough checks elementwise functions on many more
// floats. Prints "N passed" and exits with 0, or prints failures and exits with 1.
#define _DEFAULT_SOURCE
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ops/kernels/gemm_i8.h"
#include "platform/isa.h"
#include "tests/cpu_mask.h"

uint64_t check_cpu(void)
{
    static uint64_t mask;
    if (mask == 0)
        mask = test_cpu_mask() != 0 ? test_cpu_mask() : UINT64_MAX;
    return taper_cpu_features() & mask;
}

// ---- memory between inaccessible pages

// Regions of memory are reused, because mapping memory is slow under emulation.
typedef struct region {
    uint8_t *base;
    size_t size; // size in bytes, without the two inaccessible pages
    bool used;
} region;
static region regions[256];
static size_t region_count;

static void die(const char *what)
{
    fprintf(stderr, "kernel_check: %s\n", what);
    exit(2);
}

void *check_bytes(size_t size, check_place place, size_t slack)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t need = (size + slack + page - 1) / page * page;
    region *r = NULL;
    for (size_t i = 0; i < region_count; i++) {
        if (!regions[i].used && regions[i].size >= need && (r == NULL || regions[i].size < r->size))
            r = &regions[i];
    }
    if (r == NULL || r->size > 4 * need + 4 * page) {
        if (region_count == sizeof regions / sizeof *regions)
            die("too many buffers");
        r = &regions[region_count++];
        r->size = need > 0 ? need : page;
        uint8_t *p = mmap(NULL, r->size + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            die("no memory");
        r->base = p + page;
        if (mprotect(p, page, PROT_NONE) != 0 || mprotect(r->base + r->size, page, PROT_NONE) != 0)
            die("mprotect");
    }
    r->used = true;
    memset(r->base, 0xAA, r->size);
    return place == CHECK_TAIL ? r->base + r->size - size - slack : r->base;
}

float *check_floats(size_t count, check_place place, size_t slack)
{
    return check_bytes(count * sizeof(float), place, slack);
}

void check_memory_reset(void)
{
    for (size_t i = 0; i < region_count; i++)
        regions[i].used = false;
}

// ---- random numbers

static uint64_t seed = 0x9E3779B97F4A7C15u;

uint32_t check_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

size_t check_below(size_t n)
{
    return (size_t)check_random() % n;
}

float check_uniform(float low, float high)
{
    return low + (high - low) * ((float)(check_random() >> 8) * 0x1p-24f);
}

void check_fill(float *p, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++)
        p[i] = check_uniform(low, high);
}

static bool flushes; // true if the kernels under test flush denormals to zero

float check_number(float x)
{
    return flushes && fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

float check_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return check_number(x);
}

float check_lost(void)
{
    return flushes ? FLT_MIN : 0;
}

float check_special(size_t index)
{
    static const float list[CHECK_SPECIALS] = {
        NAN,  INFINITY, -INFINITY, 0.0f,   -0.0f, 0x1p-149f, -0x1p-140f, 0x1p-127f, 3.0f,    -3.0f,    6.0f, -6.0f,
        1.0f, -1.0f,    0x1p-126f, 1e-20f, 88.0f, -88.0f,    127.5f,     -104.5f,   3.0e38f, -3.0e38f, 0.5f, -0.5f};
    return check_number(list[index % CHECK_SPECIALS]);
}

void check_fill_special(float *p, size_t count, size_t one_in, bool sums)
{
    for (size_t i = 0; i < count; i++) {
        if (check_below(one_in) != 0)
            continue;
        const float x = check_special(check_below(CHECK_SPECIALS));
        if (!sums || !isfinite(x) || fabsf(x) < 200.0f)
            p[i] = x;
    }
}

// ---- comparison

static const char *now_family = "", *now_entry = "";
static size_t passed, failed, entry_failed, entry_start;

bool check_close(float got, float want, float bound)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return fabsf(got - want) <= bound + check_lost();
}

double check_ulp(float got, double want)
{
    if (isnan(want))
        return isnan(got) ? 0 : INFINITY;
    const float nearest = (float)want;
    if (isinf(nearest) || isinf(got))
        return nearest == got ? 0 : INFINITY;
    int e;
    frexp(want, &e); // want = f * 2^e with f in [0.5, 1), so the last place of want as a float is 2^(e - 24)
    if (want == 0 || e < -125)
        e = -125;
    return fabs((double)got - want) / ldexp(1.0, e - 24);
}

// Prints one line for the entry that ends.
static void report(void)
{
    if (now_family[0] != '\0' && passed + failed > entry_start) {
        printf("%-16s %-20s %8zu checks%s\n", now_family, now_entry, passed + failed - entry_start,
               entry_failed > 0 ? ", FAILED" : "");
    }
    entry_start = passed + failed;
}

void check_begin(const char *family, const char *entry)
{
    report();
    now_family = family;
    now_entry = entry;
    flushes = strstr(entry, "neon32") != NULL;
    entry_failed = 0;
}

void check_that(bool good, const char *format, ...)
{
    if (good) {
        passed++;
        return;
    }
    failed++;
    if (entry_failed++ < 5) {
        va_list list;
        va_start(list, format);
        printf("FAILED %s %s: ", now_family, now_entry);
        vprintf(format, list);
        printf("\n");
        va_end(list);
    }
}

bool check_failed(void)
{
    return entry_failed > 0;
}

uint8_t check_requantized(int32_t sum, float scale, const taper_i8_epilogue *e)
{
    const float y = nearbyintf((float)sum * scale);
    int32_t q = y >= 32767.0f ? 32767 : y <= -32768.0f ? -32768 : (int32_t)y;
    q += e->zero_point;
    return (uint8_t)(q < e->min ? e->min : q > 255 ? 255 : q);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(bool bench);
    } families[] = {
        {"gemm_f32", check_gemm_f32},
        {"gemm_half", check_gemm_half},
        {"gemm_i8", check_gemm_i8},
        {"dwconv_f32", check_dwconv_f32},
        {"dwconv_i8", check_dwconv_i8},
        {"vector_f32", check_vector_f32},
        {"vector_u8", check_vector_u8},
        {"winograd_f32", check_winograd_f32},
        {"winograd_i8", check_winograd_i8},
        {"planar_f32", check_planar_f32},
        {"cast", check_cast},
        {"native", check_native},
        {"fft_f32", check_fft_f32},
        {"narrow_f32", check_narrow_f32},
    };
    bool bench = false;
    const char *only = "";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0) {
            bench = true;
        } else if (strcmp(argv[i], "--thorough") == 0) {
            check_vector_f32_thorough(false);
            only = "none";
        } else {
            only = argv[i];
        }
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strstr(families[i].name, only) != NULL)
            families[i].run(bench);
    }
    report();
    if (failed > 0) {
        printf("%zu failed, %zu passed\n", failed, passed);
        return 1;
    }
    if (!bench)
        printf("%zu passed\n", passed);
    return !bench && passed == 0;
}
