// SPDX-License-Identifier: BSD-2-Clause
// A layer over the table of any backend. It sees every call, may answer it instead of the backend, and sees the result.
// Layers can be stacked. The backend below a layer has its own devices, segments and recordings. The layer also sees
// memory of tensors that passes between the backend and the library.
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
    LAYER_KEEP,  // not a call: the layer sees a memory for the first time, as a stored input or as a result
    LAYER_FETCH, // copies the memory of a tensor to the host
    LAYER_DROP,  // frees memory
    LAYER_CALLS
} layer_call;
extern const char *const layer_call_names[LAYER_CALLS];

// A call, before and after it is made. Members that do not apply to the call are NULL.
typedef struct layer_event {
    layer_call call;
    taper_device *device; // device of this layer
    taper_region *region;
    taper_claim *claim;
    taper_segment *segment; // planned segment of this layer
    const taper_segment *run_segment;
    taper_call *args;
    void *note;                 // LAYER_NOTE bytes of a recording for data of the layer, initially zero
    const taper_tensor *tensor; // tensor that is stored, or that a fetch fills
    taper_memory *memory;       // memory that is kept, fetched or dropped; a call that stores a tensor sets it
    taper_error *error;
    taper_status status; // status that the call returned, set only after the call
} layer_event;

enum { LAYER_NOTE = 64 };

typedef struct layer {
    taper_backend table; // must be the first member
    const taper_backend *inner;
    // The layer calls this function before the backend. If the function returns a status other than TAPER_OK, the call
    // returns this status, and the backend is not called. May be NULL.
    taper_status (*before)(struct layer *layer, const layer_event *event);
    void (*after)(struct layer *layer, const layer_event *event);
} layer;

void layer_init(layer *layer, const taper_backend *inner);

#endif
