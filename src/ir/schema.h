// SPDX-License-Identifier: BSD-2-Clause
// Schemas of operators. Only the schemas of operators that a model uses are parsed, from the texts of the operator
// list.
#ifndef TAPER_IR_SCHEMA_H
#define TAPER_IR_SCHEMA_H

#include "base/arena.h"
#include "ir/tensor_def.h"

typedef struct taper_schema_arg {
    const char *name; // name of the argument or result; "" for a result without a name
    const taper_type *type;
    const char *type_text; // type as the schema writes it, such as "int[2]" or "Tensor?"
    int32_t size;          // number of items: 2 for int[2]; otherwise -1
    uint8_t alias;         // letter of the alias set, such as 'a'; 0 for none
    bool written;          // true if the schema says that the argument is written to, as in (a!)
    bool wildcard;         // true if the argument may alias anything, as in (*) or (a -> *)
    bool keyword_only;
    bool has_default;
    taper_val default_value; // default: a number, None, string or list of ints; objects are on the heap of the table
} taper_schema_arg;

// Arguments that have the same name in the schemas of layers, but different positions.
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
extern const char *const taper_role_names[TAPER_ROLE_COUNT]; // names of the arguments, such as "stride"

typedef struct taper_schema {
    const char *text;     // text of the whole schema
    const char *name;     // name, such as "aten::add"
    const char *overload; // overload name, such as "Tensor", or "" for none
    taper_schema_arg *args;
    taper_schema_arg *rets;
    uint32_t arg_count, ret_count;
    uint32_t out_count; // number of .out arguments, which come last
    bool vararg, varret;
    bool in_place;                   // true if argument 0 is written to and returned
    uint8_t roles[TAPER_ROLE_COUNT]; // for each taper_role: 1 + position of the argument, or 0 if missing
} taper_schema;

// Parses the text of a schema, which must outlive the schema. All memory is allocated from `arena`, except default
// lists and strings, which are on the heap.
TAPER_MUST_USE taper_status taper_schema_parse(taper_arena *arena, taper_heap *heap, taper_types *types,
                                               const char *text, taper_schema *schema, taper_error *error);

#endif
