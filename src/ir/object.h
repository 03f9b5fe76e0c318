// SPDX-License-Identifier: BSD-2-Clause
// The head of every object of a heap.
#ifndef TAPER_IR_OBJECT_H
#define TAPER_IR_OBJECT_H

#include <stddef.h>

#include "base/atomic.h"

typedef struct taper_heap taper_heap;

typedef enum taper_tag {
    TAPER_NONE,
    TAPER_BOOLEAN,
    TAPER_INT,
    TAPER_DOUBLE,
    TAPER_DEVICE,    // kind in as.i: kind << 8 | (index + 1)
    TAPER_UNDEFINED, // an empty register, or prim::Uninitialized
    // Objects from here on.
    TAPER_COMPLEX,
    TAPER_STRING,
    TAPER_TENSOR,
    TAPER_STORAGE,
    TAPER_LIST,
    TAPER_TUPLE,
    TAPER_DICT,
    TAPER_OBJECT,
    TAPER_GENERATOR,
    TAPER_BLOB, // bytes of a file (format/module.h)
    TAPER_BOX   // a taper_value of the public interface
} taper_tag;

// The first member of every object.
typedef struct taper_obj {
    taper_refs refs;
    uint8_t tag;
    taper_heap *heap;
} taper_obj;

#endif
