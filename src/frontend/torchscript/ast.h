// SPDX-License-Identifier: BSD-2-Clause
// Trees of TorchScript sources, and the definitions in them.
#ifndef TAPER_TORCHSCRIPT_AST_H
#define TAPER_TORCHSCRIPT_AST_H

#include "frontend/torchscript/atoms.h"
#include "ir/value.h"

typedef enum taper_ts_kind {
    // Expressions. Each comment names the members and the children of a node of this kind.
    TAPER_TS_NAME,       // atom; slot: number of the function's variable
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
    TAPER_TS_ATTRIBUTE,  // object.atom: child object
    TAPER_TS_INDEX,      // a[b]: children a and b
    TAPER_TS_SLICE,      // b:c inside an INDEX: children b and c, which are NONE constants if omitted
    TAPER_TS_NEGATIVE,   // -a
    TAPER_TS_SUM,        // a + b
    TAPER_TS_DIFFERENCE, // a - b
    // Statements.
    TAPER_TS_ASSIGN,  // target, value; or target, value, type. A TUPLE_OF as target is unpacked
    TAPER_TS_DECLARE, // target, type
    TAPER_TS_EXPRESSION,
    TAPER_TS_BRANCH,  // condition, BLOCK, BLOCK
    TAPER_TS_COUNTED, // target, iterable, BLOCK
    TAPER_TS_REPEAT,  // condition, BLOCK
    TAPER_TS_SCOPE,   // with statement: object, BLOCK; or object, BLOCK, target
    TAPER_TS_GIVE,    // return: value, or no child
    TAPER_TS_NESTED,  // def inside a function: function
    TAPER_TS_BLOCK    // statements
} taper_ts_kind;

typedef struct taper_ts_function taper_ts_function;
typedef struct taper_ts_definition taper_ts_definition;

typedef struct taper_ts_node {
    uint8_t kind;
    uint32_t at, end; // range of bytes in the file
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
        const taper_type *type; // resolved type of a type expression
    } as;
    struct taper_ts_node *child, *next;
} taper_ts_node;

typedef struct taper_ts_parameter {
    uint32_t atom, slot;
    taper_ts_node *type, *default_value; // expressions, or NULL if missing
} taper_ts_parameter;

struct taper_ts_function {
    uint32_t atom;      // its own name
    uint32_t qualified; // name with those of its file and class
    uint32_t file, at;
    taper_ts_definition *owner; // its class, or NULL
    taper_ts_parameter *parameters;
    uint32_t parameter_count;
    uint32_t slots;          // number of variables
    taper_ts_node *returns;  // declared type of the result, or NULL
    taper_ts_node *body;     // BLOCK
    bool added;              // true if it is among the functions of the module
    uint32_t prepared;       // number of its own graph in a listing, from 1 (list.h); 0 before it is lowered
    bool active;             // true while it is lowered; a call of it would be an endless recursion
    const char *name;        // owned by the module, set when it is lowered
    const char *class_name;  // owned by the module; NULL outside classes
    taper_ts_function *next; // next method of the class
};

typedef struct taper_ts_attribute {
    uint32_t atom;
    taper_ts_node *type;
    taper_ts_node *value; // value of a Final, which has no slot
    int32_t slot;         // number of slots before it
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
    taper_ts_function *function; // the function, or the first method of a class or interface
    // Attributes of a class with slots in order, and Finals; fields of a named tuple; members of an enum.
    taper_ts_attribute *attributes;
    uint32_t attribute_count, method_count;
    bool added;                       // true if it is among the classes that objects may have
    taper_ts_node *hooks, *pre_hooks; // ITEMS of names, or NULL
    const taper_type *type;           // its type, made at the first request
    const struct taper_class *klass;  // its class, made at the first request
    taper_val *members;               // members of an enum, on the module's heap
    // For an enum: maps a value to the number of the member, on the module's heap; NULL until requested.
    struct taper_dict *member_values;
    const taper_ts_named *attributes_by_name, *methods_by_name; // tables of large classes (members.c)
    bool resolving;
};

// Parses one file: its tree is a list of definitions.
typedef struct taper_ts_parse {
    taper_ts_atoms *atoms;
    taper_arena *arena;
    const taper_allocator *allocator;
    const char *file_name;   // such as "code/__torch__/a.py"
    const char *module_name; // such as "__torch__.a"
    const char *text;
    size_t length;
    uint32_t file;
    taper_error *error;
    // Called with every definition when it is complete.
    taper_status (*define)(void *user, taper_ts_definition *definition);
    // Called with the name of every attribute that a statement assigns to.
    taper_status (*assigned)(void *user, uint32_t atom);
    void *user;
} taper_ts_parse;

TAPER_MUST_USE taper_status taper_ts_parse_file(const taper_ts_parse *parse);

// Makes the tables of a class that is completely parsed.
TAPER_MUST_USE taper_status taper_ts_index_members(const taper_ts_parse *parse, taper_ts_definition *class);
// Returns the attribute, field, or member of an enum with this name, the first of several, or NULL.
taper_ts_attribute *taper_ts_attribute_named(const taper_ts_definition *class, uint32_t atom);
// Returns the attribute with this slot.
const taper_ts_attribute *taper_ts_attribute_in(const taper_ts_definition *class, int64_t slot);
// Returns the method, or NULL.
taper_ts_function *taper_ts_method(const taper_ts_definition *class, uint32_t atom);

// Finds the line with byte `at`: returns its number from 1, its text and the column. For messages.
size_t taper_ts_line(const char *text, size_t length, size_t at, const char **line, size_t *line_length,
                     size_t *column);

#endif
