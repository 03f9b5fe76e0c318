// SPDX-License-Identifier: BSD-2-Clause
// Declarations for the files that read a lite module from a flatbuffer. The files that write such a flatbuffer use only
// the slots and the kinds of this header.
//
// The module is a list of values ("ivalues"): numbers, tensors, containers, objects and functions. They refer to each
// other by index. A writer can refer only to values that it has written before. The reader therefore accepts only
// references to lower indexes, so cycles and unbounded depth are impossible.
#ifndef TAPER_FORMAT_LITE_FLATBUFFER_H
#define TAPER_FORMAT_LITE_FLATBUFFER_H

#include "format/flatbuffer.h"
#include "format/module.h"
#include "ir/type_table.h"

// Slots of the tables, in the order of the schema.
enum { // slots of the table Module
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

// The kinds of ivalues, with the numbers of the schema's union.
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

// A string of the file that the reader has used. The writer stores equal strings once.
typedef struct taper_fb_name {
    size_t at;
    const char *text; // NUL-terminated text
    size_t length;
    const taper_type *type; // type that the string names; NULL until it is parsed
} taper_fb_name;

typedef struct taper_fb_class {
    const taper_class *klass; // the class; NULL until the type is read
    uint8_t kind;             // TypeType of the schema: the kind of the class
    uint32_t setstate;        // 1 + index of the ivalue that is the __setstate__ of the class, or 0 if none is known
} taper_fb_class;

typedef struct taper_fb_reader {
    taper_flatbuffer fb;
    taper_module *module;
    taper_blob *blob;
    taper_type_scope *scope;
    taper_fb_vector ivalues, storage_data, object_types;
    taper_val *values; // values of the ivalues below `current`; a function is UNDEFINED with the number of the function
    uint16_t *depths;  // nesting depth of each value
    size_t count;      // number of ivalues to read
    size_t current;    // index of the ivalue being read
    taper_storage **storages;
    taper_fb_class *classes;
    taper_lookup names;            // maps a position in the file to its taper_fb_name
    size_t instructions;           // number of instructions in all functions
    taper_module_pending *pending; // objects that wait for their __setstate__, later copied to the module's arena
    size_t pending_count, pending_capacity;
} taper_fb_reader;

// ---- lite_flatbuffer.c

// Finds the string at a position of the file; position 0 is "". Fails if the string contains zero bytes.
TAPER_MUST_USE taper_status taper_fb_name_at(taper_fb_reader *r, size_t at, taper_fb_name **name);
// Finds the string in a field.
TAPER_MUST_USE taper_status taper_fb_name_in(taper_fb_reader *r, const taper_fb_table *table, unsigned slot,
                                             taper_fb_name **name);
TAPER_MUST_USE taper_status taper_fb_type_of(taper_fb_reader *r, taper_fb_name *name, const taper_type **type);
// Returns in *value the ivalue with this index, borrowed. The index must be lower than the index of the ivalue being
// read, and the ivalue must not be a function.
TAPER_MUST_USE taper_status taper_fb_value(const taper_fb_reader *r, size_t at, uint32_t index, taper_val *value);

// ---- lite_flatbuffer_values.c: reads any ivalue except a function. `table` is the IValue. *value gets a reference
TAPER_MUST_USE taper_status taper_fb_read_value(taper_fb_reader *r, const taper_fb_table *table, taper_fb_kind kind,
                                                taper_val *value);

// ---- lite_flatbuffer_tensors.c
TAPER_MUST_USE taper_status taper_fb_read_tensor(taper_fb_reader *r, const taper_fb_table *table, taper_val *value);

// ---- lite_flatbuffer_functions.c
TAPER_MUST_USE taper_status taper_fb_read_function(taper_fb_reader *r, const taper_fb_table *table,
                                                   taper_module_function *function);

#endif
