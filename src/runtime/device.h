// SPDX-License-Identifier: BSD-2-Clause
// Devices and precisions as hosts name them, and the backends that stand behind.
#ifndef TAPER_RUNTIME_DEVICE_H
#define TAPER_RUNTIME_DEVICE_H

#include "ops/backend.h"
#include "runtime/context.h"

// NAME[:INDEX][!] or NAME:CALLED[!]; NULL: the host's own.
typedef struct taper_device_name {
    const char *text;
    size_t length;  // of NAME
    size_t shown;   // without "!"
    size_t called;  // where CALLED begins; 0: there is none
    unsigned index; // UINT_MAX: more than there can be
    bool insists;   // "!": fail rather than have the CPU do it
} taper_device_name;
TAPER_MUST_USE taper_status taper_device_read(const char *text, taper_device_name *name, taper_error *error);
// Fails where the name insists on what this build does not have.
TAPER_MUST_USE taper_status taper_device_check(taper_context *context, const char *text, taper_error *error);
// What hosts may pass as device_options, as far as that can be said of any device.
TAPER_MUST_USE taper_status taper_device_options_check(const char *options, taper_error *error);
// The device, opened with these options, and for half precision, if nobody did before. NULL where there is none: *why
// says so, unless the name insists, which fails.
TAPER_MUST_USE taper_status taper_context_device(taper_context *context, const char *text, const char *options,
                                                 bool half, taper_device **device, const char **why,
                                                 taper_error *error);
// Of what works in the host's memory and does single operators, the CPU. NULL: the row's own.
taper_kernel taper_context_kernel(const taper_context *context, const taper_op *op);

const char *taper_host_name(void); // of the host's own device

// What there is, instead of backends/backend_list.inc: for tests, before anything is loaded. The array ends with NULL
// and stays valid.
TAPER_MUST_USE taper_status taper_context_set_backends(taper_context *context, const taper_backend *const *backends,
                                                       taper_error *error);

// "fp32" (NULL), "fp16" or "bf16", which no device has beside the CPU.
TAPER_MUST_USE taper_status taper_precision_read(const char *text, const char *device, taper_precision *precision,
                                                 taper_error *error);
TAPER_MUST_USE taper_status taper_no_bf16(const char *device, taper_error *error); // fails

#endif
