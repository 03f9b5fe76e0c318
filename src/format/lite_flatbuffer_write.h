// SPDX-License-Identifier: BSD-2-Clause
// Between the parts that write a lite module into a flatbuffer. Not for others. The slots are those of
// lite_flatbuffer.h.
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
    taper_fbb_ref *ivalues; // by index
    size_t count, capacity;
    taper_lookup scalars;       // numbers and strings that were written
    taper_lookup tags;          // types of containers
    taper_arena arena;          // of these
    taper_pointer_map objects;  // indexes of values; TAPER_FB_OPEN while one is being written
    taper_pointer_map storages; // numbers of storages
    taper_storage **storage_items;
    size_t storage_count, storage_capacity;
    taper_pointer_map classes;       // numbers of classes
    const taper_class **class_items; // and these by number
    taper_fbb_ref *class_tables;
    size_t class_count, class_capacity, class_table_capacity;
    uint32_t *functions;           // ivalues of the functions
    taper_fbb_ref *function_types; // where their classes are to be entered
    taper_pointer_map types;       // strings of types, by type
    size_t type_text;              // characters of these
    bool in_state;                 // the module's object is being written, no constant
    bool with_handles;             // of debugging
    taper_error *error;
} taper_fb_writer;

#define TAPER_FB_OPEN SIZE_MAX

// Adds an ivalue and gives its index. value: where its contents were put.
TAPER_MUST_USE taper_status taper_fb_add(taper_fb_writer *w, taper_fb_kind kind, taper_fbb_ref value, uint32_t *index);

// ---- lite_flatbuffer_write_values.c: the index of a value, which is written if it was not yet.
TAPER_MUST_USE taper_status taper_fb_write_value(taper_fb_writer *w, taper_val value, unsigned depth, uint32_t *index);

// ---- lite_flatbuffer_write_tensors.c
TAPER_MUST_USE taper_status taper_fb_write_tensor(taper_fb_writer *w, const taper_tensor *tensor, taper_fbb_ref *ref);

// ---- lite_flatbuffer_write_functions.c
TAPER_MUST_USE taper_status taper_fb_write_function(taper_fb_writer *w, size_t number);

#endif
