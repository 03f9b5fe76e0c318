// SPDX-License-Identifier: BSD-2-Clause
// The sources of one model. Files are parsed, and types and classes made, when something in them is first needed. This
// header is shared by the parts of the front end.
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
    bool *parsed;   // true for each source that is parsed
    bool *assigned; // true for each atom that names an attribute to which a parsed statement assigns
    size_t assigned_capacity;
    bool all_parsed;                   // true if `assigned` is complete
    taper_ts_definition **definitions; // definitions by atom of the qualified name; NULL if missing, or not read yet
    size_t definition_capacity;
    taper_val constants;               // the tuple in constants.pkl
    const taper_type **constant_types; // types of its items; NULL until needed
    int type_depth;
    size_t looks; // visited values (objects.c)
} taper_ts_unit;

TAPER_MUST_USE taper_status taper_ts_unit_create(taper_ts_unit *unit, taper_module *module, taper_registry *registry,
                                                 taper_error *error);
void taper_ts_unit_free(taper_ts_unit *unit);

// Finds the class or function with this qualified name, such as "__torch__.a.C". *found is NULL if the sources have
// none.
TAPER_MUST_USE taper_status taper_ts_find(taper_ts_unit *unit, uint32_t qualified, taper_ts_definition **found);
TAPER_MUST_USE taper_status taper_ts_find_text(taper_ts_unit *unit, const char *name, size_t length,
                                               taper_ts_definition **found);
// Finds the definition of a class's type. *found is NULL for native classes and for other types.
TAPER_MUST_USE taper_status taper_ts_find_type(taper_ts_unit *unit, const taper_type *type,
                                               taper_ts_definition **found);

// Gets the qualified name in a chain of attributes, such as "__torch__.a.b". Returns false if the expression is not
// such a chain.
bool taper_ts_dotted(const taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, const char **text,
                     size_t *length);

// Parses the remaining files. all_parsed is true if all could be parsed. An error in a file is reported only when
// something in it is needed.
void taper_ts_unit_parse_all(taper_ts_unit *unit);
static inline bool taper_ts_is_assigned(const taper_ts_unit *unit, uint32_t atom)
{
    return !unit->all_parsed || (atom < unit->assigned_capacity && unit->assigned[atom]);
}

// Gets the type that an expression in a file denotes.
TAPER_MUST_USE taper_status taper_ts_type(taper_ts_unit *unit, uint32_t file, taper_ts_node *node,
                                          const taper_type **type);
// Gets the type of a class, named tuple, interface or enum.
TAPER_MUST_USE taper_status taper_ts_definition_type(taper_ts_unit *unit, taper_ts_definition *definition,
                                                     const taper_type **type);
// Finds the attribute of a class, with its type and slot (-1 for a Final). *found is NULL if there is none.
TAPER_MUST_USE taper_status taper_ts_find_attribute(taper_ts_unit *unit, taper_ts_definition *class, uint32_t atom,
                                                    taper_ts_attribute **found, int64_t *slot);
// Makes the type of the attribute, unless this is done.
TAPER_MUST_USE taper_status taper_ts_resolve_attribute(taper_ts_unit *unit, const taper_ts_definition *class,
                                                       taper_ts_attribute *attribute);
// Gets the class with its slots, for objects.
TAPER_MUST_USE taper_status taper_ts_class(taper_ts_unit *unit, taper_ts_definition *definition,
                                           const struct taper_class **klass);
// Evaluates a literal: a default, a Final or a member of an enum. *value is a reference, or None on failure.
TAPER_MUST_USE taper_status taper_ts_literal(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node,
                                             const taper_type *hint, taper_val *value);
// Gets a member of an enum by index. *member is borrowed.
TAPER_MUST_USE taper_status taper_ts_enum_member(taper_ts_unit *unit, taper_ts_definition *definition, uint32_t index,
                                                 taper_val *member);

// Fails with "code/__torch__.py, line 3: …", and the line in the detail.
TAPER_COLD taper_status taper_ts_fail(const taper_ts_unit *unit, taper_status status, uint32_t file, size_t at,
                                      const char *format, ...) TAPER_PRINTF(5, 6);

// objects.c: callbacks for the classes of data.pkl and constants.pkl. `user` is a taper_ts_objects.
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
