// SPDX-License-Identifier: BSD-2-Clause
// A layer over any backend's table: it sees every call, may answer it in the backend's place, and is told how it ended.
// Layers stand over layers. The backend below has a device, segments and recordings of its own, and the memory that
// crosses the seam is seen as well.
#ifndef TAPER_TESTS_LAYER_H
#define TAPER_TESTS_LAYER_H

#include "ops/backend.h"

typedef enum layer_call {
    LAYER_OPEN,
    LAYER_CLOSE,
    LAYER_CLAIM,
    LAYER_PLAN,
    LAYER_RECORD,
    LAYER_RUN,
    LAYER_FORGET,
    LAYER_STORE,
    LAYER_KEEP,  // no call: memory crossed the seam for the first time, stored or as a result
    LAYER_FETCH, // of memory
    LAYER_DROP,  // of memory
    LAYER_CALLS
} layer_call;
extern const char *const layer_call_names[LAYER_CALLS];

// A call, before and after: what it does not have is NULL.
typedef struct layer_event {
    layer_call call;
    taper_device *device; // this layer's
    taper_region *region;
    taper_claim *claim;
    taper_segment *segment; // planned: this layer's
    const taper_segment *run_segment;
    taper_call *args;
    void *note;                 // of a recording: LAYER_NOTE bytes for the layer, zero at first
    const taper_tensor *tensor; // stored, or fetched into
    taper_memory *memory;       // kept, fetched or dropped, or stored into: then only after
    taper_error *error;
    taper_status status; // after
} layer_event;

enum { LAYER_NOTE = 64 };

typedef struct layer {
    taper_backend table; // first
    const taper_backend *inner;
    // Anything but TAPER_OK is the answer, and the backend is not asked. NULL: nothing to say.
    taper_status (*before)(struct layer *layer, const layer_event *event);
    void (*after)(struct layer *layer, const layer_event *event);
} layer;

void layer_init(layer *layer, const taper_backend *inner);

#endif
