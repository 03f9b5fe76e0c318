// SPDX-License-Identifier: BSD-2-Clause
// Trees of TorchScript sources, and the definitions in them.
#ifndef TAPER_TORCHSCRIPT_AST_H
#define TAPER_TORCHSCRIPT_AST_H

#include "frontend/torchscript/atoms.h"
#include "ir/value.h"

typedef enum taper_ts_kind {
    // Expressions. The comment of each kind names the members that it uses, and its children.
    TAPER_TS_NAME,       // atom; slot is the number of the function's variable
    TAPER_TS_INTEGER,    // the member `integer` is the value
    TAPER_TS_REAL,       // the member `real` is the value
    TAPER_TS_IMAGINARY,  // the member `real` is the value
    TAPER_TS_STRING,     // the members `text` and `length` are the string
    TAPER_TS_CONSTANT,   // `atom` is True, False or None
    TAPER_TS_ITEMS,      // [a, b]: children are the items
    TAPER_TS_TUPLE_OF,   // (a, b): children are the items
    TAPER_TS_PAIRS,      // {a: b}: children are key, value, key, value …
    TAPER_TS_CALL,       // children are callee, arguments…
    TAPER_TS_KEYWORD,    // name=value among arguments: `atom` is the name, the child is the value
    TAPER_TS_ATTRIBUTE,  // object.atom: the child is the object
    TAPER_TS_INDEX,      // a[b]: children are a and b
    TAPER_TS_SLICE,      // b:c inside an INDEX: children are b and c; a missing bound is the constant None
    TAPER_TS_NEGATIVE,   // -a: the child is a
    TAPER_TS_SUM,        // a + b: children are a and b
    TAPER_TS_DIFFERENCE, // a - b: children are a and b
    // Statements. The comment of each kind names its children.
    // Children are target, value; or target, value, type. If the target is a TUPLE_OF, the value is unpacked.
    TAPER_TS_ASSIGN,
    TAPER_TS_DECLARE, // target, type
    TAPER_TS_EXPRESSION,
    TAPER_TS_BRANCH,  // condition, BLOCK, BLOCK
    TAPER_TS_COUNTED, // target, iterable, BLOCK
    TAPER_TS_REPEAT,  // condition, BLOCK
    TAPER_TS_SCOPE,   // with statement: object, BLOCK; or object, BLOCK, target
    TAPER_TS_GIVE,    // return: value, or no child
    TAPER_TS_NESTED,  // def inside a function: member function
    TAPER_TS_BLOCK    // statements
} taper_ts_kind;

typedef struct taper_ts_function taper_ts_function;
typedef struct taper_ts_definition taper_ts_definition;

typedef struct taper_ts_node {
    uint8_t kind;
    uint32_t at, end; // range of bytes in the source file
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
        const taper_type *type; // for a type expression: the type that it denotes, NULL until resolved
    } as;
    struct taper_ts_node *child, *next;
} taper_ts_node;

typedef struct taper_ts_parameter {
    uint32_t atom, slot;
    taper_ts_node *type, *default_value; // expressions; NULL if the source has none
} taper_ts_parameter;

struct taper_ts_function {
    uint32_t atom;      // name, without the names of its file and class
    uint32_t qualified; // name, preceded by the names of the function's file and class
    uint32_t file, at;
    taper_ts_definition *owner; // class that contains the function, or NULL if no class contains it
    taper_ts_parameter *parameters;
    uint32_t parameter_count;
    uint32_t slots;         // number of variables of the function
    taper_ts_node *returns; // declared type of the result; NULL if missing
    taper_ts_node *body;    // body, a BLOCK
    bool added;             // true if the function was added to the functions of the module
    uint32_t
        prepared; // for listing: number of the function's own graph, from 1 (list.h); 0 before the function is lowered
    // True while the function is lowered; a call of the function during that time is refused, as inlining would never
    // end.
    bool active;
    const char *name;        // name, owned by the module; set when the function is lowered
    const char *class_name;  // name of the class, owned by the module; NULL outside of classes
    taper_ts_function *next; // next method of the same class
};

typedef struct taper_ts_attribute {
    uint32_t atom;
    taper_ts_node *type;
    taper_ts_node *value; // value of a Final, which has no slot; otherwise NULL
    int32_t slot;         // number of slots before this attribute
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
    // For a class: attributes with slots in order, and Finals. For a named tuple: fields. For an enum: members.
    taper_ts_attribute *attributes;
    uint32_t attribute_count, method_count;
    bool added;                       // true if the class was added to the classes that objects may have
    taper_ts_node *hooks, *pre_hooks; // list of names, an ITEMS, or NULL if there are none
    const taper_type *type;           // type of the definition, NULL until requested
    const struct taper_class *klass;  // class of its objects, NULL until requested
    taper_val *members;               // members of an enum, on the module's heap; NULL until requested
    // For an enum: dict from a value to the number of its member, on the module's heap; NULL until requested.
    struct taper_dict *member_values;
    // Sorted tables of large classes (members.c); NULL for small classes.
    const taper_ts_named *attributes_by_name, *methods_by_name;
    bool resolving;
};

// Input of the parser, which parses one file. The tree of the file is a list of definitions.
typedef struct taper_ts_parse {
    taper_ts_atoms *atoms;
    taper_arena *arena;
    const taper_allocator *allocator;
    const char *file_name;   // file for messages, such as "code/__torch__/a.py"
    const char *module_name; // prefix of qualified names, such as "__torch__.a"
    const char *text;
    size_t length;
    uint32_t file;
    taper_error *error;
    // The parser calls this for every definition when it is complete.
    taper_status (*define)(void *user, taper_ts_definition *definition);
    // The parser calls this with the name of every attribute that a statement assigns to.
    taper_status (*assigned)(void *user, uint32_t atom);
    void *user;
} taper_ts_parse;

TAPER_MUST_USE taper_status taper_ts_parse_file(const taper_ts_parse *parse);

// Makes the tables attributes_by_name and methods_by_name after a class was parsed.
TAPER_MUST_USE taper_status taper_ts_index_members(const taper_ts_parse *parse, taper_ts_definition *class);
// Returns the attribute, field, or enum member with this name, or NULL if there is none. If there are several, returns
// the first.
taper_ts_attribute *taper_ts_attribute_named(const taper_ts_definition *class, uint32_t atom);
// Returns the attribute that has this slot.
const taper_ts_attribute *taper_ts_attribute_in(const taper_ts_definition *class, int64_t slot);
// Returns the method with this name, or NULL if the class has none.
taper_ts_function *taper_ts_method(const taper_ts_definition *class, uint32_t atom);

// Finds the line that contains byte `at`, for messages. Returns the number of the line, from 1; *line is its text and
// *column the column of the byte.
size_t taper_ts_line(const char *text, size_t length, size_t at, const char **line, size_t *line_length,
                     size_t *column);

#endif
