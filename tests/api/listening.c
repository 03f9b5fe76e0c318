// SPDX-License-Identifier: BSD-2-Clause
// See listening.h.
#include "tests/api/listening.h"
#include "tests/api/load_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <taper/taper_inspect.h>

// ---- similar results: floats may differ by 1e-4 of the largest float, integers of quantized tensors by 1

static double element(const taper_tensor_info *t, int64_t at)
{
    const char *data = t->data;
    switch (t->dtype) {
    case TAPER_F32:
        return (double)((const float *)(const void *)data)[at];
    case TAPER_I64:
        return (double)((const int64_t *)(const void *)data)[at];
    case TAPER_QU8:
        return (double)((const unsigned char *)data)[at];
    case TAPER_QI8:
        return (double)((const signed char *)data)[at];
    default:
        return 0;
    }
}

typedef struct difference {
    double largest, most;
} difference;

static void compare(const taper_tensor_info *a, const taper_tensor_info *b, size_t dim, int64_t at, difference *d)
{
    if (dim == a->rank) {
        const double x = element(a, at), y = element(b, at);
        if (x != y && !(isnan(x) && isnan(y))) {
            d->most = fmax(d->most, isfinite(x - y) ? fabs(x - y) : INFINITY);
        }
        d->largest = fmax(d->largest, isfinite(y) ? fabs(y) : 0);
        return;
    }
    for (int64_t i = 0; i < a->sizes[dim]; i++) {
        compare(a, b, dim + 1, at + i * a->strides[dim], d);
    }
}

static bool tensors_alike(const taper_value *a, const taper_value *b)
{
    taper_tensor_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    if (taper_value_get_tensor(a, &x, NULL) != TAPER_OK || taper_value_get_tensor(b, &y, NULL) != TAPER_OK ||
        x.dtype != y.dtype || x.rank != y.rank || x.quantized != y.quantized ||
        (x.quantized == 1 && (x.scale != y.scale || x.zero_point != y.zero_point))) {
        return false;
    }
    for (size_t d = 0; d < x.rank; d++) {
        if (x.sizes[d] != y.sizes[d] || x.strides[d] != y.strides[d]) {
            return false;
        }
    }
    difference d = {0, 0};
    compare(&x, &y, 0, 0, &d);
    return d.most <= (x.dtype == TAPER_F32 ? 1e-4 * d.largest + 1e-5 : x.quantized != 0 ? 1 : 0);
}

bool device_alike(const taper_value *a, const taper_value *b)
{
    const taper_kind kind = taper_value_kind(a);
    if (kind == TAPER_KIND_TENSOR) {
        return taper_value_kind(b) == kind && tensors_alike(a, b);
    }
    if (kind != TAPER_KIND_LIST && kind != TAPER_KIND_TUPLE && kind != TAPER_KIND_DICT) {
        return test_same(a, b);
    }
    bool same = taper_value_kind(b) == kind && taper_value_count(a) == taper_value_count(b);
    for (size_t i = 0; same && i < taper_value_count(a); i++) {
        taper_value *x = NULL, *y = NULL;
        same = taper_value_item(a, i, &x, NULL) == TAPER_OK && taper_value_item(b, i, &y, NULL) == TAPER_OK &&
               device_alike(x, y);
        taper_value_release(x);
        taper_value_release(y);
    }
    return same;
}

// ---- a context that listens

static void listen(void *user, taper_log_level level, const char *text, size_t length)
{
    listening *w = user;
    if (level != TAPER_LOG_PRINT) {
        pthread_mutex_lock(&w->lock);
        if (w->length + length < HEARD) {
            memcpy(w->heard + w->length, text, length);
            w->length += length;
            w->heard[w->length] = '\0';
        }
        pthread_mutex_unlock(&w->lock);
    }
}

void open_listening(listening *w, const char *cache_dir)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    test_allocator_init(&w->allocator);
    w->error = taper_error_create();
    const taper_context_options options = {.struct_size = sizeof options,
                                           .allocator = &w->allocator.allocator,
                                           .threads = 1,
                                           .log = listen,
                                           .log_user = w,
                                           .cache_dir = cache_dir};
    assert_int_equal(taper_context_create(&options, &w->context, w->error), TAPER_OK);
}

void close_listening(listening *w)
{
    taper_context_release(w->context);
    taper_error_destroy(w->error);
    assert_int_equal(atomic_load(&w->allocator.blocks), 0);
    pthread_mutex_destroy(&w->lock);
}

size_t count_heard(const listening *w, const char *words)
{
    size_t count = 0;
    for (const char *at = w->heard; (at = strstr(at, words)) != NULL; at++) {
        count++;
    }
    return count;
}

taper_status device_load(taper_context *context, const char *file, const char *device, const char *device_options,
                         taper_model **model, taper_error *error)
{
    char path[1024];
    load_text said;
    const taper_status status = load_text_read(&said, device, device_options, NULL, error);
    *model = NULL;
    if (status != TAPER_OK) {
        return status;
    }
    said.options.compiler = taper_compiler();
    test_path(file, path, sizeof path);
    return taper_model_load(context, path, &said.options, model, error);
}

// ---- committed models

// Runs the calls of one file `runs` times on the device and on the CPU, and compares the results.
void hold_against_cpu(listening *w, size_t first, const char *device, int runs)
{
    taper_model *models[2];
    taper_session *sessions[2];
    const char *file = test_calls[first].file;
    for (int i = 0; i < 2; i++) {
        if (device_load(w->context, file, i == 0 ? "cpu" : device, NULL, &models[i], w->error) != TAPER_OK) {
            fail_msg("%s: %s", file, taper_error_message(w->error));
        }
        assert_int_equal(taper_session_create(models[i], NULL, &sessions[i], w->error), TAPER_OK);
    }
    for (int run = 0; run < runs; run++) {
        for (size_t k = 0; k < test_group(first); k++) {
            const test_call *call = &test_calls[first + k];
            taper_value *results[2];
            for (int i = 0; i < 2; i++) {
                const taper_status status = test_run(w->context, sessions[i], call, &results[i], w->error);
                if (status != call->status) {
                    fail_msg("%s %s, run %d: status %d, %s", file, call->args, run, (int)status,
                             taper_error_message(w->error));
                }
            }
            if (results[0] != NULL && !device_alike(results[1], results[0])) {
                fail_msg("%s %s, run %d: another result than the CPU's; %s", file, call->args, run, w->heard);
            }
            taper_value_release(results[0]);
            taper_value_release(results[1]);
        }
    }
    for (int i = 0; i < 2; i++) {
        taper_session_destroy(sessions[i]);
        taper_model_release(models[i]);
    }
}
