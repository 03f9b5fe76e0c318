// SPDX-License-Identifier: BSD-2-Clause
// The sources of one model: files are parsed when something of theirs is first asked for, types and classes are made
// then too. Between the parts of the front end; not for others.
#ifndef TAPER_TORCHSCRIPT_UNIT_H
#define TAPER_TORCHSCRIPT_UNIT_H

#include "format/module.h"
#include "frontend/torchscript/ast.h"
#include "ops/list/registry.h"

#define TAPER_TS_NATIVE "__torch__.torch.classes." // names of classes that are part of PyTorch itself

typedef struct taper_ts_unit {
    taper_module *module;
    taper_registry *registry;
    const taper_allocator *allocator;
    taper_error *error;
    taper_arena arena; // of trees and names: gone after loading
    taper_ts_atoms atoms;
    bool *parsed;   // by source
    bool *assigned; // by atom: the name of an attribute that a statement assigns to, where parsed
    size_t assigned_capacity;
    bool all_parsed;                   // nothing is assigned to but what assigned has
    taper_ts_definition **definitions; // by atom of the qualified name; NULL: none, or not read yet
    size_t definition_capacity;
    taper_val constants;               // the tuple of constants.pkl
    const taper_type **constant_types; // of its items, as far as they were asked for
    int type_depth;
    size_t looks; // objects.c
} taper_ts_unit;

TAPER_MUST_USE taper_status taper_ts_unit_create(taper_ts_unit *unit, taper_module *module, taper_registry *registry,
                                                 taper_error *error);
void taper_ts_unit_free(taper_ts_unit *unit);

// "__torch__.a.C": the class or function of that name; *found NULL when the sources have none.
TAPER_MUST_USE taper_status taper_ts_find(taper_ts_unit *unit, uint32_t qualified, taper_ts_definition **found);
TAPER_MUST_USE taper_status taper_ts_find_text(taper_ts_unit *unit, const char *name, size_t length,
                                               taper_ts_definition **found);
// The definition behind a class's type; *found NULL for native classes and for types that are no classes.
TAPER_MUST_USE taper_status taper_ts_find_type(taper_ts_unit *unit, const taper_type *type,
                                               taper_ts_definition **found);

// The qualified name that a chain of attributes spells, "__torch__.a.b"; false when the expression is none.
bool taper_ts_dotted(const taper_ts_unit *unit, uint32_t file, const taper_ts_node *node, const char **text,
                     size_t *length);

// Parses what was not parsed yet; all_parsed then tells whether all could be. What is wrong with a file is told when
// something of its is asked for.
void taper_ts_unit_parse_all(taper_ts_unit *unit);
static inline bool taper_ts_is_assigned(const taper_ts_unit *unit, uint32_t atom)
{
    return !unit->all_parsed || (atom < unit->assigned_capacity && unit->assigned[atom]);
}

// The type that an expression of a file writes.
TAPER_MUST_USE taper_status taper_ts_type(taper_ts_unit *unit, uint32_t file, taper_ts_node *node,
                                          const taper_type **type);
// The type of a class, named tuple, interface or enum.
TAPER_MUST_USE taper_status taper_ts_definition_type(taper_ts_unit *unit, taper_ts_definition *definition,
                                                     const taper_type **type);
// The attribute of a class: its slot (-1 for a Final) and type; *found NULL when there is none.
TAPER_MUST_USE taper_status taper_ts_find_attribute(taper_ts_unit *unit, taper_ts_definition *class, uint32_t atom,
                                                    taper_ts_attribute **found, int64_t *slot);
// Makes its type, if that was not done yet.
TAPER_MUST_USE taper_status taper_ts_resolve_attribute(taper_ts_unit *unit, const taper_ts_definition *class,
                                                       taper_ts_attribute *attribute);
// The class with its slots, for objects.
TAPER_MUST_USE taper_status taper_ts_class(taper_ts_unit *unit, taper_ts_definition *definition,
                                           const struct taper_class **klass);
// A literal: what a default, a Final or a member of an enum is. *value gets a reference; None on failure.
TAPER_MUST_USE taper_status taper_ts_literal(taper_ts_unit *unit, uint32_t file, const taper_ts_node *node,
                                             const taper_type *hint, taper_val *value);
// A member of an enum by position; *member is borrowed.
TAPER_MUST_USE taper_status taper_ts_enum_member(taper_ts_unit *unit, taper_ts_definition *definition, uint32_t index,
                                                 taper_val *member);

// "code/__torch__.py, line 3: …", with the line in the detail.
TAPER_COLD taper_status taper_ts_fail(const taper_ts_unit *unit, taper_status status, uint32_t file, size_t at,
                                      const char *format, ...) TAPER_PRINTF(5, 6);

// objects.c: who knows the classes of data.pkl and constants.pkl. user of the host is a taper_ts_objects.
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
