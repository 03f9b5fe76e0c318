// SPDX-License-Identifier: BSD-2-Clause
// Between the parts that read a lite module from a flatbuffer. Not for others.
//
// The module is a list of values ("ivalues"): numbers, tensors, containers, objects and functions, each of which refers
// to others by index. A writer can only refer to what it wrote before, so only lower indexes are accepted, and neither
// cycles nor unbounded depth can come up.
#ifndef TAPER_FORMAT_LITE_FLATBUFFER_H
#define TAPER_FORMAT_LITE_FLATBUFFER_H

#include "format/flatbuffer.h"
#include "format/module.h"
#include "ir/type_table.h"

// Slots of the tables, in the order of the schema.
enum { // Module
    TAPER_FB_MODULE_BYTECODE_VERSION,
    TAPER_FB_MODULE_EXTRA_FILES,
    TAPER_FB_MODULE_METHODS,
    TAPER_FB_MODULE_STATE_OBJ,
    TAPER_FB_MODULE_IVALUES,
    TAPER_FB_MODULE_STORAGE_DATA_SIZE,
    TAPER_FB_MODULE_STORAGE_DATA,
    TAPER_FB_MODULE_OBJECT_TYPES,
    TAPER_FB_MODULE_JIT_SOURCES,
    TAPER_FB_MODULE_JIT_CONSTANTS,
    TAPER_FB_MODULE_OPERATOR_VERSION,
    TAPER_FB_MODULE_MOBILE_IVALUE_SIZE
};

// What an ivalue is.
typedef enum taper_fb_kind {
    TAPER_FB_NONE,
    TAPER_FB_INT,
    TAPER_FB_BOOL,
    TAPER_FB_DOUBLE,
    TAPER_FB_COMPLEX,
    TAPER_FB_TENSOR,
    TAPER_FB_STRING,
    TAPER_FB_LIST,
    TAPER_FB_TUPLE,
    TAPER_FB_DICT,
    TAPER_FB_OBJECT,
    TAPER_FB_INT_LIST,
    TAPER_FB_DOUBLE_LIST,
    TAPER_FB_BOOL_LIST,
    TAPER_FB_DEVICE,
    TAPER_FB_ENUM,
    TAPER_FB_FUNCTION
} taper_fb_kind;

// A string of the file that was made use of; the writer stores equal ones once.
typedef struct taper_fb_name {
    size_t at;
    const char *text; // NUL-terminated
    size_t length;
    const taper_type *type; // once it was parsed as one
} taper_fb_name;

typedef struct taper_fb_class {
    const taper_class *klass; // NULL: not looked at yet
    uint8_t kind;             // of the schema's TypeType
    uint32_t setstate;        // the ivalue that is known to be its __setstate__ and 1; 0: none is yet
} taper_fb_class;

typedef struct taper_fb_reader {
    taper_flatbuffer fb;
    taper_module *module;
    taper_blob *blob;
    taper_type_scope *scope;
    taper_fb_vector ivalues, storage_data, object_types;
    taper_val *values; // of the ivalues below `current`; a function is UNDEFINED with its number
    uint16_t *depths;  // of their nesting
    size_t count;      // of ivalues that are read
    size_t current;    // the ivalue that is being read
    taper_storage **storages;
    taper_fb_class *classes;
    taper_lookup names;            // taper_fb_name by position
    size_t instructions;           // of all functions
    taper_module_pending *pending; // grown here, copied to the module's arena
    size_t pending_count, pending_capacity;
} taper_fb_reader;

// ---- lite_flatbuffer.c

// The string at a position, 0 meaning "". Refuses zero bytes.
TAPER_MUST_USE taper_status taper_fb_name_at(taper_fb_reader *r, size_t at, taper_fb_name **name);
// The string in a field.
TAPER_MUST_USE taper_status taper_fb_name_in(taper_fb_reader *r, const taper_fb_table *table, unsigned slot,
                                             taper_fb_name **name);
TAPER_MUST_USE taper_status taper_fb_type_of(taper_fb_reader *r, taper_fb_name *name, const taper_type **type);
// The ivalue with an index, which must be lower than the one being read, and no function. Borrowed.
TAPER_MUST_USE taper_status taper_fb_value(const taper_fb_reader *r, size_t at, uint32_t index, taper_val *value);

// ---- lite_flatbuffer_values.c: any ivalue but a function. table is the IValue, *value gets a reference.
TAPER_MUST_USE taper_status taper_fb_read_value(taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind kind,
                                                taper_val *value);

// ---- lite_flatbuffer_tensors.c
TAPER_MUST_USE taper_status taper_fb_read_tensor(taper_fb_reader *r, const taper_fb_table *table, taper_val *value);

// ---- lite_flatbuffer_functions.c
TAPER_MUST_USE taper_status taper_fb_read_function(taper_fb_reader *r, const taper_fb_table *table,
                                                   taper_module_function *function);

#endif
