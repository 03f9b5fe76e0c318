// SPDX-License-Identifier: BSD-2-Clause
// Tests the functions for apps (taper_app.h): opening, bundled inputs, entries of dicts, copies, settings and classes.
// The test runs each function again with every allocation failing once. Pictures are tested in app_picture_test.c.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <taper/taper_app.h>
#include <taper/taper_inspect.h>

#include "tests/api/fixture.h"

static taper_error *error;

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != TAPER_OK) {                                                                                      \
            fail_msg("%s: %s", #call, taper_error_message(error));                                                     \
        }                                                                                                              \
    } while (0)
#define FAILS(words, call)                                                                                             \
    do {                                                                                                               \
        if ((call) == TAPER_OK || strstr(taper_error_message(error), words) == NULL) {                                 \
            fail_msg("%s: %s; wanted %s", #call, taper_error_message(error), words);                                   \
        }                                                                                                              \
    } while (0)

static taper_value *floats_of(taper_context *context, const float *numbers, size_t rank, const int64_t *sizes)
{
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    OK(taper_value_tensor(context, TAPER_F32, rank, sizes, &value, error));
    OK(taper_value_get_tensor(value, &info, error));
    memcpy(info.data, numbers, info.bytes);
    return value;
}

static const void *data_of(const taper_value *value, taper_tensor_info *info)
{
    *info = (taper_tensor_info){.struct_size = sizeof *info};
    OK(taper_value_get_tensor(value, info, error));
    return info->data;
}

// ---- opening models

static void count_text(void *user, const char *text, size_t length)
{
    (void)text;
    *(size_t *)user += length;
}

static void models_are_opened(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    char path[512];
    test_path("s17_bundled.ptl", path, sizeof path); // this file was saved in training mode
    OK(taper_model_open(context, path, NULL, &model, error));
    assert_int_equal(taper_model_is_training(model), 0);
    taper_model_release(model);
    const taper_load_options options = {.struct_size = sizeof options};
    OK(taper_model_open(context, path, &options, &model, error));
    assert_int_equal(taper_model_is_training(model), 1);
    taper_model_release(model);
    // The optimized graph must differ from the graph in the file.
    size_t lengths[2] = {0, 0};
    test_path("s01_convnet.ptl", path, sizeof path);
    for (size_t i = 0; i < 2; i++) {
        OK(i == 0 ? taper_model_open(context, path, &options, &model, error)
                  : taper_model_load(context, path, &options, &model, error));
        OK(taper_inspect_graph(model, NULL, count_text, &lengths[i], error));
        taper_model_release(model);
    }
    assert_int_not_equal(lengths[0], lengths[1]);
    FAILS("cannot be opened", taper_model_open(context, "/absent", NULL, &model, error));
    assert_null(model);
    taper_context_release(context);
}

// ---- bundled inputs

static void samples_are_given(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_session *session;
    taper_value *inputs[8], *result;
    size_t count;
    OK(test_load(context, "s17_bundled.ptl", true, &model, error));
    OK(taper_session_create(model, NULL, &session, error));
    assert_string_equal(taper_bundled_method(model, 0), "forward");
    assert_null(taper_bundled_method(model, 1));
    OK(taper_bundled_count(session, NULL, &count, error));
    assert_int_equal(count, 4);
    OK(taper_bundled_count(session, "get_all_bundled_inputs", &count, error));
    assert_int_equal(count, 0);
    for (size_t i = 0; i < 4; i++) {
        OK(taper_bundled_inputs(session, "forward", i, inputs, 8, &count, error));
        assert_int_equal(count, 3);
        assert_null(inputs[3]);
        OK(taper_session_run(session, NULL, inputs, count, &result, error));
        taper_value_release(result);
        for (size_t k = 0; k < count; k++) {
            taper_value_release(inputs[k]);
        }
    }
    FAILS("has 4 bundled inputs", taper_bundled_inputs(session, NULL, 4, inputs, 8, &count, error));
    assert_int_equal(count, 0);
    FAILS("has 3 inputs, there is room for 2", taper_bundled_inputs(session, NULL, 0, inputs, 2, &count, error));
    assert_int_equal(count, 3);
    assert_null(inputs[0]);
    FAILS("has 0 bundled inputs", taper_bundled_inputs(session, "absent", 0, inputs, 8, &count, error));
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
}

// ---- entries of values, and copies

static void entries_are_found(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_value *keys[2], *values[2], *dict, *item;
    int64_t number;
    OK(taper_value_string(context, "out", 3, &keys[0], error));
    OK(taper_value_string(context, "aux", 3, &keys[1], error));
    OK(taper_value_int(context, 7, &values[0], error));
    OK(taper_value_int(context, 8, &values[1], error));
    OK(taper_value_dict(context, NULL, NULL, keys, values, 2, &dict, error));
    OK(taper_value_find(dict, "aux", &item, error));
    OK(taper_value_get_int(item, &number, error));
    assert_int_equal(number, 8);
    taper_value_release(item);
    FAILS("no key \"aus\"", taper_value_find(dict, "aus", &item, error));
    assert_null(item);
    assert_string_equal(taper_error_detail(error), "  \"out\"\n  \"aux\"\n");
    FAILS("no key 7", taper_value_find_int(dict, 7, &item, error));
    taper_value_release(dict);
    OK(taper_value_dict(context, NULL, NULL, values, keys, 2, &dict, error));
    OK(taper_value_find_int(dict, 8, &item, error));
    assert_int_equal(taper_value_kind(item), TAPER_KIND_STRING);
    taper_value_release(item);
    FAILS("no key 9", taper_value_find_int(dict, 9, &item, error));
    assert_string_equal(taper_error_detail(error), "  7\n  8\n");
    FAILS("not a Dict but", taper_value_find(keys[0], "out", &item, error));
    taper_value_release(dict);
    for (size_t i = 0; i < 2; i++) {
        taper_value_release(keys[i]);
        taper_value_release(values[i]);
    }
    taper_context_release(context);
}

static void copies_run_on(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    static float numbers[6] = {0, 1, 2, 3, 4, 5};
    const int64_t sizes[] = {3, 2}, strides[] = {1, 3};
    taper_value *turned, *copy, *quantized, *back;
    taper_tensor_info info;
    OK(taper_value_tensor_from(context, TAPER_F32, 2, sizes, strides, numbers, sizeof numbers, 1, NULL, NULL, &turned,
                               error));
    OK(taper_value_contiguous(context, turned, &copy, error));
    const float wanted[] = {0, 3, 1, 4, 2, 5};
    assert_memory_equal(data_of(copy, &info), wanted, sizeof wanted);
    assert_int_equal(info.strides[0], 2);
    assert_int_equal(info.read_only, 0);
    assert_ptr_not_equal(info.data, numbers);
    OK(taper_value_quantize(context, turned, TAPER_QU8, 0.5, 3, &quantized, error));
    taper_value_release(copy);
    OK(taper_value_contiguous(context, quantized, &copy, error));
    const unsigned char integers[] = {3, 9, 5, 11, 7, 13};
    assert_memory_equal(data_of(copy, &info), integers, sizeof integers);
    assert_int_equal(info.quantized, 1);
    assert_true(info.scale == 0.5 && info.zero_point == 3 && info.dtype == TAPER_QU8);
    OK(taper_value_floats(context, quantized, &back, error));
    assert_memory_equal(data_of(back, &info), wanted, sizeof wanted);
    assert_int_equal(info.dtype, TAPER_F32);
    taper_value_release(back);
    taper_value_release(copy);
    taper_value_release(quantized);
    taper_value_release(turned);
    static int64_t whole[3] = {-1, 0, INT64_C(1) << 40};
    const int64_t three = 3, none = 0;
    OK(taper_value_tensor_from(context, TAPER_I64, 1, &three, NULL, whole, sizeof whole, 0, NULL, NULL, &turned,
                               error));
    OK(taper_value_floats(context, turned, &copy, error));
    const float as_floats[] = {-1, 0, 1099511627776.0f};
    assert_memory_equal(data_of(copy, &info), as_floats, sizeof as_floats);
    taper_value_release(copy);
    taper_value_release(turned);
    OK(taper_value_tensor(context, TAPER_C64, 1, &three, &turned, error));
    FAILS("plain numbers are wanted", taper_value_floats(context, turned, &copy, error));
    assert_null(copy);
    taper_value_release(turned);
    OK(taper_value_tensor(context, TAPER_F64, 1, &none, &turned, error));
    OK(taper_value_floats(context, turned, &copy, error));
    data_of(copy, &info);
    assert_int_equal(info.sizes[0], 0);
    taper_value_release(copy);
    taper_value_release(turned);
    taper_context_release(context);
}

// ---- settings of a model (taper.json)

static taper_status parse(taper_context *context, const char *text, taper_settings **settings)
{
    return taper_settings_parse(context, NULL, text, strlen(text), settings, error);
}

static void settings_are_read(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_settings *s;
    taper_preparation p = {.struct_size = sizeof p};
    unsigned char rgb[3];
    OK(parse(context,
             " {\"task\": \"segment\", \"other\": [{\"a\": [null, true]}], \"size\": [64, 32], \"std\": [1, 2.5, 1e1],"
             "\"labels\": [\"b\\u00e4r\", \"a\\nb\", \"\"], \"colors\": [\"#0aFf09\"],"
             "\"inputs\": [null, {\"dtype\": \"quint8\", \"scale\": 0.5, \"zero_point\": 3, \"more\": 1}]}\n",
             &s));
    assert_string_equal(taper_settings_task(s), "segment");
    assert_int_equal(taper_settings_label_count(s), 3);
    assert_string_equal(taper_settings_label(s, 0), "b\303\244r");
    assert_string_equal(taper_settings_label(s, 1), "a?b");
    assert_string_equal(taper_settings_label(s, 2), "");
    assert_null(taper_settings_label(s, 3));
    assert_int_equal(taper_settings_color(s, 0, rgb), 1);
    assert_memory_equal(rgb, "\x0a\xff\x09", 3);
    assert_int_equal(taper_settings_color(s, 1, rgb), 0);
    OK(taper_settings_preparation(s, NULL, &p, error));
    assert_true(p.width == 64 && p.height == 32 && p.resize == 0);
    assert_true(p.std[1] == 2.5f && p.std[2] == 10 && p.mean[0] == 0.485f);
    static const float numbers[] = {1, -2};
    const int64_t two = 2;
    taper_value *value = floats_of(context, numbers, 1, &two), *quantized;
    taper_tensor_info info;
    OK(taper_settings_quantize(context, s, 1, value, &quantized, error));
    assert_memory_equal(data_of(quantized, &info), "\5\0", 2);
    taper_value_release(quantized);
    for (size_t i = 0; i < 3; i += 2) {
        OK(taper_settings_quantize(context, s, i, value, &quantized, error));
        assert_ptr_equal(quantized, value);
        taper_value_release(quantized);
    }
    taper_value_release(value);
    taper_settings_release(s);
    // Tests empty settings.
    OK(parse(context, "{}", &s));
    OK(taper_settings_preparation(s, NULL, &p, error));
    assert_true(p.width == 224 && p.height == 224 && p.resize == 256);
    OK(taper_settings_preparation(s, "segment", &p, error));
    assert_true(p.width == 0 && p.height == 0 && p.resize == 520);
    taper_settings_release(s);
    OK(parse(context, "{\"size\": [96, 96], \"resize\": 100}", &s));
    OK(taper_settings_preparation(s, NULL, &p, error));
    assert_true(p.width == 96 && p.height == 96 && p.resize == 100);
    taper_settings_release(s);
    taper_context_release(context);
}

static void bad_settings(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "taper.json cannot be read"},
        {"[]", "must hold an object"},
        {"{} x", "taper.json cannot be read"},
        {"{\"size\": 3}", "[width, height]"},
        {"{\"size\": [1]}", "[width, height]"},
        {"{\"size\": [1, 2, 3]}", "[width, height]"},
        {"{\"size\": [1, 0]}", "[width, height]"},
        {"{\"size\": [1, 16385]}", "[width, height]"},
        {"{\"size\": [1, 2.0]}", "[width, height]"},
        {"{\"size\": [1, \"2\"]}", "[width, height]"},
        {"{\"resize\": \"1\"}", "number of pixels"},
        {"{\"resize\": 1.5}", "number of pixels"},
        {"{\"mean\": [1, 2]}", "\"mean\" must be three numbers"},
        {"{\"std\": [1, 2, NaN]}", "\"std\" must be three numbers"},
        {"{\"std\": [1, 2, 1e39]}", "\"std\" must be three numbers"},
        {"{\"labels\": {}}", "array of strings"},
        {"{\"labels\": [\"a\", 1]}", "array of strings"},
        {"{\"colors\": 1}", "\"colors\" must be"},
        {"{\"colors\": [\"#12345\"]}", "\"colors\" must be"},
        {"{\"colors\": [\"#12345g\"]}", "\"colors\" must be"},
        {"{\"colors\": [\"#1234567\"]}", "\"colors\" must be"},
        {"{\"task\": 1}", "\"task\" must be a string"},
        {"{\"inputs\": 1}", "must be an array"},
        {"{\"inputs\": [1]}", "input 0"},
        {"{\"inputs\": [null, {\"dtype\": \"qint8\", \"scale\": 1, \"zero_point\": 0}]}", "input 1"},
        {"{\"labels\": [\"a\"", "taper.json cannot be read"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taper_settings *s;
        const taper_status status = parse(context, rows[i].text, &s);
        if (status != TAPER_ERROR_FILE || s != NULL || strstr(taper_error_message(error), rows[i].words) == NULL) {
            fail_msg("%s: status %d, %s", rows[i].text, (int)status, taper_error_message(error));
        }
    }
    char deep[400] = "{\"x\": ";
    memset(deep + 6, '[', 200);
    taper_settings *s;
    assert_int_not_equal(parse(context, deep, &s), TAPER_OK);
    taper_context_release(context);
}

