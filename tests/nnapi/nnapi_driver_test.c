// SPDX-License-Identifier: BSD-2-Clause
// Tests the library, devices, compilations and executions (backends/nnapi) with the emulation of one API level. Its
// folder is in LD_LIBRARY_PATH and the level in TAPER_TEST_NNAPI_LEVEL. The networks are built in C.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <taper/taper_device.h>

#include "ops/call/call.h"
#include "tests/api/fixture.h"
#include "tests/nnapi/double_world.h"
#include "tests/nnapi/networks.h"

static void open_driver(taper_nnapi_driver *driver, const char *name, unsigned index)
{
    taper_nnapi_options options = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, .level = 31};
    memset(driver, 0, sizeof *driver);
    if (!taper_nnapi_open(driver, &options, name, index)) {
        fail_msg("%s", driver->why);
    }
}

static bool refuses(taper_nnapi_driver *driver, const char *name, unsigned index, const char *words)
{
    taper_nnapi_options options = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, .level = 31};
    memset(driver, 0, sizeof *driver);
    const bool opened = taper_nnapi_open(driver, &options, name, index);
    if (!opened && strstr(driver->why, words) == NULL) {
        fail_msg("%s", driver->why);
    }
    return !opened;
}

static void drivers(void **state)
{
    (void)state;
    const int level = double_level();
    taper_nnapi_driver driver;
    double_switch(NULL);
    open_driver(&driver, NULL, 0);
    assert_int_equal(driver.level, level);
    assert_string_equal(driver.name, level >= 29 ? "double-accelerator" : "default");
    assert_string_equal(driver.version, level >= 29 ? "1" : "");
    assert_string_equal(driver.kernel, level >= 29 ? "nnapi: double-accelerator" : "nnapi: default");
    assert_int_equal(driver.device != NULL, level >= 29);
#define PRESENT(since, result, name, arguments) assert_int_equal(driver.call.name != NULL, level >= since);
    NEURAL_NETWORKS_FUNCTIONS(PRESENT)
    taper_nnapi_close(&driver);
    if (level < 29) {
        assert_true(refuses(&driver, "double-accelerator", 0, "no list of devices before level 29"));
        assert_true(refuses(&driver, NULL, 1, "no list of devices before level 29"));
        double_is_silent();
        return;
    }
    open_driver(&driver, "double-reference", 0);
    assert_string_equal(driver.name, "double-reference");
    taper_nnapi_close(&driver);
    open_driver(&driver, NULL, 1);
    assert_string_equal(driver.name, "double-reference"); // the last device is a CPU
    taper_nnapi_close(&driver);
    static const char which[] = "is not among NNAPI's devices here: double-accelerator double-reference";
    assert_true(refuses(&driver, "double", 0, which));
    assert_true(refuses(&driver, NULL, 2, which));
    double_switch("no_devices");
    assert_true(refuses(&driver, NULL, 0, "NNAPI has no devices here"));
    static const char *const calls[] = {"_getDeviceCount", "_getDevice",        "Device_getName",
                                        "Device_getType",  "Device_getVersion", "Device_getFeatureLevel"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char text[128];
        snprintf(text, sizeof text, "fail=ANeuralNetworks%s:1:OP_FAILED", calls[i]);
        double_switch(text);
        snprintf(text, sizeof text, "cannot be used: ANeuralNetworks%s failed: OP_FAILED", calls[i]);
        assert_true(refuses(&driver, NULL, 0, text));
    }
    double_is_silent();
}

