// SPDX-License-Identifier: BSD-2-Clause
#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/cpu_mask.h"
#include "tests/sample.h"

// ---- the allocator: each block has its size in front of it

enum { FRONT = 16 };

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    test_allocator *a = user;
    char *raw = ptr != NULL ? (char *)ptr - FRONT : NULL;
    if (raw != NULL) {
        size_t size;
        memcpy(&size, raw, sizeof size);
        if (size != old_size) {
            fprintf(stderr, "a block of %zu bytes was given back as %zu bytes\n", size, old_size);
            abort();
        }
    }
    if (new_size == 0) {
        if (raw != NULL) {
            atomic_fetch_sub(&a->blocks, 1u);
            atomic_fetch_sub(&a->bytes, old_size);
            memset(ptr, 0xA5, old_size); // fills the old block, so that code that still reads it gets wrong data
            free(raw);
        }
        return NULL;
    }
    const size_t call = atomic_fetch_add(&a->calls, 1u) + 1;
    if (a->fail_at != 0 && (a->fail_all ? call >= a->fail_at : call == a->fail_at)) {
        return NULL;
    }
    char *made = malloc(FRONT + new_size);
    if (made == NULL) {
        return NULL;
    }
    memcpy(made, &new_size, sizeof new_size);
    memset(made + FRONT, 0x5A, new_size);
    if (raw != NULL) {
        memcpy(made + FRONT, ptr, old_size < new_size ? old_size : new_size);
        atomic_fetch_sub(&a->bytes, old_size);
        free(raw);
    } else {
        atomic_fetch_add(&a->blocks, 1u);
    }
    const size_t now = atomic_fetch_add(&a->bytes, new_size) + new_size;
    size_t peak = atomic_load(&a->peak);
    while (now > peak && !atomic_compare_exchange_weak(&a->peak, &peak, now)) {
    }
    return made + FRONT;
}

void test_allocator_init(test_allocator *allocator)
{
    memset(allocator, 0, sizeof *allocator);
    allocator->allocator = (taper_allocator){allocator, reallocate};
}

// ---- models

#define CONVNET(file)                                                                                                  \
    {                                                                                                                  \
        file, "forward", "f1,3,10,12", TAPER_OK, false                                                                 \
    }
#define CONTROL_FLOW(file)                                                                                             \
    {file, "forward", "f2,3 i4 b1", TAPER_OK, false}, {file, "forward", "f2,3 i5 b0", TAPER_OK, false},                \
    {                                                                                                                  \
        file, "forward", "f2,3 i1 b1", TAPER_OK, false                                                                 \
    }