static void settings_of_models(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_settings *s;
    char path[512];
    OK(test_load(context, "classifier.ptl", true, &model, error));
    // The model contains its own labels, so the folder need not exist.
    OK(taper_settings_read(model, "/absent", &s, error));
    taper_model_release(model);
    assert_int_equal(taper_settings_label_count(s), 20);
    assert_string_equal(taper_settings_label(s, 19), "guitar");
    taper_settings_release(s);
    OK(test_load(context, "s01_convnet.ptl", true, &model, error));
    OK(taper_settings_read(model, NULL, &s, error));
    assert_int_equal(taper_settings_label_count(s), 0);
    assert_string_equal(taper_settings_task(s), "");
    taper_settings_release(s);
    FAILS("/absent", taper_settings_read(model, "/absent", &s, error));
    assert_null(s);
    snprintf(path, sizeof path, "/tmp/taper_app_test_%ld.json", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"labels\": [\"one\"]}", file);
    assert_int_equal(fclose(file), 0);
    OK(taper_settings_read(model, path, &s, error));
    assert_int_equal(taper_settings_label_count(s), 1);
    taper_settings_release(s);
    assert_int_equal(remove(path), 0);
    taper_model_release(model);
    taper_context_release(context);
}

// ---- classes, scores, masks

static void classes_are_ranked(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    static const float numbers[] = {1, 3, (float)NAN, 3, -(float)INFINITY, 2};
    const int64_t row[] = {1, 6}, rows[] = {2, 3}, one[] = {2, 1};
    taper_ranked best[8];
    size_t count;
    taper_value *scores = floats_of(context, numbers, 2, row), *made;
    OK(taper_scores_top(context, scores, best, 8, &count, error));
    static const size_t order[] = {1, 3, 5, 0, 4, 2};
    assert_int_equal(count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(best[i].index, order[i]);
    }
    assert_true(isnan(best[5].score) && best[0].score == 3);
    OK(taper_scores_top(context, scores, best, 2, &count, error));
    assert_true(count == 2 && best[0].index == 1 && best[1].index == 3);
    OK(taper_scores_top(context, scores, NULL, 0, &count, error));
    assert_int_equal(count, 0);
    taper_value_release(scores);
    // The library normalizes each row of scores separately. A row that already contains probabilities must remain
    // bit-identical.
    static const float two[] = {0.25f, 0.5f, 0.25f, 0, 1, 2};
    scores = floats_of(context, two, 2, rows);
    OK(taper_scores_softmax(context, scores, &made, error));
    taper_tensor_info info;
    const float *p = data_of(made, &info);
    assert_memory_equal(p, two, 12);
    const double sum = 1 + exp(1) + exp(2);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs((double)p[3 + i] - exp(i) / sum) < 1e-7);
    }
    taper_value_release(made);
    taper_value_release(scores);
    static const float large[] = {5, 1000};
    scores = floats_of(context, large, 2, one);
    OK(taper_scores_softmax(context, scores, &made, error));
    assert_memory_equal(data_of(made, &info), large, sizeof large);
    taper_value_release(made);
    taper_value_release(scores);
    taper_context_release(context);
}

