// SPDX-License-Identifier: BSD-2-Clause
// Declarations that the two files of the parser share: one parses expressions, the other statements and definitions.
#ifndef TAPER_TORCHSCRIPT_PARSER_H
#define TAPER_TORCHSCRIPT_PARSER_H

#include "frontend/torchscript/lexer.h"

typedef struct taper_ts_parser {
    taper_ts_lexer lexer;
    const taper_ts_parse *parse;
    int depth; // nesting depth of expressions and blocks
    // Variables of the current function, by atom: slot + 1. An entry is valid if its stamp equals the stamp of the
    // parser.
    struct {
        uint32_t slot, stamp;
    } * slots;
    size_t slot_capacity;
    uint32_t stamp, slot_count;
    taper_ts_definition *owner; // class that is being parsed, or NULL outside of classes
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
// Parses one expression. Several expressions separated by commas become a TUPLE_OF.
TAPER_MUST_USE taper_status taper_ts_expressions(taper_ts_parser *p, taper_ts_node **node);

#endif
