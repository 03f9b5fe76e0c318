// SPDX-License-Identifier: BSD-2-Clause
// The history of a tensor says how the tensor was computed, while a run records for gradients (ops/gradient/tape.h). A
// tensor of a run that records nothing has no history.
#ifndef TAPER_IR_HISTORY_H
#define TAPER_IR_HISTORY_H

#include "ir/tensor_def.h"

// The circumstances in which a view was made. PyTorch forbids some writes to such views.
typedef enum taper_view_origin {
    TAPER_VIEW_PLAIN,
    TAPER_VIEW_OF_SEVERAL, // one of several results of one call
    TAPER_VIEW_UNRECORDED  // made while nothing was recorded
} taper_view_origin;

typedef struct taper_history {
    taper_obj *node; // node of the tape that computed the tensor, a reference; NULL if the tensor needs no gradient
    uint32_t output; // index of the tensor among the results of the node
    // Version of the storage when `node` was set. If the storage has another version now, a write through another
    // tensor has changed this view, and `node` is out of date.
    uint32_t version;
    taper_tensor *base; // the tensor of which this tensor is a view, a reference; NULL if it is no view
    uint8_t origin;     // a taper_view_origin, if base is not NULL
    bool written;       // true after a recorded write to this view: the view will get a node when it is used
    bool unversioned;   // true for the data of a tensor (x.data): writes through it do not change the storage's version
    // For a tensor that was given and not computed. leaf: its node, which does not count as a reference, because the
    // node refers to the tensor; NULL if no node depends on the tensor. grad: the gradient that aten::backward added
    // up, a reference; NULL if there is none.
    taper_obj *leaf;
    taper_tensor *grad;
} taper_history;

#ifdef TAPER_WITH_GRADIENTS
// Returns the tensor's history, which is created if the tensor has none. Returns NULL if memory is missing.
taper_history *taper_history_need(taper_tensor *tensor);
// Sets the node that computed the tensor, which may be NULL. The history's version becomes the version of the tensor's
// storage.
TAPER_MUST_USE taper_status taper_history_set(taper_tensor *tensor, taper_obj *node, uint32_t output,
                                              taper_error *error);
// Frees the history of a tensor.
void taper_history_drop(taper_tensor *tensor);
#endif

#endif
