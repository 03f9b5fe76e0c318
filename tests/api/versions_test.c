// SPDX-License-Identifier: BSD-2-Clause
// Tests promises to programs compiled with another version of the headers: numbers, the order of members, and structs
// with fewer members.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_inspect.h>
#include <taper/taper_memory.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

// ---- numbers of enumerators

static void numbers_of_dtypes(void **state)
{
    (void)state;
    static const struct { // each dtype with its number in PyTorch's c10/core/ScalarType.h
        taper_dtype dtype;
        int number;
        const char *name;
        size_t size;
    } rows[] = {
        {TAPER_U8, 0, "uint8", 1},       {TAPER_I8, 1, "int8", 1},           {TAPER_I16, 2, "int16", 2},
        {TAPER_I32, 3, "int32", 4},      {TAPER_I64, 4, "int64", 8},         {TAPER_F16, 5, "float16", 2},
        {TAPER_F32, 6, "float32", 4},    {TAPER_F64, 7, "float64", 8},       {TAPER_C32, 8, "complex32", 4},
        {TAPER_C64, 9, "complex64", 8},  {TAPER_C128, 10, "complex128", 16}, {TAPER_BOOL, 11, "bool", 1},
        {TAPER_QI8, 12, "qint8", 1},     {TAPER_QU8, 13, "quint8", 1},       {TAPER_QI32, 14, "qint32", 4},
        {TAPER_BF16, 15, "bfloat16", 2}, {TAPER_QU4X2, 16, "quint4x2", 0},   {TAPER_QU2X4, 17, "quint2x4", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(rows[i].dtype, rows[i].number);
        assert_string_equal(taper_dtype_name(rows[i].dtype), rows[i].name);
        assert_int_equal(taper_dtype_size(rows[i].dtype), rows[i].size);
    }
    // PyTorch's later dtypes (bits1x8, …), which this version does not support, and invalid numbers.
    for (int number = 18; number < 50; number++) {
        assert_string_equal(taper_dtype_name((taper_dtype)number), "unknown dtype");
        assert_int_equal(taper_dtype_size((taper_dtype)number), 0);
    }
    assert_int_equal(taper_dtype_size((taper_dtype)-1), 0);
}

static void numbers_of_statuses_and_kinds(void **state)
{
    (void)state;
    static const int statuses[] = {
        TAPER_OK,           TAPER_ERROR_ARGUMENT, TAPER_ERROR_FILE,      TAPER_ERROR_UNSUPPORTED, TAPER_ERROR_RESOURCE,
        TAPER_ERROR_DEVICE, TAPER_ERROR_RAISED,   TAPER_ERROR_CANCELLED, TAPER_ERROR_INTERNAL};
    static const int kinds[] = {TAPER_KIND_NONE,    TAPER_KIND_BOOL,   TAPER_KIND_INT,    TAPER_KIND_DOUBLE,
                                TAPER_KIND_COMPLEX, TAPER_KIND_DEVICE, TAPER_KIND_STRING, TAPER_KIND_TENSOR,
                                TAPER_KIND_LIST,    TAPER_KIND_TUPLE,  TAPER_KIND_DICT,   TAPER_KIND_OBJECT,
                                TAPER_KIND_OTHER};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        assert_int_equal(statuses[i], i);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(kinds[i], i);
    }
}

// ---- order of members: new members are added at the end

typedef struct member {
    const char *name;
    size_t at;
} member;

#define MEMBER(type, name)                                                                                             \
    {                                                                                                                  \
#name, offsetof(type, name)                                                                                    \
    }

static const member context_members[] = {
    MEMBER(taper_context_options, struct_size), MEMBER(taper_context_options, allocator),
    MEMBER(taper_context_options, pool),        MEMBER(taper_context_options, threads),
    MEMBER(taper_context_options, log),         MEMBER(taper_context_options, log_user),
    MEMBER(taper_context_options, cpu_mask),    MEMBER(taper_context_options, cache_dir),
};
static const member load_members[] = {
    MEMBER(taper_load_options, struct_size),     MEMBER(taper_load_options, compiler),
    MEMBER(taper_load_options, flags),           MEMBER(taper_load_options, device),
    MEMBER(taper_load_options, barred_devices),  MEMBER(taper_load_options, precision),
    MEMBER(taper_load_options, settings),        MEMBER(taper_load_options, setting_count),
    MEMBER(taper_load_options, disabled_passes), MEMBER(taper_load_options, disabled_pass_count),
    MEMBER(taper_load_options, methods),         MEMBER(taper_load_options, method_count),
    MEMBER(taper_load_options, memory_limit),    MEMBER(taper_load_options, step_limit),
};
static const member session_members[] = {
    MEMBER(taper_session_options, struct_size),
    MEMBER(taper_session_options, instruction_budget),
    MEMBER(taper_session_options, time_budget),
    MEMBER(taper_session_options, memory_budget),
};
static const member optimize_members[] = {
    MEMBER(taper_optimize_options, struct_size),     MEMBER(taper_optimize_options, device),
    MEMBER(taper_optimize_options, preserve),        MEMBER(taper_optimize_options, preserve_count),
    MEMBER(taper_optimize_options, disabled_passes), MEMBER(taper_optimize_options, disabled_pass_count),
    MEMBER(taper_optimize_options, inputs),          MEMBER(taper_optimize_options, input_count),
    MEMBER(taper_optimize_options, nnapi),           MEMBER(taper_optimize_options, report),
    MEMBER(taper_optimize_options, report_user),
};
static const member save_members[] = {
    MEMBER(taper_save_options, struct_size), MEMBER(taper_save_options, bytecode),
    MEMBER(taper_save_options, flatbuffer),  MEMBER(taper_save_options, name),
    MEMBER(taper_save_options, extra_name),  MEMBER(taper_save_options, extra_data),
    MEMBER(taper_save_options, extra_size),  MEMBER(taper_save_options, debug_info),
};
static const member quantize_members[] = {
    MEMBER(taper_quantize_options, struct_size),      MEMBER(taper_quantize_options, mode),
    MEMBER(taper_quantize_options, observer),         MEMBER(taper_quantize_options, percentile),
    MEMBER(taper_quantize_options, per_channel),      MEMBER(taper_quantize_options, bias_correction),
    MEMBER(taper_quantize_options, equalize),         MEMBER(taper_quantize_options, keep_float),
    MEMBER(taper_quantize_options, keep_float_count), MEMBER(taper_quantize_options, preserve),
    MEMBER(taper_quantize_options, preserve_count),   MEMBER(taper_quantize_options, budgets),
};
static const member memory_members[] = {
    MEMBER(taper_memory_info, struct_size),    MEMBER(taper_memory_info, allocator_calls),
    MEMBER(taper_memory_info, arena_bytes),    MEMBER(taper_memory_info, pool_bytes),
    MEMBER(taper_memory_info, packed_bytes),   MEMBER(taper_memory_info, banded_calls),
    MEMBER(taper_memory_info, placed_results),
};
static const member caching_members[] = {
    MEMBER(taper_caching_info, struct_size), MEMBER(taper_caching_info, used_bytes),
    MEMBER(taper_caching_info, kept_bytes),  MEMBER(taper_caching_info, reused),
    MEMBER(taper_caching_info, fetched),
};

