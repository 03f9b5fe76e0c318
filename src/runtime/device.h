// SPDX-License-Identifier: BSD-2-Clause
// Maps the devices and precisions that hosts choose to the backends that implement them.
#ifndef TAPER_RUNTIME_DEVICE_H
#define TAPER_RUNTIME_DEVICE_H

#include <taper/taper_device.h>

#include "ops/backend.h"
#include "runtime/context.h"

// The text of a device: the name of its kind, and after a colon the device's number or name, if it has one.
typedef struct taper_device_text {
    char text[184];
} taper_device_text;
// Writes the text of a chosen device. kind: name of the device's kind.
void taper_device_write(const taper_device_choice *choice, const char *kind, taper_device_text *text);
// Returns the name of kind number `index` and sets *kind. Returns NULL after the last kind.
const char *taper_device_kind_at(size_t index, taper_device_kind *kind);
const char *taper_precision_name(taper_precision precision);

// Copies the host's choice to *choice. If `given` is NULL, the CPU is chosen. Fails if the kind of device is unknown.
TAPER_MUST_USE taper_status taper_device_choice_read(const taper_context *context, const taper_device_choice *given,
                                                     taper_device_choice *choice, taper_error *error);
// Fails if the choice requires a device that this build does not support.
TAPER_MUST_USE taper_status taper_device_check(taper_context *context, const taper_device_choice *choice,
                                               taper_error *error);
// Returns the device, opened with these settings and for half precision if requested. If the device is already open
// with the same settings, it is reused. If there is no such device, *device is NULL and *why gives the reason; but if
// the choice requires the device, the call fails.
TAPER_MUST_USE taper_status taper_context_device(taper_context *context, const taper_device_choice *choice,
                                                 const taper_device_setting *settings, size_t setting_count, bool half,
                                                 taper_device **device, const char **why, taper_error *error);
// Returns the CPU backend's kernel for a single operator, or NULL if the operator's own kernel should be used.
taper_kernel taper_context_kernel(const taper_context *context, const taper_op *op);

const char *taper_host_name(void);       // returns the name of the host's own device, the CPU
taper_device_kind taper_host_kind(void); // returns the kind of the host's own device, the CPU
bool taper_is_host(const taper_device_choice *choice);

// Replaces backends/backend_list.inc, for tests. Call it before anything is loaded. The array ends with NULL and must
// remain valid.
TAPER_MUST_USE taper_status taper_context_set_backends(taper_context *context, const taper_backend *const *backends,
                                                       taper_error *error);

// Fails if the chosen device does not support the precision.
TAPER_MUST_USE taper_status taper_precision_check(taper_precision precision, const taper_context *context,
                                                  const taper_device_choice *choice, taper_error *error);
// Sets the error that the device does not support bf16, and returns the error's status.
TAPER_MUST_USE taper_status taper_no_bf16(const char *device, taper_error *error);

#endif
