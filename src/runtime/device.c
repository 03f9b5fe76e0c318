// SPDX-License-Identifier: BSD-2-Clause
// Names of devices and precisions.
#include "runtime/device.h"

#include <string.h>

#include "runtime/arguments.h"

taper_status taper_device_read(const char *text, bool *here, taper_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789", *const digits = letters + 27;
    text = text != NULL ? text : "cpu";
    const size_t name = strspn(text, letters);
    const char *const index = text + name, *rest = index;
    if (*rest == ':') {
        rest += 1 + strspn(rest + 1, digits);
    }
    const bool insists = *rest == '!';
    if (name == 0 || rest == index + 1 || rest[insists] != '\0') {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "device \"%.100s\" should be NAME[:INDEX][!], as \"cpu\" or \"vulkan:1!\"", text);
    }
    *here = strncmp(text, "cpu", name) == 0 && name == 3 && rest - index == (ptrdiff_t)strspn(index, ":0");
    if (!*here && insists) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "device %.*s is not part of this build; without \"!\" the CPU does it", (int)(rest - text), text);
    }
    return TAPER_OK;
}

taper_status taper_precision_check(const char *text, taper_error *error)
{
    if (text == NULL || strcmp(text, "fp32") == 0) {
        return TAPER_OK;
    }
    if (strcmp(text, "fp16") == 0 || strcmp(text, "bf16") == 0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "precision %s is not part of this build: use fp32", text);
    }
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "precision \"%.100s\" should be fp32, fp16 or bf16", text);
}

taper_status taper_value_to_device(taper_value *value, const char *device, taper_value **moved, taper_error *error)
{
    bool here;
    TAPER_NEED_OUT(moved, error);
    TAPER_NEED(value, error);
    TAPER_NEED(device, error);
    TAPER_TRY(taper_device_read(device, &here, error));
    if (!here) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "device %.100s is not part of this build: the value stays on the CPU", device);
    }
    *moved = taper_value_retain(value);
    return TAPER_OK;
}
