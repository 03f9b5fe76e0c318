// SPDX-License-Identifier: BSD-2-Clause
// Tests the folding of specialization constants in SPIR-V: each operation, all shaders (checked by spirv-val if it is
// installed), and damaged code.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/gpu/gpu_kernels.h"
#include "backends/gpu/vulkan/spirv.h"
#include "ops/call/call.h"

#define OP(code, words) ((uint32_t)(words) << 16 | (code))
enum { BOOL = 1, UINT, FLOAT, VECTOR, A, B, TRUTH, WHOLE, RESULT, IDS };

// Folds a module with the constants A and B, where B is specialized to `b`, and a constant RESULT that is `operation`
// of the operands.
static taper_status one(uint32_t operation, uint32_t type, const uint32_t *operands, uint32_t count, uint32_t b,
                        uint32_t *result, uint32_t *code_made)
{
    uint32_t module[64] = {
        0x07230203, 0x00010000, 0,         IDS,   0,         OP(71, 4), A,     1, 0,         OP(71, 4), B,
        1,          1,          OP(20, 2), BOOL,  OP(21, 4), UINT,      32,    0, OP(22, 3), FLOAT,     32,
        OP(23, 4),  VECTOR,     UINT,      3,     OP(50, 4), UINT,      A,     7, OP(50, 4), UINT,      B,
        1,          OP(48, 3),  BOOL,      TRUTH, OP(51, 6), VECTOR,    WHOLE, A, B,         A};
    size_t at = 43, made_words = 0;
    module[at] = OP(52, 4 + count);
    module[at + 1] = type;
    module[at + 2] = RESULT;
    module[at + 3] = operation;
    memcpy(module + at + 4, operands, count * sizeof *operands);
    at += 4 + count;
    // The blocks have exactly the required sizes, so that a sanitizer detects accesses beyond their end.
    uint32_t *code = malloc(at * 4), *made = malloc(at * 4);
    assert_non_null(code);
    assert_non_null(made);
    memcpy(code, module, at * 4);
    const uint32_t values[] = {20, b};
    const taper_status status = taper_spirv_fold(&taper_allocator_system, code, at, values, 2, made, &made_words);
    if (status == TAPER_OK) {
        assert_true(made_words < at);
        const uint32_t words = type == BOOL ? 3 : 4;
        const uint32_t *last = made + made_words - words;
        assert_int_equal(last[0] >> 16, words);
        assert_int_equal(last[1], type);
        assert_int_equal(last[2], RESULT);
        *code_made = last[0] & 0xffff;
        *result = type == BOOL ? *code_made == 41 : last[3];
        assert_true(type == BOOL ? *code_made == 41 || *code_made == 42 : *code_made == 43);
    }
    free(code);
    free(made);
    return status;
}

static void operations(void **state)
{
    (void)state;
    static const struct {
        uint32_t operation, type, operands[3], count, b, wanted;
    } cases[] = {
        {128, UINT, {A, B}, 2, 3, 23},        {130, UINT, {A, B}, 2, 21, UINT32_MAX},
        {132, UINT, {A, B}, 2, 3, 60},        {134, UINT, {A, B}, 2, 3, 6},
        {137, UINT, {A, B}, 2, 3, 2},         {164, BOOL, {TRUTH, TRUTH}, 2, 0, 1},
        {165, BOOL, {TRUTH, TRUTH}, 2, 0, 0}, {166, BOOL, {TRUTH, TRUTH}, 2, 0, 1},
        {167, BOOL, {TRUTH, TRUTH}, 2, 0, 1}, {168, BOOL, {TRUTH}, 1, 0, 0},
        {169, UINT, {TRUTH, A, B}, 3, 5, 20}, {170, BOOL, {A, B}, 2, 20, 1},
        {171, BOOL, {A, B}, 2, 20, 0},        {172, BOOL, {A, B}, 2, 19, 1},
        {174, BOOL, {A, B}, 2, 21, 0},        {176, BOOL, {A, B}, 2, 21, 1},
        {178, BOOL, {A, B}, 2, 19, 0},        {194, UINT, {A, B}, 2, 2, 5},
        {196, UINT, {A, B}, 2, 2, 80},        {197, UINT, {A, B}, 2, 3, 23},
        {198, UINT, {A, B}, 2, 4, 16},        {199, UINT, {A, B}, 2, 6, 4},
        {200, UINT, {A}, 1, 0, ~20U},         {81, UINT, {WHOLE, 1}, 2, 9, 9},
        {81, UINT, {WHOLE, 2}, 2, 9, 20},
    };
    uint32_t result = 0, code = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            one(cases[i].operation, cases[i].type, cases[i].operands, cases[i].count, cases[i].b, &result, &code),
            TAPER_OK);
        if (result != cases[i].wanted) {
            fail_msg("operation %u: %u", cases[i].operation, result);
        }
    }
    // Operations without a result and unknown operations are not folded; the driver handles these operations.
    const uint32_t operands[] = {A, B}, beyond[] = {WHOLE, 3}, far[] = {A, 4000000000U}, type_of[] = {A, VECTOR};
    assert_int_equal(one(134, UINT, operands, 2, 0, &result, &code), TAPER_DECLINED);
    assert_int_equal(one(137, UINT, operands, 2, 0, &result, &code), TAPER_DECLINED);
    assert_int_equal(one(194, UINT, operands, 2, 32, &result, &code), TAPER_DECLINED);
    assert_int_equal(one(133, FLOAT, operands, 2, 1, &result, &code), TAPER_DECLINED);
    assert_int_equal(one(81, UINT, beyond, 2, 1, &result, &code), TAPER_DECLINED);
    assert_int_equal(one(128, UINT, far, 2, 1, &result, &code), TAPER_DECLINED);
    assert_int_equal(one(128, UINT, type_of, 2, 1, &result, &code), TAPER_DECLINED);
}