typedef struct user {
    taper_context *context;
    taper_model *model;
    char path[512];
} user;

static int save_nothing(void *u, const void *data, size_t size)
{
    (void)u, (void)data, (void)size;
    return 0;
}

static taper_status use_context(const user *u, const void *options)
{
    (void)u;
    taper_context *made;
    const taper_status status = taper_context_create(options, &made, NULL);
    taper_context_release(made);
    return status;
}

static taper_status use_load(const user *u, const void *options)
{
    taper_model *made;
    const taper_status status = taper_model_load(u->context, u->path, options, &made, NULL);
    taper_model_release(made);
    return status;
}

static taper_status use_session(const user *u, const void *options)
{
    taper_session *made;
    const taper_status status = taper_session_create(u->model, options, &made, NULL);
    taper_session_destroy(made);
    return status;
}

static taper_draft *draft_of(const user *u)
{
    const taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    taper_draft *draft;
    assert_int_equal(taper_draft_load(u->context, u->path, &load, &draft, NULL), TAPER_OK);
    return draft;
}

static taper_status use_optimize(const user *u, const void *options)
{
    taper_draft *draft = draft_of(u);
    const taper_status status = taper_draft_optimize(draft, options, NULL);
    taper_draft_release(draft);
    return status;
}

static taper_status use_save(const user *u, const void *options)
{
    taper_draft *draft = draft_of(u);
    const taper_status status = taper_draft_save(draft, options, save_nothing, NULL, NULL);
    taper_draft_release(draft);
    return status;
}

static taper_status use_quantize(const user *u, const void *options)
{
    const taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    taper_calibrator *made;
    const taper_status status = taper_calibrator_load(u->context, u->path, &load, options, &made, NULL);
    taper_calibrator_release(made);
    return status;
}

// Passes a struct that ends before member `end`. The library must not read the bytes after it, which have wrong values.
static void check_struct(const user *u, const char *name, const member *members, size_t count, size_t size,
                         taper_status (*use)(const user *u, const void *options))
{
    union {
        size_t struct_size;
        unsigned char bytes[256];
    } options;
    assert_true(size <= sizeof options);
    for (size_t end = 1; end <= count; end++) {
        const size_t bytes = end < count ? members[end].at : size;
        if (bytes <= members[end - 1].at) {
            fail_msg("%s.%s lies before a member that was there earlier", name, members[end].name);
        }
        if (use == NULL) {
            continue;
        }
        memset(&options, 0x55, sizeof options);
        memset(&options, 0, bytes);
        options.struct_size = bytes;
        const taper_status status = use(u, &options);
        if (status != TAPER_OK) {
            fail_msg("%s of %zu bytes, up to %s: status %d", name, bytes, members[end - 1].name, (int)status);
        }
    }
}

#define CHECK_STRUCT(type, members, use)                                                                               \
    check_struct(&u, #type, members, sizeof(members) / sizeof *(members), sizeof(type), use)

static void structs_that_end_earlier(void **state)
{
    (void)state;
    user u = {.context = test_context(NULL, 1)};
    test_path("s01_convnet.ptl", u.path, sizeof u.path);
    assert_int_equal(taper_model_load(u.context, u.path, &as_saved, &u.model, NULL), TAPER_OK);
    CHECK_STRUCT(taper_context_options, context_members, use_context);
    CHECK_STRUCT(taper_load_options, load_members, use_load);
    CHECK_STRUCT(taper_session_options, session_members, use_session);
    CHECK_STRUCT(taper_optimize_options, optimize_members, use_optimize);
    CHECK_STRUCT(taper_save_options, save_members, use_save);
    CHECK_STRUCT(taper_quantize_options, quantize_members, use_quantize);
    CHECK_STRUCT(taper_memory_info, memory_members, NULL);
    CHECK_STRUCT(taper_caching_info, caching_members, NULL);
    taper_model_release(u.model);
    taper_context_release(u.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_dtypes),
        cmocka_unit_test(numbers_of_statuses_and_kinds),
        cmocka_unit_test(structs_that_end_earlier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
