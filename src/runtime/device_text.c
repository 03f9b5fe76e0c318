// SPDX-License-Identifier: BSD-2-Clause
// Parses the texts that name devices and precisions on command lines and in environment variables. No other code parses
// them.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "runtime/device.h"

static TAPER_COLD taper_status unknown_kind(const char *text, taper_error *error)
{
    char all[128] = "";
    size_t used = 0;
    taper_device_kind kind;
    const char *name, *next = taper_device_kind_at(0, &kind);
    for (size_t i = 1; (name = next) != NULL; i++) {
        next = taper_device_kind_at(i, &kind);
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                 i == 1         ? ""
                                 : next == NULL ? " or "
                                                : ", ",
                                 name);
    }
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no device \"%.100s\": a device is %s", text, all);
}

static TAPER_COLD taper_status wrong_form(const char *text, taper_error *error)
{
    taper_device_kind kind;
    const char *example = taper_device_kind_at(1, &kind);
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
               "device \"%.100s\" should be KIND[:INDEX][!], as \"%s\" or \"%s:1!\", or KIND:NAME[!]", text,
               taper_host_name(), example != NULL ? example : taper_host_name());
}

taper_status taper_device_parse(const char *text, taper_device_choice *choice, taper_error *error)
{
    static const char letters[] = "-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    static const char *const small = letters + 28, *const digits = small + 27;
    TAPER_NEED(text, error);
    TAPER_NEED(choice, error);
    taper_device_choice read = {.struct_size = sizeof read};
    const size_t length = strspn(text, small);
    const char *name;
    taper_device_kind kind;
    for (size_t i = 0; (name = taper_device_kind_at(i, &kind)) != NULL; i++) {
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            read.kind = kind;
        }
    }
    const char *rest = text + length;
    bool wrong = length == 0;
    if (*rest == ':') {
        const char *const part = rest + 1;
        const size_t count = strspn(part, letters);
        if (count == strspn(part, digits)) {
            for (size_t i = 0; i < count; i++) {
                read.index = read.index > 99999 ? UINT_MAX : read.index * 10 + (unsigned)(part[i] - '0');
            }
        } else if (count < sizeof read.name) {
            memcpy(read.name, part, count);
        } else {
            wrong = true;
        }
        wrong |= count == 0;
        rest += 1 + count;
    }
    read.required = *rest == '!';
    if (wrong || rest[read.required] != '\0') {
        return wrong_form(text, error);
    }
    return read.kind == 0 ? unknown_kind(text, error)
                          : taper_struct_write(choice, "taper_device_choice", &read, sizeof read, error);
}

taper_status taper_precision_parse(const char *text, taper_precision *precision, taper_error *error)
{
    TAPER_NEED(precision, error);
    for (int p = TAPER_PRECISION_FP32; p <= TAPER_PRECISION_BF16; p++) {
        if (text == NULL || strcmp(text, taper_precision_name((taper_precision)p)) == 0) {
            *precision = (taper_precision)p;
            return TAPER_OK;
        }
    }
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "precision \"%.100s\" should be fp32, fp16 or bf16", text);
}
