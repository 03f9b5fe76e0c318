// SPDX-License-Identifier: BSD-2-Clause
// Types of values, in PyTorch's notation: "Tensor", "List[int]", "Dict[str, Tensor]", "Optional[float]",
// "__torch__.Net". Types are immutable. The simple types are static. All others are in a taper_types table, to which
// models, heaps and contexts hold references. Two types are equal if their structures are equal.
#ifndef TAPER_IR_TYPE_H
#define TAPER_IR_TYPE_H

#include "base/text.h"

// A type. `kind` is a taper_type_kind of taper.h.
// INT also stands for ScalarType, Layout, MemoryFormat, QScheme and SymInt in schemas. LIST, OPTIONAL and FUTURE have
// items[0]. DICT has items[0] (key) and items[1] (value). TUPLE and UNION have the types of their items.
// A named TUPLE, OPAQUE, FUTURE, CLASS and VARIABLE have a name.
struct taper_type {
    uint8_t kind;  // a taper_type_kind
    uint8_t depth; // nesting depth: 0 for a simple type, at most TAPER_LIMIT_TYPE_DEPTH
    // Number of types in the whole tree minus 1, where a shared type counts each time; limits the time to visit them.
    uint16_t nodes;
    uint32_t count;
    const struct taper_type *const *items;
    const char *name;
    const char *const *fields;
};

extern const taper_type taper_type_any, taper_type_none, taper_type_tensor, taper_type_int, taper_type_float,
    taper_type_bool, taper_type_complex, taper_type_number, taper_type_string, taper_type_device, taper_type_generator,
    taper_type_any_list, taper_type_any_tuple;
extern const taper_type taper_type_list_int, taper_type_list_float, taper_type_list_bool, taper_type_list_tensor,
    taper_type_list_string, taper_type_list_complex, taper_type_optional_tensor;

// The table that owns all types that are not static. Any thread may use it.
typedef struct taper_types taper_types;

TAPER_MUST_USE taper_status taper_types_create(const taper_allocator *allocator, taper_types **types,
                                               taper_error *error);
taper_types *taper_types_retain(taper_types *types);
void taper_types_release(taper_types *types);

// The names of a class's attributes, in the order of their slots. The table of types owns the struct.
typedef struct taper_class {
    const char *name; // qualified name, such as "__torch__.M" or "__torch__.torch.classes.xnnpack.Conv2dOpContext"
    size_t count;
    const char *const *slots; // attribute names; NULL if unknown (a class with __setstate__)
} taper_class;

// These functions allocate data that must live as long as the values that refer to it, such as classes. The data is
// freed with the table. The functions return NULL if memory is missing.
void *taper_types_alloc(taper_types *types, size_t size); // returns zeroed memory
const char *taper_types_string(taper_types *types, const char *text,
                               size_t length); // returns a NUL-terminated copy; equal texts share one copy
// Returns the class with this name and these attributes. `slots` is NULL if the attributes are unknown. The names are
// copied. Equal arguments give the same class.
const taper_class *taper_types_class(taper_types *types, const char *name, size_t count, const char *const *slots);

// Calls `visit` with each class name that begins with `prefix`: the names of classes of objects, and the class names in
// types. A name may be passed more than once. `visit` must not use the table.
void taper_types_each_class(taper_types *types, const char *prefix, void (*visit)(void *user, const char *name),
                            void *user);

// Makes a type. The array items and the name are copied; the types in `items` must be static or in the same table.
TAPER_MUST_USE taper_status taper_type_make(taper_types *types, taper_type_kind kind, const char *name,
                                            const taper_type *const *items, const char *const *fields, size_t count,
                                            const taper_type **made, taper_error *error);
// Parses a type string from a file. A named tuple is written "__torch__.Q[NamedTuple, [[f, T],[g, T]]]". The named
// tuple is added to the table, so that a later "__torch__.Q" means the same type.
TAPER_MUST_USE taper_status taper_type_parse(taper_types *types, const char *text, size_t length,
                                             const taper_type **type, taper_error *error);
// A scope for the named tuples in type strings. Each file has its own scope, because two files may use one name for
// different types.
typedef struct taper_type_scope taper_type_scope;
TAPER_MUST_USE taper_status taper_type_scope_create(const taper_allocator *allocator, taper_type_scope **scope,
                                                    taper_error *error);
void taper_type_scope_destroy(taper_type_scope *scope);
TAPER_MUST_USE taper_status taper_type_parse_in(taper_types *types, taper_type_scope *scope, const char *text,
                                                size_t length, const taper_type **type, taper_error *error);
bool taper_type_equal(const taper_type *a, const taper_type *b);
// Returns true if a value of type a may be used where type b is required (Optional, Any, Scalar, Union and type
// variables accept several types).
bool taper_type_matches(const taper_type *a, const taper_type *b);
void taper_type_print(const taper_type *type, taper_text *text);

#endif
