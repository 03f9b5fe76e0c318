// SPDX-License-Identifier: BSD-2-Clause
// Tests that results do not change: later runs, which reuse memory of earlier runs, must not write to results that the
// caller still holds. Results must also survive the session, model and context. Sizes alternate so that plans are
// recorded, replayed, abandoned and dropped. The allocator overwrites freed memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

enum { MOST_CALLS = 40 };

typedef struct bytes {
    unsigned char *data;
    size_t count, capacity;
} bytes;

static void put(bytes *to, const void *data, size_t count)
{
    if (to->count + count > to->capacity) {
        to->capacity = 2 * (to->count + count);
        to->data = realloc(to->data, to->capacity);
        assert_non_null(to->data);
    }
    memcpy(to->data + to->count, data, count);
    to->count += count;
}

static void put_elements(bytes *to, const taper_tensor_info *info, size_t dim, const char *at)
{
    const size_t item = taper_dtype_size(info->dtype);
    if (dim == info->rank) {
        put(to, at, item);
        return;
    }
    for (int64_t i = 0; i < info->sizes[dim]; i++) {
        put_elements(to, info, dim + 1, at + i * info->strides[dim] * (int64_t)item);
    }
}

// Appends kind, sizes, strides, elements and text of everything in the value.
static void put_value(bytes *to, const taper_value *value)
{
    const taper_kind kind = taper_value_kind(value);
    put(to, &kind, sizeof kind);
    if (kind == TAPER_KIND_TENSOR) {
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
        put(to, info.sizes, info.rank * sizeof *info.sizes);
        put(to, info.strides, info.rank * sizeof *info.strides);
        put_elements(to, &info, 0, info.data);
    } else if (kind == TAPER_KIND_STRING) {
        const char *text;
        size_t length;
        assert_int_equal(taper_value_get_string(value, &text, &length, NULL), TAPER_OK);
        put(to, text, length);
    } else if (kind == TAPER_KIND_INT) {
        int64_t number;
        assert_int_equal(taper_value_get_int(value, &number, NULL), TAPER_OK);
        put(to, &number, sizeof number);
    } else if (kind == TAPER_KIND_LIST || kind == TAPER_KIND_TUPLE || kind == TAPER_KIND_DICT) {
        for (size_t i = 0; i < taper_value_count(value); i++) {
            taper_value *item = NULL;
            assert_int_equal(taper_value_item(value, i, &item, NULL), TAPER_OK);
            put_value(to, item);
            taper_value_release(item);
        }
    }
}

static void check(const taper_value *value, const bytes *before)
{
    bytes now = {NULL, 0, 0};
    put_value(&now, value);
    assert_int_equal(now.count, before->count);
    assert_memory_equal(now.data, before->data, now.count);
    free(now.data);
}

// data/diverging.ptl is made by `test_apps.py --forms script --filter diverging --write DIR`.
static taper_status load(taper_context *context, const char *file, bool optimized, taper_model **model)
{
    if (strcmp(file, "diverging.ptl") != 0) {
        return test_load(context, file, optimized, model, NULL);
    }
    const taper_load_options options = {.struct_size = sizeof options, .compiler = optimized ? taper_compiler() : NULL};
    return taper_model_load(context, TEST_MODELS "/diverging.ptl", &options, model, NULL);
}

