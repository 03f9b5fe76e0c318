// SPDX-License-Identifier: BSD-2-Clause
// The text by which command lines and environment variables name devices and precisions: the only place that reads it.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "runtime/device.h"

static const struct {
    taper_device_kind kind;
    const char *name;
} kinds[] = {
#define DEVICE(id, text) {TAPER_DEVICE_##id, text},
#include "backends/device_list.inc"
#undef DEVICE
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *taper_device_kind_name(taper_device_kind kind)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].name;
        }
    }
    return NULL;
}

static TAPER_COLD taper_status unknown_kind(const char *text, taper_error *error)
{
    char all[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < KINDS; i++) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == KINDS ? " or "
                                                  : ", ",
                                 kinds[i].name);
    }
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no device \"%.100s\": a device is %s", text, all);
}

static TAPER_COLD taper_status wrong_form(const char *text, taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
               "device \"%.100s\" should be KIND[:INDEX][!], as \"%s\" or \"%s:1!\", or KIND:NAME[!]", text,
               kinds[0].name, kinds[1].name);
}

taper_status taper_device_parse(const char *text, taper_device_choice *choice, taper_error *error)
{
    static const char letters[] = "-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    static const char *const small = letters + 28, *const digits = small + 27;
    TAPER_NEED(text, error);
    TAPER_NEED(choice, error);
    taper_device_choice read = {.struct_size = sizeof read};
    const size_t length = strspn(text, small);
    for (size_t i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, text, length) == 0) {
            read.kind = kinds[i].kind;
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

void taper_device_write(const taper_device_choice *choice, const char *kind, taper_device_text *text)
{
    int length = snprintf(text->text, sizeof text->text, "%.40s", kind);
    length += choice->name[0] != '\0'
                  ? snprintf(text->text + length, sizeof text->text - (size_t)length, ":%s", choice->name)
                  : 0;
    if (choice->name[0] == '\0' && choice->index != 0) {
        (void)snprintf(text->text + length, sizeof text->text - (size_t)length, ":%u", choice->index);
    }
}

static const char precisions[][5] = {
    [TAPER_PRECISION_FP32] = "fp32", [TAPER_PRECISION_FP16] = "fp16", [TAPER_PRECISION_BF16] = "bf16"};

const char *taper_precision_name(taper_precision precision)
{
    return (unsigned)precision <= TAPER_PRECISION_BF16 ? precisions[precision] : "unknown";
}

taper_status taper_precision_parse(const char *text, taper_precision *precision, taper_error *error)
{
    TAPER_NEED(precision, error);
    for (int p = TAPER_PRECISION_FP32; p <= TAPER_PRECISION_BF16; p++) {
        if (text == NULL || strcmp(text, precisions[p]) == 0) {
            *precision = (taper_precision)p;
            return TAPER_OK;
        }
    }
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "precision \"%.100s\" should be fp32, fp16 or bf16", text);
}
