// SPDX-License-Identifier: BSD-2-Clause
// The sources of one model. A file is parsed, and types and classes are made, when they are first needed. The files of
// this front end share this header.
#ifndef TAPER_TORCHSCRIPT_UNIT_H
#define TAPER_TORCHSCRIPT_UNIT_H

#include "format/module.h"
#include "frontend/torchscript/ast.h"
#include "ops/list/registry.h"

#define TAPER_TS_NATIVE "__torch__.torch.classes." // prefix of names of classes that are part of PyTorch

typedef struct taper_ts_unit {
    taper_module *module;
    taper_registry *registry;
    const taper_allocator *allocator;
    taper_error *error;
    taper_arena arena; // memory for trees and names, freed after loading
    taper_ts_atoms atoms;
    bool *parsed;   // for each source: true if it was parsed
    bool *assigned; // for each atom: true if a parsed statement assigns to an attribute of that name
    size_t assigned_capacity;
    bool all_parsed; // true if `assigned` is complete
    // Definition for each atom of a qualified name; NULL if there is none, or if it was not read yet.
    taper_ts_definition **definitions;
    size_t definition_capacity;
    taper_val constants;               // tuple in constants.pkl
    const taper_type **constant_types; // type of each item of `constants`; NULL until needed
    int type_depth;
    size_t looks; // number of visited values (objects.c)
} taper_ts_unit;

TAPER_MUST_USE taper_status taper_ts_unit_create(taper_ts_unit *unit, taper_module *module, taper_registry *registry,
                                                 taper_error *error);
void taper_ts_unit_free(taper_ts_unit *unit);

// Finds the class or function with this qualified name, such as "__torch__.a.C". *found is NULL if the sources do not
// define it.
TAPER_MUST_USE taper_status taper_ts_find(taper_ts_unit *unit, uint32_t qualified, taper_ts_definition **found);
TAPER_MUST_USE taper_status taper_ts_find_text(taper_ts_unit *unit, const char *name, size_t length,
                                               taper_ts_definition **found);
// Finds the definition of a class from its type. *found is NULL for native classes and for other types.
TAPER_MUST_USE taper_status taper_ts_find_type(taper_ts_unit *unit, const taper_type *type,
                                               taper_ts_definition **found);

// Gets the qualified name that a chain of attributes such as __torch__.a.b denotes. Returns false if the expression is
// not such a chain.
bool taper_ts_dotted(const taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, const char **text,
                     size_t *length);

// Parses the files that were not parsed yet, and sets all_parsed to true if all of them could be parsed. An error in a
// file is not reported here, but when a definition in it is needed.
void taper_ts_unit_parse_all(taper_ts_unit *unit);
static inline bool taper_ts_is_assigned(const taper_ts_unit *unit, uint32_t atom)
{
    return !unit->all_parsed || (atom < unit->assigned_capacity && unit->assigned[atom]);
}

// Gets the type that an expression in a source file denotes.
TAPER_MUST_USE taper_status taper_ts_type(taper_ts_unit *unit, uint32_t file, taper_ts_node *node,
                                          const taper_type **type);
// Gets the type of a class, named tuple, interface or enum.
TAPER_MUST_USE taper_status taper_ts_definition_type(taper_ts_unit *unit, taper_ts_definition *definition,
                                                     const taper_type **type);
// Finds an attribute of a class, with its type and slot (-1 for a Final). *found is NULL if the class has no such
// attribute.
TAPER_MUST_USE taper_status taper_ts_find_attribute(taper_ts_unit *unit, taper_ts_definition *class, uint32_t atom,
                                                    taper_ts_attribute **found, int64_t *slot);
// Makes the type of the attribute if it does not exist yet.
TAPER_MUST_USE taper_status taper_ts_resolve_attribute(taper_ts_unit *unit, const taper_ts_definition *class,
                                                       taper_ts_attribute *attribute);
// Sets *klass to the runtime class, which lists the slots of the attributes. The runtime creates objects of the class
// from *klass.
TAPER_MUST_USE taper_status taper_ts_class(taper_ts_unit *unit, taper_ts_definition *definition,
                                           const struct taper_class **klass);
// Evaluates a literal: a default, a Final or the value of an enum member. *value receives a reference, or None on
// failure.
TAPER_MUST_USE taper_status taper_ts_literal(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node,
                                             const taper_type *hint, taper_val *value);
// Gets a member of an enum by index. *member is borrowed.
TAPER_MUST_USE taper_status taper_ts_enum_member(taper_ts_unit *unit, taper_ts_definition *definition, uint32_t index,
                                                 taper_val *member);

// Fails with a message such as "code/__torch__.py, line 3: …". The detail of the error contains the source line.
TAPER_COLD taper_status taper_ts_fail(const taper_ts_unit *unit, taper_status status, uint32_t file, size_t at,
                                      const char *format, ...) TAPER_PRINTF(5, 6);

// Functions of objects.c that handle the classes of data.pkl and constants.pkl. `user` is a taper_ts_objects.
struct taper_archive;
typedef struct taper_ts_objects {
    taper_ts_unit *unit;
    struct taper_archive *archive;
} taper_ts_objects;
TAPER_MUST_USE taper_status taper_ts_set_state(void *user, taper_object *object, taper_val state, bool *taken,
                                               taper_error *error);
TAPER_MUST_USE taper_status taper_ts_pickled_member(void *user, const char *class_name, taper_val value,
                                                    taper_val *member, taper_error *error);

#endif
