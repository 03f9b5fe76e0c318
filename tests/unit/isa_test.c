// SPDX-License-Identifier: BSD-2-Clause
// Tests the rows of isa_list.inc: bits, requirements, kernel files; which sets a list of names allows, and which
// kernels are selected for it.
#include "platform/isa.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/kernels/kernel_select.h"
#include "tests/api/fixture.h"
#include "tools/common/cpu_names.h"

static const struct {
    const char *key, *architecture;
    uint64_t bit, needs;
} rows[] = {
#define ISA(key, architecture, bit, needs, probe, flags, hints) {#key, #architecture, bit, needs},
#include "platform/isa_list.inc"
#undef ISA
};
enum { ROWS = sizeof rows / sizeof *rows };

// Family and instruction set of every kernel in the lists of kernels.
static const struct {
    const char *family, *key;
} kernels[] = {
#define FIRST_WORD(word, ...) #word
#define KERNEL(...) {FAMILY, FIRST_WORD(__VA_ARGS__, )},
#define KERNEL_TAPS(isa, block, over_read)
#define FAMILY "gemm_f32"
#include "ops/kernels/gemm_f32_list.inc"
#undef FAMILY
#define FAMILY "gemm_half"
#include "ops/kernels/gemm_half_list.inc"
#undef FAMILY
#define FAMILY "gemm_i8"
#include "ops/kernels/gemm_i8_list.inc"
#undef FAMILY
#define FAMILY "dwconv_f32"
#include "ops/kernels/dwconv_f32_list.inc"
#undef FAMILY
#define FAMILY "dwconv_i8"
#include "ops/kernels/dwconv_i8_list.inc"
#undef FAMILY
#define FAMILY "winograd_f32"
#include "ops/kernels/winograd_f32_list.inc"
#undef FAMILY
#define FAMILY "winograd_i8"
#include "ops/kernels/winograd_i8_list.inc"
#undef FAMILY
#define FAMILY "planar_f32"
#include "ops/kernels/planar_f32_list.inc"
#undef FAMILY
#define FAMILY "vector_f32"
#include "ops/kernels/vector_f32_list.inc"
#undef FAMILY
#define FAMILY "vector_u8"
#include "ops/kernels/vector_u8_list.inc"
#undef FAMILY
#define FAMILY "cast"
#include "ops/kernels/cast_list.inc"
#undef FAMILY
#define FAMILY "native"
#include "ops/kernels/native_list.inc"
#undef FAMILY
#define FAMILY "fft_f32"
#include "ops/kernels/fft_f32_list.inc"
#undef FAMILY
#define FAMILY "narrow_f32"
#include "ops/kernels/narrow_f32_list.inc"
#undef FAMILY
#undef KERNEL
#undef KERNEL_TAPS
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void bits_are_apart(void **state)
{
    (void)state;
    uint64_t seen = 0;
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(rows[i].bit & (rows[i].bit - 1), 0);
        assert_true(rows[i].bit != 0 || strcmp(rows[i].key, "scalar") == 0);
        assert_int_equal(rows[i].bit & seen, 0);
        assert_int_equal(rows[i].needs & ~seen, 0); // a set may require only earlier sets
        seen |= rows[i].bit;
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(rows[i].key, rows[k].key);
            if ((rows[i].needs & rows[k].bit) != 0) { // a set must also require what its required sets require
                assert_int_equal(rows[k].needs & ~rows[i].needs, 0);
                if (strcmp(rows[i].architecture, "x64") != 0 || strcmp(rows[k].architecture, "x86") != 0) {
                    assert_string_equal(rows[i].architecture, rows[k].architecture);
                }
            }
        }
    }
    assert_int_equal(seen & TAPER_CPU_NONE, 0);
}

static void bits_of_the_header(void **state)
{
    (void)state;
    assert_int_equal(TAPER_ISA_avx2, TAPER_CPU_AVX2);
    assert_int_equal(TAPER_ISA_avx512, TAPER_CPU_AVX512);
    assert_int_equal(TAPER_ISA_avx512vnni, TAPER_CPU_AVX512VNNI);
    assert_int_equal(TAPER_ISA_neon, TAPER_CPU_NEON);
    assert_int_equal(TAPER_ISA_neondot, TAPER_CPU_NEON_DOT);
    assert_int_equal(TAPER_ISA_neoni8mm, TAPER_CPU_NEON_I8MM);
    assert_int_equal(TAPER_ISA_neonfp16, TAPER_CPU_NEON_FP16);
    assert_int_equal(TAPER_ISA_neonbf16, TAPER_CPU_NEON_BF16);
    assert_int_equal(TAPER_ISA_avx512bf16, TAPER_CPU_AVX512BF16);
    assert_int_equal(TAPER_ISA_amx, TAPER_CPU_AMX);
}

