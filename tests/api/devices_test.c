// SPDX-License-Identifier: BSD-2-Clause
// Tests which devices and precisions hosts may request, and which of them a model gets.
#define _POSIX_C_SOURCE 200809L // needed for mkdtemp
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

// The log of a context: its last line, and the number of lines.
typedef struct heard {
    char line[256];
    size_t lines;
    taper_log_level level;
} heard;

static void listen(void *user, taper_log_level level, const char *text, size_t length)
{
    heard *h = user;
    snprintf(h->line, sizeof h->line, "%.*s", (int)length, text);
    h->level = level;
    h->lines++;
}

typedef struct world {
    taper_context *context;
    taper_error *error;
    heard heard;
} world;

static void open_world(world *w)
{
    *w = (world){.error = taper_error_create()};
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = listen, .log_user = &w->heard};
    assert_int_equal(taper_context_create(&options, &w->context, w->error), TAPER_OK);
}

static void close_world(world *w)
{
    taper_context_release(w->context);
    taper_error_destroy(w->error);
}

static taper_status load(world *w, const char *device, const char *precision, bool listing)
{
    load_text said;
    char path[512];
    taper_model *model = NULL;
    test_path("s01_convnet.ptl", path, sizeof path);
    w->heard = (heard){0};
    taper_status status = load_text_read(&said, device, NULL, precision, w->error);
    said.options.flags = listing ? TAPER_LOAD_LISTING : 0;
    if (status == TAPER_OK) {
        status = taper_model_load(w->context, path, &said.options, &model, w->error);
    }
    assert_true((status == TAPER_OK) == (model != NULL));
    taper_model_release(model);
    return status;
}

static const char *shown(const char *text)
{
    return text != NULL ? text : "NULL";
}

static void expect(world *w, const char *device, const char *precision, taper_status wanted, const char *words)
{
    const taper_status status = load(w, device, precision, 0);
    if (status != wanted || (wanted != TAPER_OK && strstr(taper_error_message(w->error), words) == NULL)) {
        fail_msg("device %s, precision %s: status %d, %s", shown(device), shown(precision), (int)status,
                 taper_error_message(w->error));
    }
    if (w->heard.lines != 0) {
        fail_msg("device %s, precision %s: said %s", shown(device), shown(precision), w->heard.line);
    }
}

static void devices_that_are_here(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    static const char *const names[] = {NULL, "cpu", "cpu!", "cpu:0", "cpu:0!", "cpu:000"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(&w, names[i], NULL, TAPER_OK, "");
    }
    close_world(&w);
}

static void devices_that_are_not(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    static const char *const names[] = {"cuda", "cuda:1", "metal", "cuda:a.b-C_9", "cpu:1", "mps", "cpu:0x", "cpu:x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[128];
        assert_int_equal(load(&w, names[i], NULL, 0), TAPER_OK);
        snprintf(text, sizeof text, "device %s is not part of this build: the CPU runs the model\n", names[i]);
        assert_string_equal(w.heard.line, text);
        assert_int_equal(w.heard.lines, 1);
        assert_int_equal(w.heard.level, TAPER_LOG_WARNING);
        snprintf(text, sizeof text, "%s!", names[i]);
        char words[128];
        snprintf(words, sizeof words, "device %s is not part of this build", names[i]);
        expect(&w, text, NULL, TAPER_ERROR_UNSUPPORTED, words);
        assert_int_equal(load(&w, names[i], NULL, true), TAPER_OK); // no log, because a listing runs nothing
        assert_int_equal(w.heard.lines, 0);
    }
    close_world(&w);
}

// Only Android has the NNAPI library, so NNAPI must be missing on every other machine.
static void without_its_library(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    assert_int_equal(load(&w, "nnapi", NULL, 0), TAPER_OK);
    assert_int_equal(w.heard.lines, 1);
    const bool part = strstr(w.heard.line, "is not part of this build") == NULL;
    assert_non_null(strstr(w.heard.line, part
                                             ? "device nnapi is not available: libneuralnetworks.so was not found: the "
                                               "CPU runs the model\n"
                                             : "device nnapi is not part of this build: the CPU runs the model\n"));
    assert_int_equal(load(&w, "nnapi:1!", NULL, 0), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(w.error), "device nnapi:1 is not "));
    close_world(&w);
}