static void options(void **state)
{
    (void)state;
    taper_nnapi_options o = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, .level = 31};
    taper_nnapi_driver driver;
    taper_error *error = taper_error_create();
    double_switch(NULL);
    static const taper_device_setting settings[] = {{TAPER_NNAPI_PREFERENCE, TAPER_NNAPI_SUSTAINED_SPEED},
                                                    {TAPER_NNAPI_RELAX_F32_TO_F16, 1},
                                                    {TAPER_NNAPI_LEVEL, 28}};
    taper_nnapi_options_set(settings, 3, &o);
    assert_true(o.preference == ANEURALNETWORKS_PREFER_SUSTAINED_SPEED && o.relax && o.level == 28);
    memset(&driver, 0, sizeof driver);
    assert_true(taper_nnapi_open(&driver, &o, NULL, 0)); // functions of later API levels must not be used
    assert_int_equal(driver.level, double_level() < 28 ? 27 : 28);
    assert_null(driver.call._getDeviceCount);
    taper_nnapi_close(&driver);
    static const char *const wrong[] = {"level=26",   "level=32",         "level=",
                                        "preference", "Level=29",         "level=29,,",
                                        "x",          "relax_f32_to_f16", "level=29;relax_f32_to_f16=1",
                                        ",",          "layout=nhwc"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        taper_device_setting read[4];
        size_t count;
        assert_int_equal(taper_device_options_parse(wrong[i], read, 4, &count, error), TAPER_ERROR_ARGUMENT);
        assert_int_equal(count, 0);
        assert_non_null(strstr(taper_error_message(error), "is none of preference=default|low_power"));
    }
    taper_error_destroy(error);
    double_is_silent();
}

// Compiles the network and runs it twice.
static taper_status run_made(taper_nnapi_driver *driver, const made_network *made, const taper_allocator *allocator,
                             const char *cache_dir, int32_t *unsupported)
{
    taper_nnapi_compiled compiled;
    taper_nnapi_execution execution;
    taper_nnapi_refusal refusal = {NULL, -1};
    const char *why = NULL;
    taper_status status = taper_nnapi_compile(driver, cache_dir, &made->network, &compiled, &refusal, NULL);
    *unsupported = refusal.operation;
    if (status != TAPER_OK) {
        assert_true(status != TAPER_DECLINED || refusal.why != NULL);
        return status;
    }
    status = taper_nnapi_execution_create(driver, allocator, &made->network, &compiled, &execution, &why, NULL);
    if (status == TAPER_OK) {
        for (int run = 0; status == TAPER_OK && run < 2; run++) {
            for (uint32_t i = 0; i < made->network.input_count; i++) {
                memcpy(taper_nnapi_input(&execution, i), made->in[i], made->in_bytes[i]);
            }
            memset(execution.memory.data + execution.ports[execution.in_count].at, 0x55, 8);
            status = taper_nnapi_execution_run(driver, &execution, NULL);
            if (status == TAPER_OK && !made_network_is_right(made, &execution)) {
                status = TAPER_ERROR_INTERNAL;
            }
        }
        taper_nnapi_execution_free(driver, &execution);
    } else {
        assert_true(status != TAPER_DECLINED || why != NULL);
    }
    taper_nnapi_compilation_free(driver, &compiled);
    return status;
}

static void networks(void **state)
{
    (void)state;
    double_switch(NULL);
    for (int kind = 0; kind < MADE_KINDS; kind++) {
        for (int sharing = 0; sharing < 2; sharing++) {
            taper_nnapi_driver driver;
            made_network made;
            int32_t unsupported;
            made_network_create(&made, (made_kind)kind, &taper_allocator_system);
            open_driver(&driver, NULL, 0);
            if (sharing == 0) { // the driver cannot create memory objects
                double_switch("fail=ANeuralNetworksMemory_createFromFd:1:UNMAPPABLE");
            }
            const taper_status status = run_made(&driver, &made, &taper_allocator_system, ".", &unsupported);
            if (status != (double_level() >= made.first_level ? TAPER_OK : TAPER_DECLINED)) {
                fail_msg("network %d: status %d, %s", kind, (int)status,
                         taper_nnapi_trouble(&driver) != NULL ? taper_nnapi_trouble(&driver) : "");
            }
            taper_nnapi_close(&driver);
            made_network_free(&made);
            double_switch(NULL);
        }
    }
    double_is_silent();
}

