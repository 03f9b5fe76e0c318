// SPDX-License-Identifier: BSD-2-Clause
// Android's library on this phone: its functions, the selected device, and its failures. After the driver is opened,
// only the failures change, so threads can share the struct.
#ifndef TAPER_BACKENDS_DRIVER_H
#define TAPER_BACKENDS_DRIVER_H

#include <stdatomic.h>

#include "backends/nnapi/neural_networks.h"
#include "backends/nnapi/nnapi_options.h"
#include "ops/call/call.h"

// The functions, by their names without the prefix ANeuralNetworks. A function is NULL if this phone lacks it.
typedef struct taper_nnapi_functions {
#define TAPER_NNAPI_MEMBER(level, result, name, arguments) ANeuralNetworks##name##_fn name;
    NEURAL_NETWORKS_FUNCTIONS(TAPER_NNAPI_MEMBER)
#undef TAPER_NNAPI_MEMBER
} taper_nnapi_functions;

enum { TAPER_NNAPI_TEXT = 64, TAPER_NNAPI_TROUBLE = 192 };

typedef struct taper_nnapi_driver {
    struct taper_library *library;
    taper_nnapi_functions call;
    taper_nnapi_options options;
    ANeuralNetworksDevice *device; // selected device; NULL if the system selects devices (before level 29)
    int level;                     // API level, 27 to 31; the device lacks operations of later levels
    int32_t type;                  // kind of the device: a code ANEURALNETWORKS_DEVICE_…
    char name[TAPER_NNAPI_TEXT], version[TAPER_NNAPI_TEXT];
    char kernel[TAPER_NNAPI_TEXT + 8]; // text "nnapi: NAME", for the profile
    char why[4 * TAPER_NNAPI_TEXT];    // reason why the device was not opened
    atomic_int failures;               // number of calls that failed or returned invalid data
    atomic_bool told;                  // true after the first failure was logged
    char trouble[TAPER_NNAPI_TROUBLE]; // description of the first failure
} taper_nnapi_driver;

// Opens the device with the name `name`, or if `name` is NULL the device at the index. The order of devices is:
// accelerators, GPUs, other devices, the phone's own CPU. Returns false if there is no such device; driver->why then
// says why.
bool taper_nnapi_open(taper_nnapi_driver *driver, const taper_nnapi_options *options, const char *name, unsigned index);
void taper_nnapi_close(taper_nnapi_driver *driver);

// Records a failure. The driver must not be used afterwards. Returns TAPER_DEVICE_LOST.
TAPER_COLD taper_status taper_nnapi_fail(taper_nnapi_driver *driver, const char *format, ...) TAPER_PRINTF(2, 3);
// Checks a result of the function with this number in the list of functions. Returns TAPER_OK, or records the failure
// and returns TAPER_DEVICE_LOST.
TAPER_MUST_USE taper_status taper_nnapi_check(taper_nnapi_driver *driver, size_t function, int result);
// Returns the description of the first failure, or NULL if nothing has failed.
const char *taper_nnapi_trouble(const taper_nnapi_driver *driver);
const char *taper_nnapi_result_name(int result); // returns a name such as "OP_FAILED"

#define TAPER_NNAPI_NUMBER(function) (offsetof(taper_nnapi_functions, function) / sizeof(void (*)(void)))
#define TAPER_NNAPI_CALL(driver, function, ...)                                                                        \
    taper_nnapi_check((driver), TAPER_NNAPI_NUMBER(function), (driver)->call.function(__VA_ARGS__))

#endif