static void look(const uint32_t *made, size_t words)
{
    for (size_t at = 5; at < words; at += made[at] >> 16) {
        const uint32_t code = made[at] & 0xffff;
        assert_true(made[at] >> 16 != 0 && made[at] >> 16 <= words - at);
        assert_false(code >= 48 && code <= 52);
        assert_false(code == 71 && made[at + 2] == 1);
    }
}

static void validate(const char *name, const uint32_t *made, size_t words)
{
#ifdef TAPER_SPIRV_VAL
    char path[] = "/tmp/taper-spirv-XXXXXX", command[256];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, made, words * 4), words * 4);
    close(file);
    (void)snprintf(command, sizeof command, "'%s' --target-env vulkan1.1 '%s'", TAPER_SPIRV_VAL, path);
    const int found = system(command);
    unlink(path);
    if (found != 0) {
        fail_msg("%s, with its constants made plain, is not valid", name);
    }
#else
    (void)name;
    (void)made;
    (void)words;
#endif
}

static void shaders(void **state)
{
    (void)state;
    uint32_t seed = 1;
    size_t all_words = 0, left_words = 0;
    for (int kernel = 0; kernel < TAPER_GPU_KERNEL_COUNT; kernel++) {
        for (int texels = 0; texels < 2; texels++) {
            taper_gpu_shader shader;
            if (taper_gpu_vulkan_shaders[2 * kernel + texels].bytes == 0) {
                continue;
            }
            assert_int_equal(taper_gpu_shader_load(&taper_allocator_system, taper_gpu_vulkan_shaders,
                                                   (taper_gpu_kernel)kernel, texels != 0, &shader),
                             TAPER_OK);
            uint32_t *made = malloc(shader.bytes), values[TAPER_GPU_CONSTANTS];
            assert_non_null(made);
            for (int round = 0; round < 8; round++) {
                for (size_t i = 0; i < TAPER_GPU_CONSTANTS; i++) {
                    seed = seed * 1664525 + 1013904223;
                    values[i] = i == 0 || i == 1 || i == 20 ? 1 + (seed >> 28) / 4 : (seed >> 24) % 5;
                }
                size_t words = 0;
                assert_int_equal(taper_spirv_fold(&taper_allocator_system, shader.code, shader.bytes / 4, values,
                                                  TAPER_GPU_CONSTANTS, made, &words),
                                 TAPER_OK);
                look(made, words);
                uint32_t *cut = malloc(words * 4);
                size_t cut_words = 0;
                assert_non_null(cut);
                assert_int_equal(taper_spirv_cut(&taper_allocator_system, made, words, cut, &cut_words), TAPER_OK);
                assert_true(cut_words <= words);
                look(cut, cut_words);
                all_words += words;
                left_words += cut_words;
                if (round == 0) {
                    validate(taper_gpu_kernel_name((taper_gpu_kernel)kernel), made, words);
                }
                if (round < 2) {
                    validate(taper_gpu_kernel_name((taper_gpu_kernel)kernel), cut, cut_words);
                }
                free(cut);
            }
            free(made);
            taper_gpu_shader_free(&taper_allocator_system, &shader);
        }
    }
    print_message("%zu of %zu words are left\n", left_words, all_words);
    assert_true(left_words < all_words / 10 * 9);
}

