// SPDX-License-Identifier: BSD-2-Clause
// Devices and precisions as hosts name them, and the backends that stand behind.
#ifndef TAPER_RUNTIME_DEVICE_H
#define TAPER_RUNTIME_DEVICE_H

#include <taper/taper_device.h>

#include "ops/backend.h"
#include "runtime/context.h"

// A device as people write it: its kind, with the number or name after a colon if it has one.
typedef struct taper_device_text {
    char text[184];
} taper_device_text;
// kind: the name of the choice's kind.
void taper_device_write(const taper_device_choice *choice, const char *kind, taper_device_text *text);
// The name of kind number `index`, and the kind; NULL after the last.
const char *taper_device_kind_at(size_t index, taper_device_kind *kind);
const char *taper_precision_name(taper_precision precision);

// Copies what a host gives, or the host's own device if that is NULL. Fails for a kind that nobody knows.
TAPER_MUST_USE taper_status taper_device_choice_read(const taper_context *context, const taper_device_choice *given,
                                                     taper_device_choice *choice, taper_error *error);
// Fails if the choice requires a device that this build does not have.
TAPER_MUST_USE taper_status taper_device_check(taper_context *context, const taper_device_choice *choice,
                                               taper_error *error);
// The device, opened with these settings, and for half precision, if nobody did before. NULL if there is none: *why
// says why, unless the choice requires it, which fails.
TAPER_MUST_USE taper_status taper_context_device(taper_context *context, const taper_device_choice *choice,
                                                 const taper_device_setting *settings, size_t setting_count, bool half,
                                                 taper_device **device, const char **why, taper_error *error);
// Of what works in the host's memory and does single operators, the CPU. NULL: the row's own.
taper_kernel taper_context_kernel(const taper_context *context, const taper_op *op);

const char *taper_host_name(void);       // of the host's own device
taper_device_kind taper_host_kind(void); // the same
bool taper_is_host(const taper_device_choice *choice);

// What there is, instead of backends/backend_list.inc: for tests, before anything is loaded. The array ends with NULL
// and stays valid.
TAPER_MUST_USE taper_status taper_context_set_backends(taper_context *context, const taper_backend *const *backends,
                                                       taper_error *error);

// Fails if that device has no such precision.
TAPER_MUST_USE taper_status taper_precision_check(taper_precision precision, const taper_context *context,
                                                  const taper_device_choice *choice, taper_error *error);
TAPER_MUST_USE taper_status taper_no_bf16(const char *device, taper_error *error); // fails

#endif
