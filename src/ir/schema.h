// SPDX-License-Identifier: BSD-2-Clause
// Operator schemas, parsed from the strings of the operator list for the operators that a model uses.
#ifndef TAPER_IR_SCHEMA_H
#define TAPER_IR_SCHEMA_H

#include "base/arena.h"
#include "ir/tensor_def.h"

typedef struct taper_schema_arg {
    const char *name; // "" for an unnamed result
    const taper_type *type;
    const char *type_text; // as in the schema: "int[2]", "Tensor?"
    int32_t size;          // of int[2]; -1 otherwise
    uint8_t alias;         // 0 none, otherwise the letter of its set: 'a'
    bool written;          // (a!)
    bool wildcard;         // (*) or (a -> *)
    bool keyword_only;
    bool has_default;
    taper_val default_value; // numbers, None, strings and lists of ints; on the table's heap
} taper_schema_arg;

// Arguments that layers' schemas name alike and order differently.
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
extern const char *const taper_role_names[TAPER_ROLE_COUNT]; // "stride"

typedef struct taper_schema {
    const char *text;     // all of it
    const char *name;     // "aten::add"
    const char *overload; // "Tensor" or ""
    taper_schema_arg *args;
    taper_schema_arg *rets;
    uint32_t arg_count, ret_count;
    uint32_t out_count; // trailing arguments that are .out targets
    bool vararg, varret;
    bool in_place;                   // argument 0 is written and returned
    uint8_t roles[TAPER_ROLE_COUNT]; // position + 1 of the argument; 0: none
} taper_schema;

// Parses schema text, which must live as long. Everything is allocated from arena; default lists and strings from heap.
TAPER_MUST_USE taper_status taper_schema_parse(taper_arena *arena, taper_heap *heap, taper_types *types,
                                               const char *text, taper_schema *schema, taper_error *error);

#endif