const test_call test_calls[] = {
    CONVNET("s01_convnet.ptl"),
    CONVNET("s01_convnet.fb.ptl"),
    CONVNET("s02_traced.ptl"),
    CONTROL_FLOW("s03_control_flow.ptl"),
    CONTROL_FLOW("s03_control_flow.bc4.ptl"),
    CONTROL_FLOW("s03_control_flow.bc7.ptl"),
    CONTROL_FLOW("s03_control_flow.fb.ptl"),
    {"s04_containers.ptl", "forward", "f3,4", TAPER_OK, false},
    {"s05_methods.ptl", "forward", "f3,2", TAPER_OK, true},
    {"s05_methods.ptl", "twice", "f3,2", TAPER_OK, true},
    {"s05_methods.ptl", "set_count", "i4", TAPER_OK, true},
    {"s05_methods.ptl", "forward", "f3,2", TAPER_OK, true},
    {"s06_raise.ptl", "forward", "f2,2 i0", TAPER_OK, false},
    {"s06_raise.ptl", "forward", "f2,2 i1", TAPER_ERROR_RAISED, false},
    {"s06_raise.ptl", "forward", "f2,2 i2", TAPER_OK, false},
    {"s06_raise.ptl", "forward", "f2,2 i3", TAPER_ERROR_RAISED, false},
    {"s06_raise.ptl", "forward", "f2 i0", TAPER_ERROR_RAISED, false},
    {"s10_dynamic.ptl", "forward", "n2,4", TAPER_OK, false},
    CONVNET("s11_xnnpack.ptl"),
    CONVNET("s11_xnnpack.fb.ptl"),
    {"s12_xnnpack_mix.ptl", "forward", "f1,2,8 f3,4", TAPER_OK, false},
    CONVNET("s13_vulkan.ptl"),
    CONVNET("s14_metal.ptl"),
    {"s15_nnapi_float.ptl", "forward", "f1,3,6,6", TAPER_OK, false},
    {"s17_bundled.ptl", "get_num_bundled_inputs", "", TAPER_OK, false},
    {"s17_bundled.ptl", "get_all_bundled_inputs", "", TAPER_OK, false},
    {"s17_bundled.ptl", "get_bundled_inputs_functions_and_info", "", TAPER_OK, false},
    {"s18_storages.ptl", "forward", "f2", TAPER_OK, false},
    {"s18_storages.fb.ptl", "forward", "f2", TAPER_OK, false},
    {"s19_versions.ptl", "forward", "l3 l3", TAPER_OK, false},
    {"s20_div_v3.ptl", "forward", "l3 l3", TAPER_OK, false},
    CONVNET("s01_convnet.pt"),
    CONTROL_FLOW("s03_control_flow.pt"),
    {"s04_containers.pt", "forward", "f3,4", TAPER_OK, false},
    {"s05_methods.pt", "forward", "f3,2", TAPER_OK, true},
    {"s05_methods.pt", "set_count", "i4", TAPER_OK, true},
    {"s06_raise.pt", "forward", "f2,2 i3", TAPER_ERROR_RAISED, false},
    CONVNET("s11_xnnpack.pt"),
    {"s18_storages.pt", "forward", "f2", TAPER_OK, false},
    {"s20_div_v3.pt", "forward", "l3 l3", TAPER_OK, false},
    {"classifier.ptl", "forward", "f1,3,96,96", TAPER_OK, false},
    {"segmenter.ptl", "forward", "f1,3,64,64", TAPER_OK, false},
    {"int8_convnet.ptl", "forward", "f1,3,12,12", TAPER_OK, false},
    {"int8_dynamic.ptl", "forward", "f3,8", TAPER_OK, false},
    {"per_channel.ptl", "forward", "f2,3,8,8", TAPER_OK, false},
};
const size_t test_call_count = sizeof test_calls / sizeof *test_calls;

size_t test_group(size_t first)
{
    size_t end = first;
    while (end < test_call_count && strcmp(test_calls[end].file, test_calls[first].file) == 0) {
        end++;
    }
    return end - first;
}

void test_path(const char *file, char *path, size_t size)
{
    const bool sample = file[0] == 's' && file[1] >= '0' && file[1] <= '9';
    const bool demo = strncmp(file, "classifier", 10) == 0 || strncmp(file, "segmenter", 9) == 0;
    snprintf(path, size, "%s/%s", sample ? TEST_SAMPLES : demo ? TEST_DEMO : TEST_MODELS, file);
}

static int read_at(void *user, uint64_t offset, void *buffer, size_t size)
{
    return fseek(user, (long)offset, SEEK_SET) != 0 || fread(buffer, 1, size, user) != size;
}

static taper_status load_memory(taper_context *context, FILE *file, long size, const taper_load_options *options,
                                taper_model **model, taper_error *error)
{
    void *bytes = malloc((size_t)size);
    if (bytes == NULL || read_at(file, 0, bytes, (size_t)size) != 0) {
        abort();
    }
    const taper_status status =
        taper_model_load_memory(context, bytes, (size_t)size, free, bytes, options, model, error);
    if (status != TAPER_OK) {
        free(bytes);
    }
    return status;
}

taper_status test_load_from(taper_context *context, const char *file, test_source source, bool optimized,
                            taper_model **model, taper_error *error)
{
    char path[1024];
    test_path(file, path, sizeof path);
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = optimized ? taper_compiler() : NULL, .device = &on_cpu};
    if (source == TEST_FILE) {
        return taper_model_load(context, path, &options, model, error);
    }
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
        abort();
    }
    const long size = ftell(stream);
    const taper_status status =
        source == TEST_MEMORY
            ? load_memory(context, stream, size, &options, model, error)
            : taper_model_load_callback(context, read_at, stream, (uint64_t)size, &options, model, error);
    (void)fclose(stream);
    return status;
}

taper_status test_load(taper_context *context, const char *file, bool optimized, taper_model **model,
                       taper_error *error)
{
    return test_load_from(context, file, TEST_FILE, optimized, model, error);
}