// Runs a model repeatedly. args: the arguments of each call as text (fixture.h), ended by NULL. pure: true if calls
// with equal arguments must give equal results.
static void run_all(const char *file, const char *const *args, bool optimized, bool pure)
{
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, 1);
    taper_model *model;
    taper_session *session;
    assert_int_equal(load(context, file, optimized, &model), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    taper_value *results[MOST_CALLS] = {NULL};
    bytes before[MOST_CALLS];
    memset(before, 0, sizeof before);
    size_t count = 0;
    for (; args[count] != NULL && count < MOST_CALLS; count++) {
        const test_call call = {file, "forward", args[count], TAPER_OK, false};
        assert_int_equal(test_run(context, session, &call, &results[count], NULL), TAPER_OK);
        put_value(&before[count], results[count]);
        for (size_t i = 0; i <= count; i++) {
            check(results[i], &before[i]);
            if (pure && strcmp(args[i], args[count]) == 0) {
                assert_int_equal(before[i].count, before[count].count);
                assert_memory_equal(before[i].data, before[count].data, before[i].count);
            }
        }
        if (count % 5 == 4) { // some results are released between runs
            taper_value_release(results[count - 3]);
            results[count - 3] = taper_value_retain(results[count]);
            free(before[count - 3].data);
            memset(&before[count - 3], 0, sizeof before[0]);
            put_value(&before[count - 3], results[count - 3]);
            pure = false; // from now on, calls with equal arguments may give different results
        }
    }
    taper_session_trim(session);
    for (size_t i = 0; i < count; i++) {
        check(results[i], &before[i]);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    for (size_t i = 0; i < count; i++) {
        check(results[i], &before[i]);
    }
    for (size_t i = 0; i < count; i++) {
        taper_value_release(results[i]);
        free(before[i].data);
    }
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

static void run_both(const char *file, const char *const *args, bool pure)
{
    run_all(file, args, true, pure);
    run_all(file, args, false, pure);
}

static void images(void **state)
{
    (void)state;
    static const char *const sizes[] = {"f1,3,10,12", "f1,3,10,12", "f2,3,8,8",   "f1,3,10,12",
                                        "f1,3,10,12", "f2,3,8,8",   "f2,3,8,8",   "f3,3,16,9",
                                        "f1,3,10,12", "f3,3,16,9",  "f1,3,10,12", NULL};
    static const char *const files[] = {"s01_convnet.ptl", "s02_traced.ptl", "s11_xnnpack.ptl",
                                        "s13_vulkan.ptl",  "s14_metal.ptl",  "s01_convnet.fb.ptl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        // A traced model accepts only the sizes of its trace.
        static const char *const traced[] = {"f1,3,10,12", "f1,3,10,12", "f1,3,10,12", "f1,3,10,12", NULL};
        run_both(files[i], strstr(files[i], "traced") != NULL ? traced : sizes, true);
    }
    static const char *const fixed[] = {"f1,3,96,96", "f1,3,96,96", "f1,3,96,96", NULL};
    run_both("classifier.ptl", fixed, true);
    static const char *const masks[] = {"f1,3,64,64", "f1,3,64,64", "f1,3,48,64", "f1,3,64,64", "f1,3,48,64", NULL};
    run_both("segmenter.ptl", masks, true);
}

// The shapes are equal, but different branches run: values that the plan would free are returned or kept.
static void control_flow(void **state)
{
    (void)state;
    static const char *const flow[] = {"f2,3 i4 b1", "f2,3 i4 b1", "f2,3 i5 b0", "f2,3 i1 b1",
                                       "f2,3 i4 b1", "f2,3 i5 b0", "f3,3 i4 b1", "f2,3 i4 b0",
                                       "f2,3 i9 b1", "f2,3 i4 b1", NULL};
    static const char *const files[] = {"s03_control_flow.ptl", "s03_control_flow.bc4.ptl", "s03_control_flow.fb.ptl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        run_both(files[i], flow, true);
    }
    static const char *const containers[] = {"f3,4", "f3,4", "f2,4", "f3,4", "f2,4", NULL};
    run_both("s04_containers.ptl", containers, true);
    static const char *const mix[] = {"f1,2,8 f3,4", "f1,2,8 f3,4", "f1,2,8 f5,4", "f1,2,8 f3,4", NULL};
    run_both("s12_xnnpack_mix.ptl", mix, true);
}

static void diverging(void **state)
{
    (void)state;
    static const char *const modes[] = {"f1,2,5,5 i0", "f1,2,5,5 i0", "f1,2,5,5 i2", "f1,2,5,5 i0", "f1,2,5,5 i1",
                                        "f1,2,5,5 i3", "f1,2,5,5 i4", "f1,2,5,5 i4", "f2,2,5,5 i2", "f1,2,5,5 i2",
                                        "f2,2,5,5 i2", "f1,2,5,5 i0", "f1,2,5,5 i1", "f1,2,5,5 i4", "f2,2,5,5 i1",
                                        "f2,2,5,5 i4", "f2,2,5,5 i0", "f1,2,5,5 i3", "f1,2,5,5 i0", "f1,2,5,5 i0",
                                        "f1,2,5,5 i4", "f1,2,5,5 i2", "f1,2,5,5 i2", NULL};
    run_both("diverging.ptl", modes, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images), cmocka_unit_test(control_flow),
                                       cmocka_unit_test(diverging)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
