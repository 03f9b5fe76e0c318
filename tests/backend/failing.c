// SPDX-License-Identifier: BSD-2-Clause
// Implements the failing layer that failing.h describes.
#include "tests/backend/failing.h"

static taper_status before(layer *l, const layer_event *event)
{
    failing *f = (failing *)l;
    if (event->call != f->call || atomic_fetch_add(&f->seen, 1u) + 1 != f->at) {
        return TAPER_OK;
    }
    return (int)f->status > 0
               ? taper_fail(event->error, f->status, "on command: %s %zu", layer_call_names[f->call], f->at)
               : f->status;
}

void failing_init(failing *f, const taper_backend *inner)
{
    memset(f, 0, sizeof *f);
    layer_init(&f->layer, inner);
    f->layer.before = before;
}

void failing_arm(failing *f, layer_call call, size_t at, taper_status status)
{
    f->call = call;
    f->at = at;
    f->status = status;
    atomic_store(&f->seen, 0u);
}
