// SPDX-License-Identifier: BSD-2-Clause
// Operator schemas. They are parsed from the texts of the operator list, for the operators that a model uses.
#ifndef TAPER_IR_SCHEMA_H
#define TAPER_IR_SCHEMA_H

#include "base/arena.h"
#include "ir/tensor_def.h"

typedef struct taper_schema_arg {
    const char *name; // "" for a result without a name
    const taper_type *type;
    const char *type_text; // text in the schema: "int[2]", "Tensor?"
    int32_t size;          // 2 for int[2]; otherwise -1
    uint8_t alias;         // letter of the alias set, 'a'; 0 for no set
    bool written;          // true for (a!)
    bool wildcard;         // true for (*) or (a -> *)
    bool keyword_only;
    bool has_default;
    taper_val default_value; // number, None, string or list of ints; on the heap of the table
} taper_schema_arg;

// Arguments that have one name in the schemas of layers, but different positions.
typedef enum taper_role {
    TAPER_ROLE_BIAS,
    TAPER_ROLE_STRIDE,
    TAPER_ROLE_PADDING,
    TAPER_ROLE_DILATION,
    TAPER_ROLE_OUTPUT_PADDING,
    TAPER_ROLE_GROUPS,
    TAPER_ROLE_TRANSPOSED,
    TAPER_ROLE_KERNEL_SIZE,
    TAPER_ROLE_COUNT
} taper_role;
extern const char *const taper_role_names[TAPER_ROLE_COUNT]; // names of the roles: "stride"

typedef struct taper_schema {
    const char *text;     // the whole schema
    const char *name;     // "aten::add"
    const char *overload; // "Tensor", or "" for none
    taper_schema_arg *args;
    taper_schema_arg *rets;
    uint32_t arg_count, ret_count;
    uint32_t out_count; // number of arguments at the end that are .out targets
    bool vararg, varret;
    bool in_place;                   // true if argument 0 is written and returned
    uint8_t roles[TAPER_ROLE_COUNT]; // 1 + position of the argument, or 0
} taper_schema;

// Parses the text of a schema, which must outlive it. arena owns everything that is allocated, except default lists and
// strings, which are on the heap.
TAPER_MUST_USE taper_status taper_schema_parse(taper_arena *arena, taper_heap *heap, taper_types *types,
                                               const char *text, taper_schema *schema, taper_error *error);

#endif
