// SPDX-License-Identifier: BSD-2-Clause
// Operator schemas, parsed from the strings of the operator list for the operators that a model uses.
#ifndef TAPER_IR_SCHEMA_H
#define TAPER_IR_SCHEMA_H

#include "ir/tensor.h"

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

typedef struct taper_schema {
    const char *text;     // all of it
    const char *name;     // "aten::add"
    const char *overload; // "Tensor" or ""
    taper_schema_arg *args;
    taper_schema_arg *rets;
    uint32_t arg_count, ret_count;
    uint32_t out_count; // trailing arguments that are .out targets
    bool vararg, varret;
    bool in_place; // argument 0 is written and returned
} taper_schema;

// Parses schema text, which must live as long. Everything is allocated from arena; default lists and strings from heap.
TAPER_MUST_USE taper_status taper_schema_parse(taper_arena *arena, taper_heap *heap, taper_types *types,
                                               const char *text, taper_schema *schema, taper_error *error);

#endif
