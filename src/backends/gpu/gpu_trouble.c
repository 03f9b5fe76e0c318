// SPDX-License-Identifier: BSD-2-Clause
// Describes a failure of a device in words: see gpu_api.h. One thread may make pipelines while another one submits, so
// both may fail. The first description remains whatever happens later, so no thread reads a text that is being written.
#include <stdarg.h>
#include <stdio.h>

#include "backends/gpu/gpu_api.h"

enum { NOTHING, BEING_WRITTEN, THERE };

void taper_gpu_note(taper_gpu *gpu, const char *format, ...)
{
    int nothing = NOTHING;
    if (!atomic_compare_exchange_strong(&gpu->troubled, &nothing, BEING_WRITTEN)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(gpu->trouble, sizeof gpu->trouble, format, arguments);
    va_end(arguments);
    for (char *at = gpu->trouble; *at != '\0'; at++) { // joins the lines of a compiler's error text
        *at = *at == '\n' ? ' ' : *at;
    }
    atomic_store(&gpu->troubled, THERE);
}

const char *taper_gpu_trouble(const taper_gpu *gpu)
{
    return atomic_load(&gpu->troubled) == THERE ? gpu->trouble : "a call of its driver failed";
}