// Each call of the driver fails once: nothing may be leaked, and the error must name the function.
static void failures(void **state)
{
    (void)state;
    static const char *const names[] = {
#define NAME(level, result, name, arguments) #name,
        NEURAL_NETWORKS_FUNCTIONS(NAME)
#undef NAME
    };
    int failed = 0;
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        for (int kind = 0; kind < MADE_KINDS; kind++) {
            for (int call = 1; call <= 3; call++) {
                char text[160];
                taper_nnapi_driver driver;
                made_network made;
                int32_t unsupported;
                double_switch(NULL);
                made_network_create(&made, (made_kind)kind, &taper_allocator_system);
                open_driver(&driver, NULL, 0);
                snprintf(text, sizeof text, "fail=ANeuralNetworks%s:%d:OP_FAILED", names[f], call);
                double_switch(text);
                const taper_status status = run_made(&driver, &made, &taper_allocator_system, NULL, &unsupported);
                const char *trouble = taper_nnapi_trouble(&driver);
                snprintf(text, sizeof text, "ANeuralNetworks%s failed: OP_FAILED", names[f]);
                if (trouble != NULL) {
                    assert_int_equal(status, TAPER_DEVICE_LOST);
                    assert_string_equal(trouble, text);
                    failed++;
                } else if (status != TAPER_OK && !(status == TAPER_DECLINED && double_level() < made.first_level)) {
                    fail_msg("%s, network %d: status %d", names[f], kind, (int)status);
                }
                taper_nnapi_close(&driver);
                made_network_free(&made);
            }
        }
    }
    printf("level %d: %d calls failed\n", double_level(), failed);
    assert_true(failed >= (double_level() < 29 ? 60 : 120));
    double_switch(NULL);
    double_is_silent();
}

static void other_switches(void **state)
{
    (void)state;
    taper_nnapi_driver driver;
    made_network made;
    int32_t unsupported;
    made_network_create(&made, MADE_CONV_RELU, &taper_allocator_system);
    open_driver(&driver, NULL, 0);
    double_switch("refuse=3");
    assert_int_equal(run_made(&driver, &made, &taper_allocator_system, NULL, &unsupported), TAPER_DECLINED);
    assert_int_equal(unsupported, double_level() >= 29 ? ANEURALNETWORKS_CONV_2D : -1);
    assert_null(taper_nnapi_trouble(&driver));
    double_switch("lost=2");
    assert_int_equal(run_made(&driver, &made, &taper_allocator_system, NULL, &unsupported), TAPER_DEVICE_LOST);
    assert_non_null(strstr(taper_nnapi_trouble(&driver), "failed: DEAD_OBJECT"));
    double_switch("wrong");
    assert_int_equal(run_made(&driver, &made, &taper_allocator_system, NULL, &unsupported), TAPER_ERROR_INTERNAL);
    double_switch("garbage_sizes");
    // A failure of the function that reads sizes of results has no effect, because this network needs no such call.
    assert_int_equal(run_made(&driver, &made, &taper_allocator_system, NULL, &unsupported), TAPER_OK);
    taper_nnapi_close(&driver);
    made_network_free(&made);
    for (int kind = MADE_OPEN; kind <= MADE_OPEN_LARGE && double_level() >= 29; kind++) {
        made_network_create(&made, (made_kind)kind, &taper_allocator_system);
        open_driver(&driver, NULL, 0);
        assert_int_equal(run_made(&driver, &made, &taper_allocator_system, NULL, &unsupported), TAPER_DEVICE_LOST);
        assert_non_null(strstr(taper_nnapi_trouble(&driver), "says that output 0 has 2147483647 dimensions, not 2"));
        taper_nnapi_close(&driver);
        made_network_free(&made);
    }
    double_switch(NULL);
    double_is_silent();
}

static void no_memory(void **state)
{
    (void)state;
    double_switch(NULL);
    test_allocator memory;
    test_allocator_init(&memory);
    for (int kind = 0; kind < MADE_KINDS; kind++) {
        taper_nnapi_driver driver;
        made_network made;
        taper_status status = TAPER_ERROR_RESOURCE;
        made_network_create(&made, (made_kind)kind, &taper_allocator_system);
        made.network.allocator = &memory.allocator;
        open_driver(&driver, NULL, 0);
        for (size_t nth = 1; status == TAPER_ERROR_RESOURCE; nth++) {
            int32_t unsupported;
            assert_true(nth < 100);
            memory.fail_at = atomic_load(&memory.calls) + nth;
            status = run_made(&driver, &made, &memory.allocator, NULL, &unsupported);
            assert_int_equal(atomic_load(&memory.blocks), 0);
        }
        assert_int_equal(status, double_level() >= made.first_level ? TAPER_OK : TAPER_DECLINED);
        made.network.allocator = &taper_allocator_system;
        taper_nnapi_close(&driver);
        made_network_free(&made);
    }
    double_is_silent();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers),  cmocka_unit_test(options),        cmocka_unit_test(networks),
        cmocka_unit_test(failures), cmocka_unit_test(other_switches), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
