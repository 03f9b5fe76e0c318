// SPDX-License-Identifier: BSD-2-Clause
// In which order of memory PyTorch gives the results of a segment: contiguous, channels-last, or as some view has it.
// NNAPI gives them in any order; who takes them must find the strides that PyTorch's would have.
#ifndef TAPER_BACKENDS_IMAGE_ORDERS_H
#define TAPER_BACKENDS_IMAGE_ORDERS_H

#include "backends/common/segment_values.h"

typedef enum taper_image_order {
    TAPER_ORDER_PLAIN,  // contiguous
    TAPER_ORDER_LAST,   // channels-last
    TAPER_ORDER_UNKNOWN // of a view, or nobody has asked yet
} taper_image_order;

typedef struct taper_image_orders {
    uint8_t *of; // of the segment's values, as values->shapes has them
    const taper_segment_values *values;
} taper_image_orders;

// values must stay. To be freed also on failure.
TAPER_MUST_USE taper_status taper_image_orders_init(const taper_segment_values *values, taper_image_orders *orders);
void taper_image_orders_free(taper_image_orders *orders);
// Of a value that the segment makes, if it is dense.
taper_image_order taper_image_orders_get(const taper_image_orders *orders, const taper_ir_value *value);

#endif
