// SPDX-License-Identifier: BSD-2-Clause
// Defines the head of every object of a heap, and the tags of values.
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
    TAPER_DEVICE,    // member `as.i` is kind << 8 | (index + 1)
    TAPER_UNDEFINED, // content of an empty register, or result of prim::Uninitialized
    // Values with the tags from here on are objects.
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