static taper_status make_tensor(taper_context *context, taper_dtype dtype, bool indices, const char *sizes,
                                taper_value **value, taper_error *error)
{
    int64_t numbers[TAPER_MAX_RANK];
    size_t rank = 0, count = 1;
    for (const char *p = sizes; *p != '\0' && *p != ' ' && rank < TAPER_MAX_RANK;) {
        char *end;
        numbers[rank] = strtoll(p, &end, 10);
        count *= (size_t)numbers[rank++];
        p = *end == ',' ? end + 1 : end;
    }
    const taper_status status = taper_value_tensor(context, dtype, rank, numbers, value, error);
    taper_tensor_info info = {.struct_size = sizeof info};
    if (status != TAPER_OK || taper_value_get_tensor(*value, &info, NULL) != TAPER_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        if (dtype == TAPER_F32) {
            ((float *)info.data)[i] = (float)(i * 37 % 101) / 50.0f - 1.0f;
        } else {
            ((int64_t *)info.data)[i] = indices ? (int64_t)(i * 7 % 11) : (int64_t)(i * 7) - 5;
        }
    }
    return TAPER_OK;
}

taper_status test_run(taper_context *context, taper_session *session, const test_call *call, taper_value **result,
                      taper_error *error)
{
    taper_value *inputs[8] = {NULL};
    size_t count = 0;
    taper_status status = TAPER_OK;
    *result = NULL;
    for (const char *p = call->args; *p != '\0' && status == TAPER_OK; p += strcspn(p, " "), p += *p == ' ') {
        switch (*p) {
        case 'f':
            status = make_tensor(context, TAPER_F32, false, p + 1, &inputs[count], error);
            break;
        case 'l':
        case 'n':
            status = make_tensor(context, TAPER_I64, *p == 'n', p + 1, &inputs[count], error);
            break;
        case 'i':
            status = taper_value_int(context, strtoll(p + 1, NULL, 10), &inputs[count], error);
            break;
        default:
            status = taper_value_bool(context, p[1] == '1', &inputs[count], error);
            break;
        }
        count += status == TAPER_OK;
    }
    if (status == TAPER_OK) {
        status = taper_session_run(session, call->method, inputs, count, result, error);
    }
    for (size_t i = 0; i < count; i++) {
        taper_value_release(inputs[i]);
    }
    return status;
}

// ---- comparing values

static bool same_elements(const taper_tensor_info *a, const taper_tensor_info *b, size_t dim, int64_t at_a,
                          int64_t at_b)
{
    const size_t item = taper_dtype_size(a->dtype);
    if (dim == a->rank) {
        return memcmp((const char *)a->data + at_a * (int64_t)item, (const char *)b->data + at_b * (int64_t)item,
                      item) == 0;
    }
    for (int64_t i = 0; i < a->sizes[dim]; i++) {
        if (!same_elements(a, b, dim + 1, at_a + i * a->strides[dim], at_b + i * b->strides[dim])) {
            return false;
        }
    }
    return true;
}

static bool same_tensors(const taper_value *a, const taper_value *b)
{
    taper_tensor_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    if (taper_value_get_tensor(a, &x, NULL) != TAPER_OK || taper_value_get_tensor(b, &y, NULL) != TAPER_OK ||
        x.dtype != y.dtype || x.rank != y.rank) {
        return false;
    }
    for (size_t i = 0; i < x.rank; i++) {
        if (x.sizes[i] != y.sizes[i] || x.strides[i] != y.strides[i]) {
            return false;
        }
    }
    return same_elements(&x, &y, 0, 0, 0);
}

bool test_same(const taper_value *a, const taper_value *b)
{
    if (taper_value_kind(a) != taper_value_kind(b)) {
        return false;
    }
    int64_t i, j;
    double f, g;
    int p, q;
    const char *s, *t;
    size_t n, m;
    switch (taper_value_kind(a)) {
    case TAPER_KIND_BOOL:
        return taper_value_get_bool(a, &p, NULL) == TAPER_OK && taper_value_get_bool(b, &q, NULL) == TAPER_OK && p == q;
    case TAPER_KIND_INT:
        return taper_value_get_int(a, &i, NULL) == TAPER_OK && taper_value_get_int(b, &j, NULL) == TAPER_OK && i == j;
    case TAPER_KIND_DOUBLE:
        return taper_value_get_double(a, &f, NULL) == TAPER_OK && taper_value_get_double(b, &g, NULL) == TAPER_OK &&
               memcmp(&f, &g, sizeof f) == 0;
    case TAPER_KIND_STRING:
        return taper_value_get_string(a, &s, &n, NULL) == TAPER_OK &&
               taper_value_get_string(b, &t, &m, NULL) == TAPER_OK && n == m && memcmp(s, t, n) == 0;
    case TAPER_KIND_TENSOR:
        return same_tensors(a, b);
    case TAPER_KIND_LIST:
    case TAPER_KIND_TUPLE:
    case TAPER_KIND_DICT:
        break;
    default:
        return true;
    }
    bool same = taper_value_count(a) == taper_value_count(b);
    for (size_t at = 0; same && at < taper_value_count(a); at++) {
        taper_value *x = NULL, *y = NULL;
        same = taper_value_item(a, at, &x, NULL) == TAPER_OK && taper_value_item(b, at, &y, NULL) == TAPER_OK &&
               test_same(x, y);
        taper_value_release(x);
        taper_value_release(y);
    }
    return same;
}

