// SPDX-License-Identifier: BSD-2-Clause
// Declarations for the files that read a lite module from a flatbuffer. The writer uses only the slots and the kinds.
//
// The module is a list of values ("ivalues"): numbers, tensors, containers, objects and functions. They refer to each
// other by index. A writer can refer only to values that it has written before. So the reader accepts only lower
// indexes, and cycles and unbounded depth are impossible.
#ifndef TAPER_FORMAT_LITE_FLATBUFFER_H
#define TAPER_FORMAT_LITE_FLATBUFFER_H

#include "format/flatbuffer.h"
#include "format/module.h"
#include "ir/type_table.h"

// Slots of the tables, in the order of the schema.
enum { // slots of Module
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

// The kinds of ivalues.
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

// A string of the file that is in use. The writer stores equal strings once.
typedef struct taper_fb_name {
    size_t at;
    const char *text; // NUL-terminated
    size_t length;
    const taper_type *type; // set once the string was parsed as a type
} taper_fb_name;

typedef struct taper_fb_class {
    const taper_class *klass; // NULL until it is read
    uint8_t kind;             // TypeType of the schema
    uint32_t setstate;        // 1 + the ivalue that is known to be its __setstate__, or 0
} taper_fb_class;

typedef struct taper_fb_reader {
    taper_flatbuffer fb;
    taper_module *module;
    taper_blob *blob;
    taper_type_scope *scope;
    taper_fb_vector ivalues, storage_data, object_types;
    taper_val *values; // values of the ivalues below `current`; for a function UNDEFINED with its number
    uint16_t *depths;  // levels of nesting of each value
    size_t count;      // number of ivalues to read
    size_t current;    // index of the ivalue being read
    taper_storage **storages;
    taper_fb_class *classes;
    taper_lookup names;            // taper_fb_name by position in the file
    size_t instructions;           // number of instructions in all functions
    taper_module_pending *pending; // grown here, then copied to the module's arena
    size_t pending_count, pending_capacity;
} taper_fb_reader;

// ---- lite_flatbuffer.c

// Returns the string at a position; position 0 is "". Fails for a string with zero bytes.
TAPER_MUST_USE taper_status taper_fb_name_at(taper_fb_reader *r, size_t at, taper_fb_name **name);
// Returns the string in a field.
TAPER_MUST_USE taper_status taper_fb_name_in(taper_fb_reader *r, const taper_fb_table *table, unsigned slot,
                                             taper_fb_name **name);
TAPER_MUST_USE taper_status taper_fb_type_of(taper_fb_reader *r, taper_fb_name *name, const taper_type **type);
// Returns the ivalue with an index, borrowed. The index must be lower than that of the ivalue being read, and not refer
// to a function.
TAPER_MUST_USE taper_status taper_fb_value(const taper_fb_reader *r, size_t at, uint32_t index, taper_val *value);

// ---- lite_flatbuffer_values.c: reads any ivalue except a function. table is the IValue. *value gets a reference
TAPER_MUST_USE taper_status taper_fb_read_value(taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind kind,
                                                taper_val *value);

// ---- lite_flatbuffer_tensors.c
TAPER_MUST_USE taper_status taper_fb_read_tensor(taper_fb_reader *r, const taper_fb_table *table, taper_val *value);

// ---- lite_flatbuffer_functions.c
TAPER_MUST_USE taper_status taper_fb_read_function(taper_fb_reader *r, const taper_fb_table *table,
                                                   taper_module_function *function);

#endif