static void scores_are_found(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    static const char *const names[] = {"aux", "logits", "out"};
    static const float number = 1;
    taper_value *keys[3], *values[3], *dict, *found, *list;
    for (size_t i = 0; i < 3; i++) {
        const int64_t sizes[] = {1};
        OK(taper_value_string(context, names[i], strlen(names[i]), &keys[i], error));
        values[i] = floats_of(context, &number, 1, sizes);
    }
    for (size_t count = 1; count <= 3; count++) { // a dict with the first `count` keys: the last of them has priority
        taper_tensor_info info, wanted;
        OK(taper_value_dict(context, NULL, NULL, keys, values, count, &dict, error));
        OK(taper_scores_find(dict, &found, error));
        assert_ptr_equal(data_of(found, &info), data_of(values[count - 1], &wanted));
        taper_value_release(found);
        taper_value_release(dict);
    }
    OK(taper_value_list(context, NULL, values, 2, &list, error));
    OK(taper_scores_find(list, &found, error));
    assert_int_equal(taper_value_kind(found), TAPER_KIND_TENSOR);
    taper_value_release(found);
    taper_value_release(list);
    OK(taper_value_tuple(context, keys, 1, &list, error));
    FAILS("the result is Tuple[str]", taper_scores_find(list, &found, error));
    assert_null(found);
    taper_value_release(list);
    OK(taper_value_tuple(context, keys, 0, &list, error));
    FAILS("a tensor of scores is needed", taper_scores_find(list, &found, error));
    taper_value_release(list);
    for (size_t i = 0; i < 3; i++) {
        taper_value_release(keys[i]);
        taper_value_release(values[i]);
    }
    taper_context_release(context);
}

