// SPDX-License-Identifier: BSD-2-Clause
// Devices and precisions under the names that hosts use, and the backends that implement them.
#ifndef TAPER_RUNTIME_DEVICE_H
#define TAPER_RUNTIME_DEVICE_H

#include <taper/taper_device.h>

#include "ops/backend.h"
#include "runtime/context.h"

// The text of a device: its kind, and its number or name, if it has one, after a colon.
typedef struct taper_device_text {
    char text[184];
} taper_device_text;
// Writes the text of a choice. kind: the name of its kind.
void taper_device_write(const taper_device_choice *choice, const char *kind, taper_device_text *text);
// Returns the name of kind number `index` and sets *kind. Returns NULL after the last kind.
const char *taper_device_kind_at(size_t index, taper_device_kind *kind);
const char *taper_precision_name(taper_precision precision);

// Copies the host's choice. If given is NULL, the choice is the host's own device. Fails for an unknown kind.
TAPER_MUST_USE taper_status taper_device_choice_read(const taper_context *context, const taper_device_choice *given,
                                                     taper_device_choice *choice, taper_error *error);
// Fails if the choice requires a device that this build lacks.
TAPER_MUST_USE taper_status taper_device_check(taper_context *context, const taper_device_choice *choice,
                                               taper_error *error);
// Returns the device, opened with these settings and for half precision. A device that is already open in this way is
// reused. If there is none, *device is NULL and *why says why, or the call fails if the choice requires the device.
TAPER_MUST_USE taper_status taper_context_device(taper_context *context, const taper_device_choice *choice,
                                                 const taper_device_setting *settings, size_t setting_count, bool half,
                                                 taper_device **device, const char **why, taper_error *error);
// Returns the CPU backend's kernel for a single operator, or NULL to use the row's own.
taper_kernel taper_context_kernel(const taper_context *context, const taper_op *op);

const char *taper_host_name(void);       // name of the host's own device
taper_device_kind taper_host_kind(void); // kind of the host's own device
bool taper_is_host(const taper_device_choice *choice);

// Replaces backends/backend_list.inc, for tests, before anything is loaded. The array ends with NULL and must remain
// valid.
TAPER_MUST_USE taper_status taper_context_set_backends(taper_context *context, const taper_backend *const *backends,
                                                       taper_error *error);

// Fails if the chosen device lacks the precision.
TAPER_MUST_USE taper_status taper_precision_check(taper_precision precision, const taper_context *context,
                                                  const taper_device_choice *choice, taper_error *error);
TAPER_MUST_USE taper_status taper_no_bf16(const char *device, taper_error *error); // always fails

#endif
