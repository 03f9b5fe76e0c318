// SPDX-License-Identifier: BSD-2-Clause
// TorchScript sources as trees, and the definitions in them.
#ifndef TAPER_TORCHSCRIPT_AST_H
#define TAPER_TORCHSCRIPT_AST_H

#include "frontend/torchscript/atoms.h"
#include "ir/value.h"

typedef enum taper_ts_kind {
    // expressions
    TAPER_TS_NAME,       // atom; slot: its number among the function's variables
    TAPER_TS_INTEGER,    // integer
    TAPER_TS_REAL,       // real
    TAPER_TS_IMAGINARY,  // real
    TAPER_TS_STRING,     // text, length
    TAPER_TS_CONSTANT,   // atom: True, False or None
    TAPER_TS_ITEMS,      // [a, b]: the items
    TAPER_TS_TUPLE_OF,   // (a, b): the items
    TAPER_TS_PAIRS,      // {a: b}: key, value, key, value …
    TAPER_TS_CALL,       // callee, arguments…
    TAPER_TS_KEYWORD,    // name=value among arguments: atom; the value
    TAPER_TS_ATTRIBUTE,  // object.atom: the object
    TAPER_TS_INDEX,      // a[b]: both
    TAPER_TS_SLICE,      // b:c within an INDEX: both, NONE constants where they are left out
    TAPER_TS_NEGATIVE,   // -a
    TAPER_TS_SUM,        // a + b
    TAPER_TS_DIFFERENCE, // a - b
    // statements
    TAPER_TS_ASSIGN,  // target, value; or target, value, type. A TUPLE_OF as target is unpacked into
    TAPER_TS_DECLARE, // target, type
    TAPER_TS_EXPRESSION,
    TAPER_TS_BRANCH,  // condition, BLOCK, BLOCK
    TAPER_TS_COUNTED, // target, iterable, BLOCK
    TAPER_TS_REPEAT,  // condition, BLOCK
    TAPER_TS_SCOPE,   // with: object, BLOCK; or object, BLOCK, target
    TAPER_TS_GIVE,    // return: value, or nothing
    TAPER_TS_NESTED,  // def within a function: function
    TAPER_TS_BLOCK    // statements
} taper_ts_kind;

typedef struct taper_ts_function taper_ts_function;
typedef struct taper_ts_definition taper_ts_definition;

typedef struct taper_ts_node {
    uint8_t kind;
    uint32_t at, end; // bytes in the file
    uint32_t atom;
    union {
        uint32_t slot;
        uint32_t length;
    };
    union {
        int64_t integer;
        double real;
        const char *text;
        const taper_ts_function *function;
        const taper_type *type; // of a type expression that was resolved
    } as;
    struct taper_ts_node *child, *next;
} taper_ts_node;

typedef struct taper_ts_parameter {
    uint32_t atom, slot;
    taper_ts_node *type, *default_value; // NULL: none
} taper_ts_parameter;

struct taper_ts_function {
    uint32_t atom;      // its own name
    uint32_t qualified; // with its file's and class's
    uint32_t file, at;
    taper_ts_definition *owner; // its class; NULL: none
    taper_ts_parameter *parameters;
    uint32_t parameter_count;
    uint32_t slots;          // how many variables
    taper_ts_node *returns;  // NULL: not declared
    taper_ts_node *body;     // BLOCK
    bool added;              // to the functions of the module
    uint32_t prepared;       // for listing: number of its own graph, from 1 (list.h); 0: not lowered yet
    bool active;             // being lowered: a call of it would never end
    const char *name;        // kept by the module, once it was lowered
    const char *class_name;  // the same; NULL: of no class
    taper_ts_function *next; // of the class
};

typedef struct taper_ts_attribute {
    uint32_t atom;
    taper_ts_node *type;
    taper_ts_node *value; // of a Final: it is no slot
    int32_t slot;         // how many slots come before it
    const taper_type *resolved;
} taper_ts_attribute;

typedef struct taper_ts_named taper_ts_named;

typedef enum taper_ts_definition_kind {
    TAPER_TS_A_FUNCTION,
    TAPER_TS_A_CLASS,
    TAPER_TS_A_NAMED_TUPLE,
    TAPER_TS_AN_INTERFACE,
    TAPER_TS_AN_ENUM
} taper_ts_definition_kind;

struct taper_ts_definition {
    taper_ts_definition_kind kind;
    uint32_t qualified;
    uint32_t file, at;
    taper_ts_function *function;    // of a function; the methods of a class or interface
    taper_ts_attribute *attributes; // slots first to last, and Finals; fields; members
    uint32_t attribute_count, method_count;
    bool added;                       // to the classes objects may be of
    taper_ts_node *hooks, *pre_hooks; // ITEMS of names; NULL: none
    const taper_type *type;           // made when first asked for
    const struct taper_class *klass;  // likewise
    taper_val *members;               // of an enum, on the module's heap
    struct taper_dict *member_values; // likewise: numbers of members by what they are worth; NULL: not asked for yet
    const taper_ts_named *attributes_by_name, *methods_by_name; // of large ones: members.c
    bool resolving;
};

// The tree of one file: a list of definitions.
typedef struct taper_ts_parse {
    taper_ts_atoms *atoms;
    taper_arena *arena;
    const taper_allocator *allocator;
    const char *file_name;   // "code/__torch__/a.py"
    const char *module_name; // "__torch__.a"
    const char *text;
    size_t length;
    uint32_t file;
    taper_error *error;
    // Called with every definition as it is complete.
    taper_status (*define)(void *user, taper_ts_definition *definition);
    // Called with the name of every attribute that a statement assigns to.
    taper_status (*assigned)(void *user, uint32_t atom);
    void *user;
} taper_ts_parse;

TAPER_MUST_USE taper_status taper_ts_parse_file(const taper_ts_parse *parse);

// Of a class that was read whole.
TAPER_MUST_USE taper_status taper_ts_index_members(const taper_ts_parse *parse, taper_ts_definition *class);
// The attribute, field or member of an enum; of several of one name the first; NULL: there is none.
taper_ts_attribute *taper_ts_attribute_named(const taper_ts_definition *class, uint32_t atom);
// That which is the slot.
const taper_ts_attribute *taper_ts_attribute_in(const taper_ts_definition *class, int64_t slot);
// NULL when there is none.
taper_ts_function *taper_ts_method(const taper_ts_definition *class, uint32_t atom);

// The line that holds byte `at`: its number from 1, its text and the column. For messages.
size_t taper_ts_line(const char *text, size_t length, size_t at, const char **line, size_t *line_length,
                     size_t *column);

#endif
