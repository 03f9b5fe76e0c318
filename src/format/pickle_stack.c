// SPDX-License-Identifier: BSD-2-Clause
// The stack of the pickle reader, and the reader's error messages.
#include "format/pickle_machine.h"
#include <stdio.h>

taper_status taper_pickle_blame(const taper_pickle *p, taper_status status)
{
    return taper_pickle_fail(p, status == TAPER_ERROR_ARGUMENT ? TAPER_ERROR_FILE : status, "%s",
                             taper_error_message(p->error));
}

taper_status taper_pickle_fail(const taper_pickle *p, taper_status status, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return taper_fail_at(p->error, status, (int64_t)(p->reader.base + p->start), "%s, byte %zu: %s", p->reader.what,
                         p->start, text);
}

taper_status taper_pickle_push(taper_pickle *p, taper_val value, unsigned depth, bool raw)
{
    taper_status status = TAPER_OK;
    if (depth > TAPER_LIMIT_VALUE_DEPTH) {
        status =
            taper_pickle_fail(p, TAPER_ERROR_RESOURCE, "values are nested more than %d deep", TAPER_LIMIT_VALUE_DEPTH);
    } else if (p->count >= TAPER_LIMIT_PICKLE_STACK) {
        status = taper_pickle_fail(p, TAPER_ERROR_RESOURCE, "more than %d values at once", TAPER_LIMIT_PICKLE_STACK);
    } else {
        status = TAPER_GROW(p->allocator, p->stack, p->stack_capacity, p->count + 1, p->error);
    }
    if (status != TAPER_OK) {
        taper_val_release(value);
        return status;
    }
    p->stack[p->count++] =
        (taper_pickle_slot){.value = value, .memo = TAPER_PICKLE_NO_MEMO, .depth = (uint16_t)depth, .raw = raw};
    return TAPER_OK;
}

taper_status taper_pickle_push_new(taper_pickle *p, void *object)
{
    return object != NULL ? taper_pickle_push(p, taper_val_of(object), 0, false) : taper_fail_memory(p->error);
}
