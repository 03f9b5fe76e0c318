// SPDX-License-Identifier: BSD-2-Clause
// Declarations for the files that write a lite module into a flatbuffer. No other code includes this header. The slots
// are in lite_flatbuffer.h.
#ifndef TAPER_FORMAT_LITE_FLATBUFFER_WRITE_H
#define TAPER_FORMAT_LITE_FLATBUFFER_WRITE_H

#include "format/flatbuffer_build.h"
#include "format/lite_flatbuffer.h"
#include "format/module_write.h"

typedef struct taper_fb_writer {
    const taper_module *module;
    const taper_allocator *allocator;
    const taper_write_options *options;
    taper_fbb b;
    taper_set_states states;
    taper_fbb_ref *ivalues; // position of each ivalue, by its index
    size_t count, capacity;
    taper_lookup scalars; // numbers and strings that were written
    taper_lookup tags;    // names of container types that were written
    taper_arena arena;    // memory for the entries of `scalars` and `tags`
    // Maps each object to the index of its ivalue, or to TAPER_FB_OPEN while the object is written.
    taper_pointer_map objects;
    taper_pointer_map storages; // maps each storage to its number
    taper_storage **storage_items;
    size_t storage_count, storage_capacity;
    taper_pointer_map classes;       // maps each class to its number
    const taper_class **class_items; // classes by number
    taper_fbb_ref *class_tables;
    size_t class_count, class_capacity, class_table_capacity;
    uint32_t *functions;           // index of the ivalue of each function
    taper_fbb_ref *function_types; // for each function: position of the field that receives the number of its class
    taper_pointer_map types;       // maps each type to the position of its string
    size_t type_text;              // characters of all type strings
    bool in_state;     // true while the module's root object is written, false while constants of functions are written
    bool with_handles; // true to write debug handles
    taper_error *error;
} taper_fb_writer;

#define TAPER_FB_OPEN SIZE_MAX

// Adds an ivalue and returns its index in *index. value: position of the ivalue's content.
TAPER_MUST_USE taper_status taper_fb_add(taper_fb_writer *w, taper_fb_kind kind, taper_fbb_ref value, uint32_t *index);

// ---- lite_flatbuffer_write_values.c: returns the index of a value, which is written if it was not written before
TAPER_MUST_USE taper_status taper_fb_write_value(taper_fb_writer *w, taper_val value, unsigned depth, uint32_t *index);

// ---- lite_flatbuffer_write_tensors.c
TAPER_MUST_USE taper_status taper_fb_write_tensor(taper_fb_writer *w, const taper_tensor *tensor, taper_fbb_ref *ref);

// ---- lite_flatbuffer_write_functions.c
TAPER_MUST_USE taper_status taper_fb_write_function(taper_fb_writer *w, size_t number);

#endif
