// SPDX-License-Identifier: BSD-2-Clause
// Shared by the two parts of the parser: expressions, and statements with definitions.
#ifndef TAPER_TORCHSCRIPT_PARSER_H
#define TAPER_TORCHSCRIPT_PARSER_H

#include "frontend/torchscript/lexer.h"

typedef struct taper_ts_parser {
    taper_ts_lexer lexer;
    const taper_ts_parse *parse;
    int depth; // nesting depth of expressions and blocks
    // The variables of the current function: slot + 1 by atom, valid if stamps are equal.
    struct {
        uint32_t slot, stamp;
    } * slots;
    size_t slot_capacity;
    uint32_t stamp, slot_count;
    taper_ts_definition *owner; // class being parsed, or NULL
} taper_ts_parser;

static inline bool taper_ts_at(const taper_ts_parser *p, char mark)
{
    return p->lexer.token.kind == TAPER_TS_TOKEN_MARK && p->lexer.token.mark == mark;
}
static inline bool taper_ts_at_name(const taper_ts_parser *p, uint32_t atom)
{
    return p->lexer.token.kind == TAPER_TS_TOKEN_NAME && p->lexer.token.atom == atom;
}
TAPER_MUST_USE taper_status taper_ts_expect(taper_ts_parser *p, char mark);
TAPER_MUST_USE taper_status taper_ts_make(taper_ts_parser *p, taper_ts_kind kind, taper_ts_node **node);
TAPER_COLD taper_status taper_ts_unexpected(const taper_ts_parser *p, const char *what);
TAPER_MUST_USE taper_status taper_ts_slot(taper_ts_parser *p, uint32_t atom, uint32_t *slot);

TAPER_MUST_USE taper_status taper_ts_expression(taper_ts_parser *p, taper_ts_node **node);
// Parses one expression, or several separated by commas as a TUPLE_OF.
TAPER_MUST_USE taper_status taper_ts_expressions(taper_ts_parser *p, taper_ts_node **node);

#endif