// Tests the removal of dead code: a branch on a constant, a loop that never repeats, an unreachable block, a function
// that is never called.
static void cutting_off(void **state)
{
    (void)state;
    enum {
        VOID = 1,
        TYPE,
        TRUE,
        FALSE,
        MAIN,
        ASIDE,
        START,
        THEN,
        OTHER,
        END,
        PHI,
        CALL,
        CONDITION,
        IN,
        INNER,
        GONE,
        N
    };
#define HEAD(bound) 0x07230203, 0x00010000, 0, bound, 0, OP(15, 5), 5, MAIN, 0x6e69616d, 0
#define CONSTANTS OP(20, 2), TYPE, OP(41, 3), TYPE, TRUE, OP(42, 3), TYPE, FALSE
#define FUNCTION(id) OP(54, 5), VOID, id, 0, VOID
#define END_FUNCTION OP(56, 1)
#define RETURN OP(253, 1)
#define CUT(code, made)                                                                                                \
    assert_int_equal(taper_spirv_cut(&taper_allocator_system, code, sizeof(code) / sizeof *(code), made, &made_words), \
                     TAPER_OK)
    uint32_t made[128];
    size_t made_words = 0;
    // clang-format off
    static const uint32_t branch[] = {
        HEAD(N), OP(71, 3), CALL, 42, OP(71, 3), PHI, 42, CONSTANTS, FUNCTION(MAIN),
        OP(248, 2), START, OP(247, 3), END, 0, OP(250, 4), FALSE, OTHER, THEN,
        OP(248, 2), THEN, OP(249, 2), END,
        OP(248, 2), OTHER, OP(57, 4), VOID, CALL, ASIDE, OP(249, 2), END,
        OP(248, 2), END, OP(245, 7), TYPE, PHI, TRUE, OTHER, FALSE, THEN, RETURN, END_FUNCTION,
        FUNCTION(ASIDE), OP(248, 2), INNER, RETURN, END_FUNCTION};
    static const uint32_t branch_cut[] = {
        HEAD(N), OP(71, 3), PHI, 42, CONSTANTS, FUNCTION(MAIN),
        OP(248, 2), START, OP(249, 2), THEN,
        OP(248, 2), THEN, OP(249, 2), END,
        OP(248, 2), END, OP(245, 5), TYPE, PHI, FALSE, THEN, RETURN, END_FUNCTION};
    // Tests a branch whose condition is not constant, and whose branches both do not reach the declared merge block.
    static const uint32_t end[] = {
        HEAD(N), CONSTANTS, FUNCTION(MAIN),
        OP(248, 2), START, OP(168, 4), TYPE, CONDITION, TRUE, OP(247, 3), END, 0, OP(250, 4), CONDITION, THEN, OTHER,
        OP(248, 2), THEN, RETURN,
        OP(248, 2), OTHER, OP(247, 3), INNER, 0, OP(250, 4), TRUE, IN, INNER,
        OP(248, 2), IN, RETURN,
        OP(248, 2), INNER, OP(249, 2), END,
        OP(248, 2), END, OP(245, 5), TYPE, PHI, TRUE, INNER, RETURN, END_FUNCTION};
    static const uint32_t end_cut[] = {
        HEAD(N), CONSTANTS, FUNCTION(MAIN),
        OP(248, 2), START, OP(168, 4), TYPE, CONDITION, TRUE, OP(247, 3), END, 0, OP(250, 4), CONDITION, THEN, OTHER,
        OP(248, 2), THEN, RETURN,
        OP(248, 2), OTHER, OP(249, 2), IN,
        OP(248, 2), IN, RETURN,
        OP(248, 2), END, OP(255, 1), END_FUNCTION};
    static const uint32_t loop[] = {
        HEAD(N), CONSTANTS, FUNCTION(MAIN),
        OP(248, 2), START, OP(249, 2), IN,
        OP(248, 2), IN, OP(246, 4), END, OTHER, 0, OP(249, 2), THEN,
        OP(248, 2), THEN, OP(247, 3), INNER, 0, OP(250, 4), TRUE, END, INNER,
        OP(248, 2), INNER, OP(249, 2), OTHER,
        OP(248, 2), OTHER, OP(249, 2), IN,
        OP(248, 2), END, RETURN, END_FUNCTION};
    // clang-format on
    CUT(branch, made);
    assert_int_equal(made_words, sizeof branch_cut / 4);
    assert_memory_equal(made, branch_cut, sizeof branch_cut);
    CUT(end, made);
    assert_int_equal(made_words, sizeof end_cut / 4);
    assert_memory_equal(made, end_cut, sizeof end_cut);
    assert_int_equal(taper_spirv_cut(&taper_allocator_system, loop, sizeof loop / 4, made, &made_words),
                     TAPER_DECLINED);
}

