// SPDX-License-Identifier: BSD-2-Clause
// Opens Android's library, finds its functions, and selects the device.
#include "backends/nnapi/driver.h"

#include <stdio.h>
#include <string.h>

#include "platform/dynamic_library.h"

// Names of functions, each ended by a NUL, in the order of taper_nnapi_functions.
static const char names[] =
#define NAME(level, result, name, arguments) #name "\0"
    NEURAL_NETWORKS_FUNCTIONS(NAME);
#undef NAME
static const uint8_t levels[] = {
#define LEVEL(level, result, name, arguments) level,
    NEURAL_NETWORKS_FUNCTIONS(LEVEL)
#undef LEVEL
};
enum { FUNCTIONS = sizeof levels, FIRST_LEVEL = 27, MOST_DEVICES = 64 };
_Static_assert(sizeof(taper_nnapi_functions) == FUNCTIONS * sizeof(taper_library_function), "pointers of one size");

static const char *name_of(size_t function)
{
    const char *name = names;
    while (function-- != 0) {
        name += strlen(name) + 1;
    }
    return name;
}

// ---- failures of the driver

const char *taper_nnapi_result_name(int result)
{
    static const char results[] = "NO_ERROR\0OUT_OF_MEMORY\0INCOMPLETE\0UNEXPECTED_NULL\0BAD_DATA\0OP_FAILED\0"
                                  "BAD_STATE\0UNMAPPABLE\0OUTPUT_INSUFFICIENT_SIZE\0UNAVAILABLE_DEVICE\0"
                                  "MISSED_DEADLINE_TRANSIENT\0MISSED_DEADLINE_PERSISTENT\0"
                                  "RESOURCE_EXHAUSTED_TRANSIENT\0RESOURCE_EXHAUSTED_PERSISTENT\0DEAD_OBJECT\0";
    const char *name = results;
    for (int i = 0; i < result && *name != '\0'; i++) {
        name += strlen(name) + 1;
    }
    return result < 0 || *name == '\0' ? "an unknown error" : name;
}

taper_status taper_nnapi_fail(taper_nnapi_driver *driver, const char *format, ...)
{
    if (atomic_fetch_add(&driver->failures, 1) == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(driver->trouble, sizeof driver->trouble, format, arguments);
        va_end(arguments);
        atomic_store(&driver->told, true);
    }
    return TAPER_DEVICE_LOST;
}

taper_status taper_nnapi_check(taper_nnapi_driver *driver, size_t function, int result)
{
    return result == ANEURALNETWORKS_NO_ERROR ? TAPER_OK
                                              : taper_nnapi_fail(driver, "ANeuralNetworks%s failed: %s",
                                                                 name_of(function), taper_nnapi_result_name(result));
}

const char *taper_nnapi_trouble(const taper_nnapi_driver *driver)
{
    return atomic_load(&driver->told) ? driver->trouble : NULL;
}

// ---- finding the functions of Android's library

static void find_functions(taper_nnapi_driver *driver)
{
    taper_library_function found[FUNCTIONS];
    const char *name = names;
    char full[TAPER_NNAPI_TEXT];
    for (size_t i = 0; i < FUNCTIONS; i++, name += strlen(name) + 1) {
        snprintf(full, sizeof full, "ANeuralNetworks%s", name);
        found[i] = levels[i] <= driver->options.level ? taper_library_find(driver->library, full) : NULL;
    }
    memcpy(&driver->call, found, sizeof found);
}

// Returns the name of a missing function of NNAPI's first API level (27), or NULL if none is missing.
static const char *lacks(const taper_nnapi_driver *driver)
{
    taper_library_function found[FUNCTIONS];
    memcpy(found, &driver->call, sizeof found);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (levels[i] == FIRST_LEVEL && found[i] == NULL) {
            return name_of(i);
        }
    }
    return NULL;
}

// Returns the highest API level of which all functions that Taper requires are available.
static int level_of(const taper_nnapi_functions *call)
{
    const bool lists = call->_getDeviceCount != NULL && call->_getDevice != NULL && call->Device_getName != NULL &&
                       call->Device_getType != NULL && call->Device_getVersion != NULL &&
                       call->Device_getFeatureLevel != NULL && call->Compilation_createForDevices != NULL &&
                       call->Model_getSupportedOperationsForDevices != NULL && call->Execution_compute != NULL &&
                       call->Model_setOperandSymmPerChannelQuantParams != NULL;
    return call->Model_relaxComputationFloat32toFloat16 == NULL ? 27
           : !lists                                             ? 28
           : call->Compilation_setTimeout == NULL               ? 29
           : call->Execution_setReusable == NULL                ? 30
                                                                : 31;
}

// ---- selecting the device