static void masks_are_drawn(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    // After resizing to four columns, class 1 has the higher score in the last two columns.
    static const float numbers[] = {1, 0, 0, 1}, logits[] = {-1, 3}, parts[] = {0.25f, 0.75f};
    const int64_t sizes[] = {1, 2, 1, 2}, plane[] = {1, 1, 2}, batch[] = {2, 1, 1, 2};
    taper_value *scores = floats_of(context, numbers, 4, sizes), *mask;
    taper_tensor_info info;
    size_t classes = 0;
    OK(taper_scores_mask(context, scores, 4, 2, &mask, &classes, error));
    const int16_t wanted[] = {0, 0, 1, 1, 0, 0, 1, 1};
    assert_memory_equal(data_of(mask, &info), wanted, sizeof wanted);
    assert_true(classes == 2 && info.dtype == TAPER_I16 && info.rank == 2 && info.sizes[0] == 2 && info.sizes[1] == 4);
    taper_value_release(mask);
    FAILS("sides of 1 to", taper_scores_mask(context, scores, 0, 2, &mask, NULL, error));
    FAILS("sides of 1 to", taper_scores_mask(context, scores, 2, 16385, &mask, NULL, error));
    taper_value_release(scores);
    scores = floats_of(context, numbers, 4, batch);
    FAILS("scores of 1 x classes", taper_scores_mask(context, scores, 4, 2, &mask, NULL, error));
    assert_null(mask);
    taper_value_release(scores);
    for (size_t i = 0; i < 2; i++) { // one plane of scores: probabilities in the first round, logits in the second
        scores = floats_of(context, i == 0 ? parts : logits, 3, plane);
        OK(taper_scores_mask(context, scores, 2, 1, &mask, &classes, error));
        assert_memory_equal(data_of(mask, &info), ((const int16_t[]){0, 1}), 4);
        assert_int_equal(classes, 2);
        taper_value_release(mask);
        taper_value_release(scores);
    }
    static int64_t map[] = {0, 3, 2, 4095};
    const int64_t square[] = {1, 2, 2};
    OK(taper_value_tensor_from(context, TAPER_I64, 3, square, NULL, map, sizeof map, 0, NULL, NULL, &scores, error));
    OK(taper_scores_mask(context, scores, 2, 4, &mask, &classes, error));
    assert_memory_equal(data_of(mask, &info), ((const int16_t[]){0, 3, 0, 3, 2, 4095, 2, 4095}), 16);
    assert_int_equal(classes, 4096);
    taper_value_release(mask);
    map[1] = 4096;
    FAILS("holds 4096", taper_scores_mask(context, scores, 2, 4, &mask, NULL, error));
    map[1] = -1;
    FAILS("holds -1", taper_scores_mask(context, scores, 2, 4, &mask, NULL, error));
    taper_value_release(scores);
    taper_context_release(context);
}

