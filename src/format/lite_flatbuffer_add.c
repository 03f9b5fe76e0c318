// SPDX-License-Identifier: BSD-2-Clause
// Adds an ivalue to a flatbuffer that is being written.
#include "format/lite_flatbuffer_write.h"

taper_status taper_fb_add(taper_fb_writer *w, taper_fb_kind kind, taper_fbb_ref value, uint32_t *index)
{
    if (w->count >= INT32_MAX) {
        TAPER_FAIL(w->error, TAPER_ERROR_RESOURCE, "the module holds more values than a flatbuffer can");
    }
    TAPER_TRY(TAPER_GROW(w->allocator, w->ivalues, w->capacity, w->count + 1, w->error));
    taper_fbb_table(&w->b);
    taper_fbb_refer(&w->b, 1, value);
    taper_fbb_number(&w->b, 0, 1, kind, TAPER_FB_NONE);
    *index = (uint32_t)w->count;
    w->ivalues[w->count++] = taper_fbb_table_end(&w->b);
    return TAPER_OK;
}