static void damaged_cut(const uint32_t *from, size_t words, uint32_t *seed, int round)
{
    static const uint8_t codes[] = {41, 42, 54, 56, 57, 71, 245, 246, 247, 248, 249, 250, 251, 255};
    const uint32_t values[4] = {1, 2, 3, 4};
    uint32_t *folded = malloc(words * 4);
    size_t end = 0, made_words = 0;
    assert_non_null(folded);
    assert_int_equal(taper_spirv_fold(&taper_allocator_system, from, words, values, 4, folded, &end), TAPER_OK);
    for (int change = 0; change < 4; change++) {
        *seed = *seed * 1664525 + 1013904223;
        const size_t at = (*seed >> 8) % end;
        *seed = *seed * 1664525 + 1013904223;
        const uint32_t other = folded[(*seed >> 8) % end];
        folded[at] = round % 3 == 0   ? *seed
                     : round % 3 == 1 ? other
                                      : (folded[at] & 0xffff0000) | codes[(*seed >> 8) % sizeof codes];
    }
    end = round % 5 == 0 ? (*seed >> 8) % end : end;
    // Exact sizes, so that a sanitizer detects accesses beyond the end.
    uint32_t *code = malloc(end * 4 + 4), *made = malloc(end * 4);
    assert_non_null(code);
    assert_true(made != NULL || end == 0);
    memcpy(code, folded, end * 4);
    const taper_status status = taper_spirv_cut(&taper_allocator_system, code, end, made, &made_words);
    assert_true(status == TAPER_OK || status == TAPER_DECLINED || status == TAPER_ERROR_RESOURCE);
    assert_true(made_words <= end);
    free(code);
    free(made);
    free(folded);
}

// Changes any word, and truncates the code anywhere. No access may be out of bounds.
static void damage(void **state)
{
    (void)state;
    taper_gpu_shader shader;
    assert_int_equal(taper_gpu_shader_load(&taper_allocator_system, taper_gpu_vulkan_shaders,
                                           TAPER_GPU_KERNEL_ELEMENTWISE, false, &shader),
                     TAPER_OK);
    const size_t words = shader.bytes / 4;
    const uint32_t values[4] = {1, 2, 3, 4};
    uint32_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        seed = seed * 1664525 + 1013904223;
        const size_t end = round % 3 == 0 ? (seed >> 8) % words : words;
        uint32_t *code = malloc(end * 4 + 4), *made = malloc(end * 4 + 4);
        size_t made_words = 0;
        assert_non_null(code);
        assert_non_null(made);
        memcpy(code, shader.code, end * 4);
        for (int change = 0; change < 4 && end != 0; change++) {
            seed = seed * 1664525 + 1013904223;
            const size_t at = (seed >> 8) % (end < 1500 ? end : 1500);
            seed = seed * 1664525 + 1013904223;
            code[at] = round % 2 == 0 ? seed : (code[at] & 0xffff0000) | (40 + (seed >> 8) % 13);
        }
        const taper_status status = taper_spirv_fold(&taper_allocator_system, code, end, values, 4, made, &made_words);
        assert_true(status == TAPER_OK || status == TAPER_DECLINED || status == TAPER_ERROR_RESOURCE);
        assert_true(status != TAPER_OK || made_words <= end);
        damaged_cut(shader.code, words, &seed, round);
        free(code);
        free(made);
    }
    taper_gpu_shader_free(&taper_allocator_system, &shader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations), cmocka_unit_test(shaders),
                                       cmocka_unit_test(cutting_off), cmocka_unit_test(damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