static void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

taper_context *test_context(test_allocator *allocator, unsigned threads)
{
    const taper_context_options options = {.struct_size = sizeof options,
                                           .allocator = allocator != NULL ? &allocator->allocator : NULL,
                                           .threads = threads,
                                           .log = say_nothing,
                                           .cpu_mask = test_cpu_mask()};
    taper_context *context;
    if (taper_context_create(&options, &context, NULL) != TAPER_OK) {
        abort();
    }
    return context;
}

void test_check_floats(const taper_value *result, size_t index, const float *want, size_t count, float within)
{
    taper_value *item;
    taper_tensor_info info = {.struct_size = sizeof info};
    int64_t elements = 1;
    assert_int_equal(taper_value_item(result, index, &item, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(item, &info, NULL), TAPER_OK);
    assert_int_equal(info.dtype, TAPER_F32);
    for (size_t i = 0; i < info.rank; i++) {
        elements *= info.sizes[i];
    }
    assert_int_equal(elements, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabsf(((const float *)info.data)[i] - want[i]) < within);
    }
    taper_value_release(item);
}

void test_each_allocation_fails(const char *name, test_work *work, const void *what)
{
    taper_error *error = taper_error_create();
    test_allocator allocator;
    size_t n = 1 + sample_first(), taken = 0;
    for (bool failed = true; failed; n += sample_stride(), taken++) {
        test_allocator_init(&allocator);
        taper_context *context = test_context(&allocator, 1);
        allocator.fail_at = atomic_load(&allocator.calls) + n;
        const taper_status status = work(context, what, error);
        taper_context_release(context);
        failed = atomic_load(&allocator.calls) >= allocator.fail_at;
        // The work may also succeed although an allocation failed; a run, for example, can work without a memory plan.
        if (status != TAPER_OK && (status != TAPER_ERROR_RESOURCE || !failed)) {
            fail_msg("%s: allocation %zu failed: status %d, %s", name, n, (int)status, taper_error_message(error));
        }
        if (atomic_load(&allocator.blocks) != 0) {
            fail_msg("%s: allocation %zu failed: %zu blocks of %zu bytes are left", name, n,
                     atomic_load(&allocator.blocks), atomic_load(&allocator.bytes));
        }
    }
    print_message("%s: %zu allocations failed, every %zuth\n", name, taken - 1, sample_stride());
    taper_error_destroy(error);
}

double test_difference(const taper_value *value, const taper_value *other)
{
    taper_tensor_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    if (taper_value_kind(value) == TAPER_KIND_DICT) { // the segmenter returns a dict with one item
        taper_value *a, *b;
        assert_int_equal(taper_value_item(value, 0, &a, NULL), TAPER_OK);
        assert_int_equal(taper_value_item(other, 0, &b, NULL), TAPER_OK);
        const double found = test_difference(a, b);
        taper_value_release(a);
        taper_value_release(b);
        return found;
    }
    assert_int_equal(taper_value_get_tensor(value, &x, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(other, &y, NULL), TAPER_OK);
    assert_int_equal(x.dtype, TAPER_F32);
    assert_int_equal(x.rank, y.rank);
    size_t count = 1;
    for (size_t i = 0; i < x.rank; i++) {
        assert_int_equal(x.sizes[i], y.sizes[i]);
        assert_int_equal(x.strides[i], y.strides[i]);
        count *= (size_t)x.sizes[i];
    }
    double most = 0, error = 0;
    // The tensors are dense, so their elements can be compared in the order of memory.
    for (size_t i = 0; i < count; i++) {
        const float a = ((const float *)x.data)[i], b = ((const float *)y.data)[i];
        most = fmax(most, fabs((double)a));
        error = isfinite(b) ? fmax(error, fabs((double)a - (double)b)) : INFINITY;
    }
    return error / most;
}
