// SPDX-License-Identifier: BSD-2-Clause
// The memory order in which PyTorch returns the results of a segment: contiguous, channels-last, or the order of a
// view. NNAPI returns them in another order, so the backend needs the strides that PyTorch's results would have.
#ifndef TAPER_BACKENDS_IMAGE_ORDERS_H
#define TAPER_BACKENDS_IMAGE_ORDERS_H

#include "backends/common/segment_values.h"

typedef enum taper_image_order {
    TAPER_ORDER_PLAIN,  // the result is contiguous
    TAPER_ORDER_LAST,   // the result is channels-last
    TAPER_ORDER_UNKNOWN // the order of a view, or not determined yet
} taper_image_order;

typedef struct taper_image_orders {
    uint8_t *of; // memory order of each value, by the value's number, as in values->shapes
    const taper_segment_values *values;
} taper_image_orders;

// Determines the memory orders of a segment's values. `values` must outlive `orders`. The caller frees `orders`, also
// on failure.
TAPER_MUST_USE taper_status taper_image_orders_init(const taper_segment_values *values, taper_image_orders *orders);
void taper_image_orders_free(taper_image_orders *orders);
// Returns the memory order of a value that the segment computes, if the value is dense.
taper_image_order taper_image_orders_get(const taper_image_orders *orders, const taper_ir_value *value);

#endif
