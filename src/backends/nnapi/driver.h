// SPDX-License-Identifier: BSD-2-Clause
// Android's library as it is on this phone: its functions, the device that was chosen, and what went wrong with it.
// Everything but the trouble stays as it was opened, so threads share it.
#ifndef TAPER_BACKENDS_DRIVER_H
#define TAPER_BACKENDS_DRIVER_H

#include <stdatomic.h>

#include "backends/nnapi/neural_networks.h"
#include "backends/nnapi/nnapi_options.h"
#include "ops/call/call.h"

// By their names, without ANeuralNetworks; NULL: not on this phone.
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
    ANeuralNetworksDevice *device; // NULL: the system chooses (before 29)
    int level;                     // 27 to 31: operations of later ones are not known to the device
    int32_t type;                  // ANEURALNETWORKS_DEVICE_
    char name[TAPER_NNAPI_TEXT], version[TAPER_NNAPI_TEXT];
    char kernel[TAPER_NNAPI_TEXT + 8]; // "nnapi: NAME"
    char why[4 * TAPER_NNAPI_TEXT];    // it was not opened
    atomic_int failures;               // calls that failed, or answered with nonsense
    atomic_bool told;                  // trouble is written
    char trouble[TAPER_NNAPI_TROUBLE]; // the first of them
} taper_nnapi_driver;

// Devices stand in this order: accelerators, GPUs, others, the phone's own CPU. The one of that name, or at the index
// where name is NULL. False: there is none, driver->why says why not.
bool taper_nnapi_open(taper_nnapi_driver *driver, const taper_nnapi_options *options, const char *name, unsigned index);
void taper_nnapi_close(taper_nnapi_driver *driver);

// What the driver is not to be trusted after; gives TAPER_DEVICE_LOST.
TAPER_COLD taper_status taper_nnapi_fail(taper_nnapi_driver *driver, const char *format, ...) TAPER_PRINTF(2, 3);
// A result of the function with that number in the list.
TAPER_MUST_USE taper_status taper_nnapi_check(taper_nnapi_driver *driver, size_t function, int result);
// The first trouble; NULL: none.
const char *taper_nnapi_trouble(const taper_nnapi_driver *driver);
const char *taper_nnapi_result_name(int result); // "OP_FAILED"

#define TAPER_NNAPI_NUMBER(function) (offsetof(taper_nnapi_functions, function) / sizeof(void (*)(void)))
#define TAPER_NNAPI_CALL(driver, function, ...)                                                                        \
    taper_nnapi_check((driver), TAPER_NNAPI_NUMBER(function), (driver)->call.function(__VA_ARGS__))

#endif