// ---- failing allocations

static taper_status work(taper_context *context, const void *what, taper_error *errors)
{
    (void)what;
    static float numbers[12] = {1, 2, 3};
    static const char text[] = "{\"labels\": [\"a\", \"b\"], \"colors\": [\"#000000\"], \"inputs\": [null]}";
    const int64_t sizes[] = {1, 3, 2, 2};
    taper_value *scores = NULL, *made[4] = {NULL};
    taper_settings *settings = NULL;
    taper_ranked best[2];
    size_t count;
    taper_status status = taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, numbers, sizeof numbers, 1, NULL,
                                                  NULL, &scores, errors);
    if (status == TAPER_OK) {
        status = taper_settings_parse(context, NULL, text, sizeof text - 1, &settings, errors);
    }
    if (status == TAPER_OK) {
        status = taper_value_contiguous(context, scores, &made[0], errors);
    }
    if (status == TAPER_OK) {
        status = taper_scores_softmax(context, scores, &made[1], errors);
    }
    if (status == TAPER_OK) {
        status = taper_scores_mask(context, scores, 5, 4, &made[2], NULL, errors);
    }
    if (status == TAPER_OK) {
        status = taper_scores_top(context, scores, best, 2, &count, errors);
    }
    for (size_t i = 0; i < 3; i++) {
        taper_value_release(made[i]);
    }
    taper_settings_release(settings);
    taper_value_release(scores);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    test_each_allocation_fails("taper_app.h", work, NULL);
}

static int make_error(void **state)
{
    (void)state;
    error = taper_error_create();
    return error == NULL;
}

static int drop_error(void **state)
{
    (void)state;
    taper_error_destroy(error);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_opened),  cmocka_unit_test(samples_are_given),  cmocka_unit_test(entries_are_found),
        cmocka_unit_test(copies_run_on),      cmocka_unit_test(settings_are_read),  cmocka_unit_test(bad_settings),
        cmocka_unit_test(settings_of_models), cmocka_unit_test(classes_are_ranked), cmocka_unit_test(scores_are_found),
        cmocka_unit_test(masks_are_drawn),    cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, make_error, drop_error);
}
