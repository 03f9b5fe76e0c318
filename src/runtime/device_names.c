// SPDX-License-Identifier: BSD-2-Clause
// Names of devices and precisions, for messages and for device_text.c, which parses such names.
#include <stdio.h>

#include "runtime/device.h"

static const struct {
    taper_device_kind kind;
    char name[8];
} kinds[] = {
#define DEVICE(id, text) {TAPER_DEVICE_##id, text},
#include "backends/device_list.inc"
#undef DEVICE
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *taper_device_kind_at(size_t index, taper_device_kind *kind)
{
    *kind = index < KINDS ? kinds[index].kind : (taper_device_kind)0;
    return index < KINDS ? kinds[index].name : NULL;
}

const char *taper_device_kind_name(taper_device_kind kind)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].name;
        }
    }
    return NULL;
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
