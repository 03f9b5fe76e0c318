// SPDX-License-Identifier: BSD-2-Clause
// Tests half precision on the CPU: results of whole networks compared with float results, for each instruction set of
// this machine; half the memory for weights; runs without allocations; separate packed weights for each precision.
#define _POSIX_C_SOURCE 200809L // needed for mkdtemp
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"
#include "tests/cpu_mask.h"

// Networks whose layers sum in half precision.
static const test_call networks[] = {
    {"classifier.ptl", "forward", "f1,3,96,96", TAPER_OK, false},
    {"classifier.ptl", "forward", "f3,3,96,96", TAPER_OK, false},
    {"segmenter.ptl", "forward", "f1,3,64,64", TAPER_OK, false},
    {"s01_convnet.ptl", "forward", "f1,3,10,12", TAPER_OK, false},
    {"s01_convnet.pt", "forward", "f2,3,10,12", TAPER_OK, false},
    {"s11_xnnpack.ptl", "forward", "f1,3,10,12", TAPER_OK, false},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

// The outcome of one run: the result, and the size of the packed weights in bytes.
typedef struct answer {
    taper_value *result;
    size_t packed;
} answer;

static answer ask(const test_call *call, const char *precision, uint64_t mask, int low_memory, const char *directory)
{
    taper_error *error = taper_error_create();
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = say_nothing, .cpu_mask = mask, .cache_dir = directory};
    load_text said;
    assert_int_equal(load_text_read(&said, "cpu", NULL, precision, error), TAPER_OK);
    said.options.compiler = taper_compiler();
    said.options.flags = low_memory ? TAPER_LOAD_LOW_MEMORY : 0;
    char path[512];
    taper_context *context;
    taper_model *model;
    taper_session *session;
    answer a = {NULL, 0};
    test_path(call->file, path, sizeof path);
    assert_int_equal(taper_context_create(&options, &context, error), TAPER_OK);
    if (taper_model_load(context, path, &said.options, &model, error) != TAPER_OK) {
        fail_msg("%s: %s", call->file, taper_error_message(error));
    }
    assert_int_equal(taper_session_create(model, NULL, &session, error), TAPER_OK);
    taper_memory_info info = {.struct_size = sizeof info};
    for (size_t run = 0; run < 3; run++) {
        taper_value *result;
        if (test_run(context, session, call, &result, error) != TAPER_OK) {
            fail_msg("%s, %s: %s", call->file, precision, taper_error_message(error));
        }
        assert_true(a.result == NULL || test_same(a.result, result));
        taper_value_release(a.result);
        a.result = result;
        taper_session_memory(session, &info);
    }
    assert_int_equal(info.allocator_calls, 0);
    a.packed = info.packed_bytes;
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    return a;
}

// Returns the tolerance. The rounding errors of a layer's weights and inputs are independent, so a sum of them is only
// a few times as large as one error. arm64 adds 64 products of fp16 at a time in fp16, and rounds each of these
// additions.
static double allowed_fp16(void)
{
    const char *set;
    for (size_t i = 0; (set = taper_instruction_set(i, NULL)) != NULL; i++) {
        if (strcmp(set, "neonfp16") == 0) {
            return 16;
        }
    }
    return 4;
}

static void results_are_near(void **state)
{
    (void)state;
    const double allowed[] = {4, allowed_fp16()};
    uint64_t mask = test_cpu_mask();
    const char *set = "all";
    for (size_t i = 0; set != NULL; set = taper_instruction_set(i++, &mask)) {
        for (size_t n = 0; n < NETWORKS; n++) {
            const answer floats = ask(&networks[n], "fp32", mask, 1, NULL);
            static const struct {
                const char *name;
                double half_ulp;
            } halves[] = {{"bf16", 0x1p-9}, {"fp16", 0x1p-12}};
            for (size_t h = 0; h < 2; h++) {
                const answer a = ask(&networks[n], halves[h].name, mask, 1, NULL);
                const double found = test_difference(floats.result, a.result) / halves[h].half_ulp;
                if (found > allowed[h] || found < 0.01) {
                    fail_msg("%s %s in %s with %s: %g roundings away from floats", networks[n].file, networks[n].args,
                             halves[h].name, set, found);
                }
                taper_value_release(a.result);
            }
            taper_value_release(floats.result);
        }
    }
}

