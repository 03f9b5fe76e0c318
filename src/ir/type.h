// SPDX-License-Identifier: BSD-2-Clause
// Types of values, as PyTorch writes them: "Tensor", "List[int]", "Dict[str, Tensor]", "Optional[float]",
// "__torch__.Net". Immutable. The simple ones are static; the others live in a taper_types table, which models, heaps
// and contexts share by reference. Equality is structural.
#ifndef TAPER_IR_TYPE_H
#define TAPER_IR_TYPE_H

#include "base/text.h"

// The kinds are taper_type_kind of taper.h. Of these
//   INT  is also ScalarType, Layout, MemoryFormat, QScheme and SymInt of schemas,
//   LIST, OPTIONAL and FUTURE have items[0], DICT items[0] (key) and items[1] (value), TUPLE and UNION their items,
//   a named TUPLE, OPAQUE, FUTURE, CLASS and VARIABLE have a name.
struct taper_type {
    uint8_t kind;   // taper_type_kind
    uint8_t depth;  // of nesting: 0 for a simple type; at most TAPER_LIMIT_TYPE_DEPTH
    uint16_t nodes; // of the whole tree less one, shared parts counted each time; bounds every walk over it
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

// The table that owns made types. Thread-safe.
typedef struct taper_types taper_types;

TAPER_MUST_USE taper_status taper_types_create(const taper_allocator *allocator, taper_types **types,
                                               taper_error *error);
taper_types *taper_types_retain(taper_types *types);
void taper_types_release(taper_types *types);

// The names of a class's attributes, in slot order. Owned by the table of types.
typedef struct taper_class {
    const char *name; // "__torch__.M", "__torch__.torch.classes.xnnpack.Conv2dOpContext"
    size_t count;
    const char *const *slots; // NULL: unknown (a class with __setstate__)
} taper_class;

// What must live as long as the values that refer to it: classes, and whatever else belongs to types. Never freed
// before the table. NULL when out of memory.
void *taper_types_alloc(taper_types *types, size_t size); // zeroed
const char *taper_types_string(taper_types *types, const char *text,
                               size_t length); // NUL-terminated; equal texts are shared
// The class with this name and these attributes; slots NULL: not known. Names are copied; equal classes
// are shared.
const taper_class *taper_types_class(taper_types *types, const char *name, size_t count, const char *const *slots);

// Calls visit with the names of classes that begin with prefix: of objects, and those that types name; some more than
// once. visit must not come back to the table.
void taper_types_each_class(taper_types *types, const char *prefix, void (*visit)(void *user, const char *name),
                            void *user);

// Items and strings are copied (item types are referred to: they must live in the same table or be static).
TAPER_MUST_USE taper_status taper_type_make(taper_types *types, taper_type_kind kind, const char *name,
                                            const taper_type *const *items, const char *const *fields, size_t count,
                                            const taper_type **made, taper_error *error);
// Parses a type string of a file. Named tuples are written "__torch__.Q[NamedTuple, [[f, T],[g, T]]]" and entered in
// the table, so that a later bare "__torch__.Q" means the same.
TAPER_MUST_USE taper_status taper_type_parse(taper_types *types, const char *text, size_t length,
                                             const taper_type **type, taper_error *error);
// The same, with the named tuples of one file kept to themselves: two files may mean different things by one name.
typedef struct taper_type_scope taper_type_scope;
TAPER_MUST_USE taper_status taper_type_scope_create(const taper_allocator *allocator, taper_type_scope **scope,
                                                    taper_error *error);
void taper_type_scope_destroy(taper_type_scope *scope);
TAPER_MUST_USE taper_status taper_type_parse_in(taper_types *types, taper_type_scope *scope, const char *text,
                                                size_t length, const taper_type **type, taper_error *error);
bool taper_type_equal(const taper_type *a, const taper_type *b);
// Whether a value of type a can stand where b is wanted (Optional, Any, Scalar, Union, type variables accept more).
bool taper_type_matches(const taper_type *a, const taper_type *b);
void taper_type_print(const taper_type *type, taper_text *text);

#endif