static void devices_that_are_none(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    char lengthy[400];
    memset(lengthy, 'a', sizeof lengthy);
    memcpy(lengthy + sizeof lengthy - 2, "?", 2);
    const char *const names[] = {"",        "!",       ":0",         "cpu:",  "cpu:!",   "cpu: x",
                                 "cpu!!",   "cpu! ",   " cpu",       "CPU!",  "cpu cpu", "cuda:/",
                                 "cuda:+1", "cpu:0:0", "cp\xc3\xbc", "cpu\n", lengthy};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(&w, names[i], NULL, TAPER_ERROR_ARGUMENT, "should be KIND[:INDEX][!]");
    }
    static const char *const nobodys[] = {"gpu", "vulcan", "opencl:1", "cp", "cpus!", "_9"};
    for (size_t i = 0; i < sizeof nobodys / sizeof *nobodys; i++) {
        expect(&w, nobodys[i], NULL, TAPER_ERROR_ARGUMENT, "a device is cpu, nnapi, vulkan, metal, cuda or mps");
    }
    memset(lengthy, 'b', sizeof lengthy - 1);
    memcpy(lengthy, "cuda:", 5);
    expect(&w, lengthy, NULL, TAPER_ERROR_ARGUMENT, "should be KIND[:INDEX][!]"); // the name is too long
    lengthy[5 + 127] = '\0';
    assert_int_equal(load(&w, lengthy, NULL, false), TAPER_OK);
    assert_non_null(strstr(w.heard.line, "b is not part of this build: the CPU runs the model\n"));
    close_world(&w);
}

static void precisions(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    expect(&w, NULL, "fp32", TAPER_OK, "");
    static const char *const here[] = {NULL, "cpu", "cpu!", "cpu:0"};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        expect(&w, here[i], "fp16", TAPER_OK, "");
        expect(&w, here[i], "bf16", TAPER_OK, "");
    }
    expect(&w, "cuda", "bf16", TAPER_ERROR_UNSUPPORTED, "precision bf16 is the CPU's: use fp32 or fp16 on device cuda");
    assert_int_equal(load(&w, "cuda", "fp16", 0), TAPER_OK); // the CPU runs the model, and supports this precision
    assert_int_equal(w.heard.lines, 1);
    // Values that are never valid are reported first.
    expect(&w, "cuda!", "fp64", TAPER_ERROR_ARGUMENT, "precision \"fp64\"");
    static const char *const names[] = {"", "fp64", "FP32", "fp32 ", "fp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(&w, NULL, names[i], TAPER_ERROR_ARGUMENT, "should be fp32, fp16 or bf16");
    }
    close_world(&w);
}