// Copies a driver's name, and replaces characters that do not fit in a line of the log or after "nnapi:".
static void copy_text(char *to, const char *from)
{
    size_t i = 0;
    for (; from != NULL && i < TAPER_NNAPI_TEXT - 1 && from[i] != '\0'; i++) {
        const char c = from[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '.' || c == '_';
        to[i] = c;
        if (!plain) {
            to[i] = '_';
        }
    }
    to[i] = '\0';
}

// Returns the place of this type in the order of devices. Types with smaller numbers come first.
static unsigned place_of(int32_t type)
{
    return type == ANEURALNETWORKS_DEVICE_ACCELERATOR ? 0
           : type == ANEURALNETWORKS_DEVICE_GPU       ? 1
           : type == ANEURALNETWORKS_DEVICE_CPU       ? 3
                                                      : 2;
}

typedef struct listed_device {
    ANeuralNetworksDevice *device;
    int32_t type;
    char name[TAPER_NNAPI_TEXT];
} listed_device;

static taper_status list_devices(taper_nnapi_driver *driver, listed_device *list, uint32_t *count)
{
    TAPER_TRY(TAPER_NNAPI_CALL(driver, _getDeviceCount, count));
    if (*count > MOST_DEVICES) {
        return taper_nnapi_fail(driver, "says that it has %u devices", (unsigned)*count);
    }
    for (uint32_t i = 0; i < *count; i++) {
        listed_device *one = &list[i];
        const char *name = NULL;
        one->device = NULL;
        TAPER_TRY(TAPER_NNAPI_CALL(driver, _getDevice, i, &one->device));
        TAPER_TRY(TAPER_NNAPI_CALL(driver, Device_getName, one->device, &name));
        TAPER_TRY(TAPER_NNAPI_CALL(driver, Device_getType, one->device, &one->type));
        copy_text(one->name, name);
    }
    return TAPER_OK;
}

// Returns the device with this name, or the device at this index if `name` is NULL. Returns NULL if there is no such
// device.
static const listed_device *choose(const listed_device *list, uint32_t count, const char *name, unsigned index)
{
    for (unsigned place = 0; place < 4; place++) {
        for (uint32_t i = 0; i < count; i++) {
            if (place_of(list[i].type) == place && (name != NULL ? strcmp(name, list[i].name) == 0 : index-- == 0)) {
                return &list[i];
            }
        }
    }
    return NULL;
}

static void say_which(taper_nnapi_driver *driver, const listed_device *list, uint32_t count)
{
    size_t used = (size_t)snprintf(driver->why, sizeof driver->why, "is not among NNAPI's devices here:");
    for (unsigned place = 0; place < 4; place++) {
        for (uint32_t i = 0; i < count && used < sizeof driver->why; i++) {
            if (place_of(list[i].type) == place) {
                used += (size_t)snprintf(driver->why + used, sizeof driver->why - used, " %s", list[i].name);
            }
        }
    }
    if (count == 0) {
        snprintf(driver->why, sizeof driver->why, "is not there: NNAPI has no devices here");
    }
}

static taper_status choose_device(taper_nnapi_driver *driver, const char *name, unsigned index)
{
    listed_device list[MOST_DEVICES];
    uint32_t count = 0;
    int64_t level = 0;
    const char *version = NULL;
    TAPER_TRY(list_devices(driver, list, &count));
    const listed_device *chosen = choose(list, count, name, index);
    if (chosen == NULL) {
        say_which(driver, list, count);
        return TAPER_DECLINED;
    }
    TAPER_TRY(TAPER_NNAPI_CALL(driver, Device_getFeatureLevel, chosen->device, &level));
    TAPER_TRY(TAPER_NNAPI_CALL(driver, Device_getVersion, chosen->device, &version));
    if (level < FIRST_LEVEL) {
        return taper_nnapi_fail(driver, "says that its level is %lld", (long long)level);
    }
    driver->device = chosen->device;
    driver->type = chosen->type;
    // Both the phone and the device support the lower one of their levels. Devices report the levels after 31 as
    // 1000006 and so on, which are greater, too.
    driver->level = level < driver->level ? (int)level : driver->level;
    memcpy(driver->name, chosen->name, sizeof driver->name);
    copy_text(driver->version, version);
    return TAPER_OK;
}

// ---- opening the driver

static taper_status open(taper_nnapi_driver *driver, const char *name, unsigned index)
{
    driver->library = taper_library_open("libneuralnetworks.so");
    if (driver->library == NULL) {
        snprintf(driver->why, sizeof driver->why, "is not available: libneuralnetworks.so was not found");
        return TAPER_DECLINED;
    }
    find_functions(driver);
    const char *lacking = lacks(driver);
    if (lacking != NULL) {
        snprintf(driver->why, sizeof driver->why, "cannot be used: libneuralnetworks.so has no ANeuralNetworks%s",
                 lacking);
        return TAPER_DECLINED;
    }
    driver->level = level_of(&driver->call);
    if (driver->level >= 29) {
        return choose_device(driver, name, index);
    }
    if (name != NULL || index != 0) {
        snprintf(driver->why, sizeof driver->why, "cannot be chosen: NNAPI has no list of devices before level 29");
        return TAPER_DECLINED;
    }
    copy_text(driver->name, "default");
    return TAPER_OK;
}

bool taper_nnapi_open(taper_nnapi_driver *driver, const taper_nnapi_options *options, const char *name, unsigned index)
{
    driver->options = *options;
    const taper_status status = open(driver, name, index);
    if (status == TAPER_DEVICE_LOST) {
        snprintf(driver->why, sizeof driver->why, "cannot be used: %s", driver->trouble);
    }
    if (status != TAPER_OK) {
        taper_nnapi_close(driver);
        return false;
    }
    snprintf(driver->kernel, sizeof driver->kernel, "nnapi: %s", driver->name);
    return true;
}

void taper_nnapi_close(taper_nnapi_driver *driver)
{
    taper_library_close(driver->library);
    driver->library = NULL;
}