static const char kernel_folder[] = TEST_UNIT_DATA "/../../../src/ops/kernels";

static const char *folder_of(size_t row)
{
    return strcmp(rows[row].architecture, "any") == 0 ? "scalar" : rows[row].architecture;
}

static size_t row_of(const char *key)
{
    size_t i = 0;
    while (i < ROWS && strcmp(rows[i].key, key) != 0) {
        i++;
    }
    return i;
}

static void rows_have_files(void **state)
{
    (void)state;
    bool used[ROWS] = {false};
    char path[1024];
    for (size_t i = 0; i < KERNELS; i++) {
        const size_t row = row_of(kernels[i].key);
        assert_true(row < ROWS);
        used[row] = true;
        snprintf(path, sizeof path, "%s/%s/%s_%s.c", kernel_folder, folder_of(row), kernels[i].family, kernels[i].key);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            fail_msg("there is no %s", path);
        }
        fclose(file);
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (!used[i]) {
            fail_msg("no kernel is of \"%s\"", rows[i].key);
        }
    }
}

// A kernel file whose set has no row would not be compiled.
static void files_have_rows(void **state)
{
    (void)state;
    size_t files = 0;
    for (size_t i = 0; i < ROWS; i++) {
        char path[1024], name[64];
        snprintf(path, sizeof path, "%s/%s", kernel_folder, folder_of(i));
        DIR *folder = opendir(path);
        assert_non_null(folder);
        for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            const size_t length = strlen(entry->d_name);
            bool known = length < 2 || strcmp(entry->d_name + length - 2, ".c") != 0 ||
                         (length > 7 && strcmp(entry->d_name + length - 7, "_pack.c") == 0);
            for (size_t k = 0; k < KERNELS && !known; k++) {
                snprintf(name, sizeof name, "%s_%s.c", kernels[k].family, kernels[k].key);
                known = strcmp(name, entry->d_name) == 0;
                files += known;
            }
            if (!known) {
                fail_msg("%s/%s: no row of a list stands for it", path, entry->d_name);
            }
        }
        closedir(folder);
    }
    assert_true(files > 0);
}

// ---- masks of instruction sets

static bool parse(const char *names, uint64_t *mask)
{
    char message[512];
    return cpu_names_parse(names, mask, message, sizeof message);
}

static bool is_there(size_t row)
{
    uint64_t mask;
    return parse(rows[row].key, &mask);
}

static void sets_allow_what_they_need(void **state)
{
    (void)state;
    size_t there = 0;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t mask = 1;
        if (!is_there(i)) {
            assert_int_not_equal(taper_cpu_features() & rows[i].bit, rows[i].bit);
            continue;
        }
        assert_string_equal(taper_instruction_set(there, NULL), rows[i].key);
        assert_string_equal(taper_instruction_set(there++, &mask), rows[i].key);
        assert_true(mask == (TAPER_CPU_NONE | rows[i].bit | rows[i].needs));
        const taper_context_options options = {.struct_size = sizeof options, .threads = 1, .cpu_mask = mask};
        taper_context *context;
        assert_int_equal(taper_context_create(&options, &context, NULL), TAPER_OK);
        assert_true(taper_context_cpu_features(context) == (taper_cpu_features() & (rows[i].bit | rows[i].needs)));
        taper_context_release(context);
    }
    assert_true(there > 0 && is_there(0)); // the row of scalar always exists
    assert_null(taper_instruction_set(there, NULL));
}

static void several_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        char names[64];
        uint64_t mask;
        if (is_there(i)) {
            snprintf(names, sizeof names, "scalar,%s", rows[i].key);
            assert_true(parse(names, &mask));
            assert_true(mask == (TAPER_CPU_NONE | rows[i].bit | rows[i].needs));
        }
    }
}