// Recurrent layers also multiply in half precision, or in float32 if the CPU cannot multiply half floats.
static void steps_are_near(void **state)
{
    (void)state;
    static const test_call calls[] = {{"recurrent.ptl", "forward", "f1,9,12", TAPER_OK, false},
                                      {"recurrent.ptl", "forward", "f17,3,12", TAPER_OK, false}};
    uint64_t mask = test_cpu_mask();
    const char *set = "all";
    for (size_t i = 0; set != NULL; set = taper_instruction_set(i++, &mask)) {
        for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
            const answer floats = ask(&calls[n], "fp32", mask, 0, NULL), bf16 = ask(&calls[n], "bf16", mask, 0, NULL),
                         fp16 = ask(&calls[n], "fp16", mask, 0, NULL);
            const double of_bf16 = test_difference(floats.result, bf16.result) / 0x1p-9;
            const double of_fp16 = test_difference(floats.result, fp16.result) / 0x1p-12;
            if (!(of_bf16 <= 4) || !(of_fp16 <= allowed_fp16())) {
                fail_msg("%s with %s: %g and %g roundings away from floats", calls[n].args, set, of_bf16, of_fp16);
            }
            taper_value_release(floats.result);
            taper_value_release(bf16.result);
            taper_value_release(fp16.result);
        }
    }
}

static void weights_are_halved(void **state)
{
    (void)state;
    for (size_t n = 0; n < 3; n++) {
        const answer floats = ask(&networks[n], NULL, test_cpu_mask(), 1, NULL);
        static const char *const names[] = {"bf16", "fp16"};
        for (size_t h = 0; h < 2; h++) {
            const answer a = ask(&networks[n], names[h], test_cpu_mask(), 1, NULL);
            if ((double)a.packed > 0.6 * (double)floats.packed) {
                fail_msg("%s in %s: %zu bytes of packed weights, of floats %zu", networks[n].file, names[h], a.packed,
                         floats.packed);
            }
            taper_value_release(a.result);
        }
        taper_value_release(floats.result);
    }
}

static void kept_packs_are_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"fp32", "bf16", "fp16"};
    char directory[] = "cache-XXXXXX", pattern[64];
    assert_non_null(mkdtemp(directory));
    for (size_t round = 0; round < 2; round++) {
        for (size_t p = 0; p < 3; p++) {
            const answer made = ask(&networks[0], names[p], test_cpu_mask(), 0, NULL);
            const answer kept = ask(&networks[0], names[p], test_cpu_mask(), 0, directory);
            assert_true(test_same(made.result, kept.result));
            taper_value_release(made.result);
            taper_value_release(kept.result);
        }
    }
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s/taper-*.packs", directory);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 3);
    globfree(&found);
    (void)snprintf(pattern, sizeof pattern, "%s/taper-*",
                   // Removes packed weights, and the file with the result of the packed weights' check; this file
                   // exists only if the check took long.
                   directory);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        assert_int_equal(unlink(found.gl_pathv[i]), 0);
    }
    globfree(&found);
    assert_int_equal(rmdir(directory), 0);
}

// The float reference must not be computed in half precision.
static void the_reference_has_floats(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_value *results[2];
    for (size_t i = 0; i < 2; i++) {
        const taper_load_options load = {.struct_size = sizeof load,
                                         .flags = TAPER_LOAD_REFERENCE,
                                         .precision = i == 0 ? TAPER_PRECISION_BF16 : TAPER_PRECISION_FP32};
        char path[512];
        taper_model *model;
        taper_session *session;
        test_path(networks[3].file, path, sizeof path);
        assert_int_equal(taper_model_load(context, path, &load, &model, NULL), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        assert_int_equal(test_run(context, session, &networks[3], &results[i], NULL), TAPER_OK);
        taper_session_destroy(session);
        taper_model_release(model);
    }
    assert_true(test_same(results[0], results[1]));
    taper_value_release(results[0]);
    taper_value_release(results[1]);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_near), cmocka_unit_test(steps_are_near),
                                       cmocka_unit_test(weights_are_halved), cmocka_unit_test(kept_packs_are_apart),
                                       cmocka_unit_test(the_reference_has_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