// Options set by a program and options on a command line are checked in the same way.
static void wrong_options(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    char path[512];
    test_path("s01_convnet.ptl", path, sizeof path);
    static const taper_device_setting unknown = {(taper_option)999, 1}, large = {TAPER_NNAPI_LEVEL, 32},
                                      small = {TAPER_GPU_HALF, -1}, level = {TAPER_NNAPI_LEVEL, 29};
    taper_device_choice nobody = {.struct_size = sizeof nobody, .kind = (taper_device_kind)77},
                        endless = {.struct_size = sizeof endless, .kind = TAPER_DEVICE_VULKAN},
                        cut = {.struct_size = sizeof(size_t) - 1, .kind = TAPER_DEVICE_CPU};
    memset(endless.name, 'a', sizeof endless.name);
    static const char *const hole[] = {"cse", NULL};
    const struct {
        const char *words;
        taper_load_options options;
    } rows[] = {
        {"settings[0] is option 999", {.settings = &unknown, .setting_count = 1}},
        {"level should be 27 to 31, not 32", {.settings = &large, .setting_count = 1}},
        {"half should be 0 to 1, not -1", {.settings = &small, .setting_count = 1}},
        {"device cpu has no option level", {.settings = &level, .setting_count = 1}},
        {"settings is NULL", {.setting_count = 1}},
        {"kind 77 is no taper_device_kind", {.device = &nobody}},
        {"name has no zero byte", {.device = &endless}},
        {"struct_size", {.device = &cut}},
        {"precision 9 is no taper_precision", {.precision = (taper_precision)9}},
        {"flags has bits that this version does not know: 0x100", {.flags = 2 * TAPER_LOAD_GRADIENTS}},
        {"disabled_passes", {.disabled_passes = hole, .disabled_pass_count = 2}},
        {"disabled_passes is NULL", {.disabled_pass_count = 2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taper_load_options options = rows[i].options;
        taper_model *model;
        options.struct_size = sizeof options;
        assert_int_equal(taper_model_load(w.context, path, &options, &model, w.error), TAPER_ERROR_ARGUMENT);
        if (strstr(taper_error_message(w.error), rows[i].words) == NULL) {
            fail_msg("%s: %s", rows[i].words, taper_error_message(w.error));
        }
        assert_null(model);
    }
    taper_model *model;
    assert_int_equal(taper_model_load(w.context, path, NULL, &model, w.error), TAPER_ERROR_ARGUMENT);
    assert_non_null(strstr(taper_error_message(w.error), "taper_model_open"));
    assert_int_equal(taper_model_open(w.context, path, NULL, &model, w.error), TAPER_OK);
    taper_model_release(model);
    close_world(&w);
}

// Drafts do not run, so invalid options are reported, but unavailable devices are not.
static void drafts(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    char path[512];
    test_path("s01_convnet.ptl", path, sizeof path);
    static const struct {
        const char *device, *precision;
        taper_status status;
    } rows[] = {{"cuda", NULL, TAPER_OK},          {"cuda!", NULL, TAPER_ERROR_UNSUPPORTED},
                {"?", NULL, TAPER_ERROR_ARGUMENT}, {"cuda", "bf16", TAPER_ERROR_UNSUPPORTED},
                {NULL, "bf16", TAPER_OK},          {NULL, "fp64", TAPER_ERROR_ARGUMENT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        load_text said;
        const taper_status read = load_text_read(&said, rows[i].device, NULL, rows[i].precision, w.error);
        if (read != TAPER_OK) {
            assert_int_equal(read, rows[i].status);
            continue;
        }
        said.options.compiler = taper_compiler();
        taper_draft *draft;
        assert_int_equal(taper_draft_load(w.context, path, &said.options, &draft, w.error), rows[i].status);
        taper_draft_release(draft);
        taper_calibrator *calibrator;
        assert_int_equal(taper_calibrator_load(w.context, path, &said.options, NULL, &calibrator, w.error),
                         rows[i].status);
        taper_calibrator_release(calibrator);
    }
    assert_int_equal(w.heard.lines, 0);
    close_world(&w);
}

static void values(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    static const taper_device_choice wrong[] = {{.struct_size = sizeof *wrong},
                                                {.struct_size = 4, .kind = TAPER_DEVICE_CPU},
                                                {.struct_size = sizeof *wrong, .kind = (taper_device_kind)77}};
    static const taper_device_choice away[] = {
        {.struct_size = sizeof *away, .kind = TAPER_DEVICE_CUDA},
        {.struct_size = sizeof *away, .kind = TAPER_DEVICE_VULKAN, .required = 1},
        {.struct_size = sizeof *away, .kind = TAPER_DEVICE_CPU, .index = 1}};
    const int64_t size = 3;
    taper_value *tensor, *moved;
    assert_int_equal(taper_value_tensor(w.context, TAPER_F32, 1, &size, &tensor, NULL), TAPER_OK);
    assert_int_equal(taper_value_to_device(tensor, &on_cpu, &moved, NULL), TAPER_OK);
    assert_ptr_equal(moved, tensor);
    taper_value_release(tensor); // `moved` keeps a reference
    tensor = moved;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(taper_value_to_device(tensor, &wrong[i], &moved, w.error), TAPER_ERROR_ARGUMENT);
        assert_null(moved);
        assert_int_equal(taper_value_to_device(tensor, &away[i], &moved, w.error), TAPER_ERROR_UNSUPPORTED);
        assert_null(moved);
        assert_non_null(strstr(taper_error_message(w.error), "device "));
        assert_int_equal(w.heard.lines, 0);
    }
    taper_value_release(tensor);
    close_world(&w);
}

// The path must be a directory, otherwise creating the context fails before anything else is created. Nothing is
// written to the directory.
static void cache_directories(void **state)
{
    (void)state;
    char file[512], below[600];
    test_path("s01_convnet.ptl", file, sizeof file);
    snprintf(below, sizeof below, "%s/below", file);
    const char *const wrong[] = {"", file, below, "/no/such/directory"};
    taper_error *error = taper_error_create();
    test_allocator memory;
    test_allocator_init(&memory);
    taper_context_options options = {.struct_size = sizeof options, .allocator = &memory.allocator, .threads = 1};
    taper_context *context;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.cache_dir = wrong[i];
        assert_int_equal(taper_context_create(&options, &context, error), TAPER_ERROR_ARGUMENT);
        assert_null(context);
        assert_non_null(strstr(taper_error_message(error), "cache_dir: there is no directory \""));
        assert_non_null(strstr(taper_error_message(error), wrong[i]));
    }
    assert_int_equal(atomic_load(&memory.calls), 0);
    char directory[] = "cache-XXXXXX";
    assert_non_null(mkdtemp(directory));
    options.cache_dir = directory;
    assert_int_equal(taper_context_create(&options, &context, error), TAPER_OK);
    taper_model *model;
    taper_session *session;
    taper_value *result;
    const test_call call = {"", "forward", "f1,3,10,12", TAPER_OK, false};
    assert_int_equal(test_load(context, "s01_convnet.ptl", true, &model, error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, error), TAPER_OK);
    assert_int_equal(test_run(context, session, &call, &result, error), TAPER_OK);
    taper_value_release(result);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    glob_t found; // only the file of packed weights may exist
    char pattern[64];
    (void)snprintf(pattern, sizeof pattern, "%s/taper-*.packs", directory);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(unlink(found.gl_pathv[0]), 0);
    globfree(&found);
    assert_int_equal(rmdir(directory), 0);
    taper_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_that_are_here),
        cmocka_unit_test(devices_that_are_not),
        cmocka_unit_test(without_its_library),
        cmocka_unit_test(devices_that_are_none),
        cmocka_unit_test(precisions),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(drafts),
        cmocka_unit_test(values),
        cmocka_unit_test(cache_directories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