static void other_names_are_errors(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",       "avx1024", "scalar,",     ",scalar", "scalar,,scalar",
                                        "Scalar", "scalar ", "scalar2,avx", "scala",   "scalar,scalars"};
    char message[512];
    uint64_t mask;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(cpu_names_parse(wrong[i], &mask, message, sizeof message));
        const char *there = strstr(message, "there are: ");
        assert_non_null(there);
        for (size_t k = 0; k < ROWS; k++) {
            if (is_there(k)) {
                assert_non_null(strstr(there, rows[k].key));
            }
        }
    }
    // Names of other architectures are refused.
    size_t foreign = 0;
    for (size_t i = 0; i < ROWS; i++) {
        foreign += !is_there(i);
    }
    assert_true(foreign > 0);
    // Tests a name that is longer than the message.
    char long_name[1000];
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    assert_false(cpu_names_parse(long_name, &mask, message, sizeof message));
    assert_non_null(strstr(message, "there are: scalar"));
}

// The selected kernel must be the first row of its list that the mask allows and this build has.
static void best_kernel_is_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t mask;
        if (!parse(rows[i].key, &mask)) {
            continue;
        }
        const uint64_t cpu = taper_cpu_features() & mask;
        const char *gemm_f32 = NULL, *gemm_halves[] = {"", NULL, NULL}, *gemm_i8 = NULL, *vector_f32 = NULL;
#define FIRST(best, isa, name)                                                                                         \
    if ((best) == NULL && (cpu & TAPER_ISA_##isa) == TAPER_ISA_##isa)                                                  \
        (best) = (name);
#define KERNEL(isa, tile, ...) FIRST(gemm_f32, isa, #tile "_" #isa)
#include "ops/kernels/gemm_f32_list.inc"
#undef KERNEL
#define KERNEL(isa, precision, tile, ...)                                                                              \
    FIRST(gemm_halves[TAPER_PRECISION_##precision], isa, #precision "_" #tile "_" #isa)
#include "ops/kernels/gemm_half_list.inc"
#undef KERNEL
#define KERNEL(isa, tile, ...) FIRST(gemm_i8, isa, #tile "_" #isa)
#include "ops/kernels/gemm_i8_list.inc"
#undef KERNEL
#define KERNEL(isa) FIRST(vector_f32, isa, #isa)
#include "ops/kernels/vector_f32_list.inc"
#undef KERNEL
        assert_string_equal(taper_gemm_f32_select(cpu)->name, gemm_f32);
        assert_ptr_equal(taper_gemm_select(cpu, TAPER_PRECISION_fp32), taper_gemm_f32_select(cpu));
        assert_string_equal(taper_gemm_select(cpu, TAPER_PRECISION_fp16)->name, gemm_halves[TAPER_PRECISION_fp16]);
        assert_string_equal(taper_gemm_select(cpu, TAPER_PRECISION_bf16)->name, gemm_halves[TAPER_PRECISION_bf16]);
        assert_string_equal(taper_gemm_i8_select(cpu)->name, gemm_i8);
        assert_string_equal(taper_vector_f32_select(cpu)->name, vector_f32);
        // No selected kernel may need an instruction set that the mask does not allow.
        const uint64_t above = ~(rows[i].bit | rows[i].needs);
        assert_int_equal(
            (taper_dwconv_taps_f32_select(cpu)->cpu | taper_dwconv_i8_select(cpu)->cpu |
             taper_vector_u8_select(cpu)->cpu | taper_gemm_f32_select(cpu)->cpu |
             taper_gemm_select(cpu, TAPER_PRECISION_fp16)->cpu | taper_gemm_select(cpu, TAPER_PRECISION_bf16)->cpu |
             taper_gemm_i8_select(cpu)->cpu | taper_vector_f32_select(cpu)->cpu | taper_cast_select(cpu)->cpu |
             taper_native_select(cpu)->cpu | taper_fft_f32_select(cpu)->cpu | taper_narrow_f32_select(cpu)->cpu) &
                above,
            0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_apart),
                                       cmocka_unit_test(bits_of_the_header),
                                       cmocka_unit_test(rows_have_files),
                                       cmocka_unit_test(files_have_rows),
                                       cmocka_unit_test(sets_allow_what_they_need),
                                       cmocka_unit_test(several_names),
                                       cmocka_unit_test(other_names_are_errors),
                                       cmocka_unit_test(best_kernel_is_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
