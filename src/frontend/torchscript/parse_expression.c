// SPDX-License-Identifier: BSD-2-Clause
// Parses expressions. Types have the syntax of expressions, so the same functions parse them.
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "frontend/torchscript/parser.h"

taper_status taper_ts_slot(taper_ts_parser *p, uint32_t atom, uint32_t *slot)
{
    if (atom >= p->slot_capacity) {
        const size_t before = p->slot_capacity;
        TAPER_TRY(TAPER_GROW(p->parse->allocator, p->slots, p->slot_capacity, (size_t)atom + 1, p->parse->error));
        memset(p->slots + before, 0, (p->slot_capacity - before) * sizeof *p->slots);
    }
    if (p->slots[atom].stamp != p->stamp) {
        p->slots[atom].stamp = p->stamp;
        p->slots[atom].slot = p->slot_count++;
    }
    *slot = p->slots[atom].slot;
    return TAPER_OK;
}

taper_status taper_ts_unexpected(const taper_ts_parser *p, const char *what)
{
    return taper_ts_syntax(&p->lexer, p->lexer.token.at, what);
}

taper_status taper_ts_expect(taper_ts_parser *p, char mark)
{
    if (!taper_ts_at(p, mark)) {
        const char what[] = {'\'', mark, '\'', ' ', 'w', 'a', 's', ' ', 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', '\0'};
        return taper_ts_unexpected(p, what);
    }
    return taper_ts_next(&p->lexer);
}

taper_status taper_ts_make(taper_ts_parser *p, taper_ts_kind kind, taper_ts_node **node)
{
    *node = taper_arena_alloc(p->parse->arena, sizeof **node);
    if (*node == NULL) {
        return taper_fail_memory(p->parse->error);
    }
    (*node)->kind = (uint8_t)kind;
    (*node)->at = p->lexer.token.at;
    (*node)->end = p->lexer.token.end;
    return TAPER_OK;
}

// ---- literals

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Reads the rest of an escape after its backslash, and advances *at. Returns the character.
static char escape(const char *text, size_t end, size_t *at)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    const char c = text[(*at)++];
    const char *simple = c != '\0' ? strchr(from, c) : NULL;
    if (simple != NULL) {
        return to[simple - from];
    }
    if (c == 'x' && *at + 2 <= end && hex(text[*at]) >= 0 && hex(text[*at + 1]) >= 0) {
        *at += 2;
        return (char)(16 * hex(text[*at - 2]) + hex(text[*at - 1]));
    }
    if (c >= '0' && c <= '7') {
        int value = c - '0';
        for (int i = 0; i < 2 && *at < end && text[*at] >= '0' && text[*at] <= '7'; i++) {
            value = 8 * value + (text[(*at)++] - '0');
        }
        return (char)value;
    }
    return c;
}

static taper_status string_literal(taper_ts_parser *p, taper_ts_node **node)
{
    TAPER_TRY(taper_ts_make(p, TAPER_TS_STRING, node));
    const char *text = p->parse->text;
    const size_t end = (*node)->end - 1;
    char *out = taper_arena_alloc(p->parse->arena, (*node)->end - (*node)->at);
    if (out == NULL) {
        return taper_fail_memory(p->parse->error);
    }
    size_t length = 0;
    for (size_t at = (*node)->at + 1; at < end;) {
        const char c = text[at++];
        out[length++] = c == '\\' && at < end ? escape(text, end, &at) : c;
    }
    (*node)->as.text = out;
    (*node)->length = (uint32_t)length;
    return taper_ts_next(&p->lexer);
}

static taper_status number_literal(taper_ts_parser *p, taper_ts_node **node)
{
    const taper_ts_token token = p->lexer.token;
    const char *text = p->parse->text + token.at;
    const size_t length = token.end - token.at;
    TAPER_TRY(taper_ts_make(p,
                            token.kind == TAPER_TS_TOKEN_INTEGER ? TAPER_TS_INTEGER
                            : token.kind == TAPER_TS_TOKEN_REAL  ? TAPER_TS_REAL
                                                                 : TAPER_TS_IMAGINARY,
                            node));
    if (token.kind == TAPER_TS_TOKEN_INTEGER) {
        uint64_t value = 0;
        for (size_t i = 0; i < length; i++) {
            const unsigned digit = (unsigned)(text[i] - '0');
            if (value > (UINT64_MAX - digit) / 10 || (value = 10 * value + digit) > (uint64_t)1 << 63) {
                return taper_ts_unexpected(p, "the number does not fit into 64 bits");
            }
        }
        (*node)->as.integer = (int64_t)value; // 2^63 becomes INT64_MIN, which is valid only after a minus sign
    } else {
        char digits[400];
        const size_t count = length - (token.kind == TAPER_TS_TOKEN_IMAGINARY ? 1 : 0);
        if (count >= sizeof digits) {
            return taper_ts_unexpected(p, "the number has too many digits");
        }
        memcpy(digits, text, count);
        digits[count] = '\0';
        if (!taper_parse_double(digits, count, &(*node)->as.real)) {
            return taper_ts_unexpected(p, "this is no number");
        }
    }
    return taper_ts_next(&p->lexer);
}

// ---- lists, tuples, dicts and arguments

// Parses items up to the character `close` and links them at *tail. *comma is true if a comma follows the last item.
static taper_status items(taper_ts_parser *p, char close, bool pairs, taper_ts_node **tail, bool *comma)
{
    *comma = false;
    while (!taper_ts_at(p, close)) {
        TAPER_TRY(taper_ts_expression(p, tail));
        tail = &(*tail)->next;
        if (pairs) {
            TAPER_TRY(taper_ts_expect(p, ':'));
            TAPER_TRY(taper_ts_expression(p, tail));
            tail = &(*tail)->next;
        }
        *comma = taper_ts_at(p, ',');
        if (!*comma) {
            break;
        }
        TAPER_TRY(taper_ts_next(&p->lexer));
    }
    return taper_ts_expect(p, close);
}

static taper_status sequence(taper_ts_parser *p, taper_ts_kind kind, char close, taper_ts_node **node)
{
    bool comma;
    TAPER_TRY(taper_ts_make(p, kind, node));
    TAPER_TRY(taper_ts_next(&p->lexer));
    TAPER_TRY(items(p, close, kind == TAPER_TS_PAIRS, &(*node)->child, &comma));
    if (kind == TAPER_TS_TUPLE_OF && (*node)->child != NULL && (*node)->child->next == NULL && !comma) {
        *node = (*node)->child; // parentheses around one expression
    }
    return TAPER_OK;
}

static taper_status arguments(taper_ts_parser *p, taper_ts_node **tail)
{
    TAPER_TRY(taper_ts_next(&p->lexer));
    while (!taper_ts_at(p, ')')) {
        TAPER_TRY(taper_ts_expression(p, tail));
        if (taper_ts_at(p, '=') && (*tail)->kind == TAPER_TS_NAME) {
            taper_ts_node *keyword = *tail;
            keyword->kind = TAPER_TS_KEYWORD;
            TAPER_TRY(taper_ts_next(&p->lexer));
            TAPER_TRY(taper_ts_expression(p, &keyword->child));
        }
        tail = &(*tail)->next;
        if (!taper_ts_at(p, ',')) {
            break;
        }
        TAPER_TRY(taper_ts_next(&p->lexer));
    }
    return taper_ts_expect(p, ')');
}

static taper_status none(taper_ts_parser *p, taper_ts_node **node)
{
    TAPER_TRY(taper_ts_make(p, TAPER_TS_CONSTANT, node));
    (*node)->atom = TAPER_ATOM_NONE;
    return TAPER_OK;
}

// Parses brackets after a value, which contain an index, a slice, or several types.
static taper_status subscript(taper_ts_parser *p, taper_ts_node **node)
{
    TAPER_TRY(taper_ts_next(&p->lexer));
    if (taper_ts_at(p, ':')) {
        TAPER_TRY(none(p, node));
    } else {
        TAPER_TRY(taper_ts_expressions(p, node));
    }
    if (taper_ts_at(p, ':')) {
        taper_ts_node *slice;
        TAPER_TRY(taper_ts_make(p, TAPER_TS_SLICE, &slice));
        TAPER_TRY(taper_ts_next(&p->lexer));
        slice->child = *node;
        if (taper_ts_at(p, ']')) {
            TAPER_TRY(none(p, &slice->child->next));
        } else {
            TAPER_TRY(taper_ts_expression(p, &slice->child->next));
        }
        *node = slice;
    }
    return taper_ts_expect(p, ']');
}

// ---- expressions in general

static taper_status primary(taper_ts_parser *p, taper_ts_node **node)
{
    const taper_ts_token token = p->lexer.token;
    switch (token.kind) {
    case TAPER_TS_TOKEN_INTEGER:
    case TAPER_TS_TOKEN_REAL:
    case TAPER_TS_TOKEN_IMAGINARY:
        return number_literal(p, node);
    case TAPER_TS_TOKEN_STRING:
        return string_literal(p, node);
    case TAPER_TS_TOKEN_NAME: {
        const bool constant =
            token.atom == TAPER_ATOM_TRUE || token.atom == TAPER_ATOM_FALSE || token.atom == TAPER_ATOM_NONE;
        if (token.atom < TAPER_ATOM_KEYWORDS_END && !constant) {
            break;
        }
        TAPER_TRY(taper_ts_make(p, constant ? TAPER_TS_CONSTANT : TAPER_TS_NAME, node));
        (*node)->atom = token.atom;
        if (!constant) {
            TAPER_TRY(taper_ts_slot(p, token.atom, &(*node)->slot));
        }
        return taper_ts_next(&p->lexer);
    }
    case TAPER_TS_TOKEN_MARK:
        if (token.mark == '(') {
            return sequence(p, TAPER_TS_TUPLE_OF, ')', node);
        }
        if (token.mark == '[') {
            return sequence(p, TAPER_TS_ITEMS, ']', node);
        }
        if (token.mark == '{') {
            return sequence(p, TAPER_TS_PAIRS, '}', node);
        }
        break;
    default:
        break;
    }
    return taper_ts_unexpected(p, "an expression was expected");
}

static taper_status wrap(taper_ts_parser *p, taper_ts_kind kind, taper_ts_node **node)
{
    taper_ts_node *outer;
    TAPER_TRY(taper_ts_make(p, kind, &outer));
    outer->at = (*node)->at;
    outer->child = *node;
    *node = outer;
    return TAPER_OK;
}

static taper_status postfix(taper_ts_parser *p, taper_ts_node **node)
{
    TAPER_TRY(primary(p, node));
    for (int chain = 0;; chain++) {
        if (chain > TAPER_LIMIT_SOURCE_DEPTH) { // each of these postfix operators is a level of the tree
            return taper_ts_unexpected(p, "the expression is nested too deep");
        }
        if (taper_ts_at(p, '.')) {
            TAPER_TRY(taper_ts_next(&p->lexer));
            if (p->lexer.token.kind != TAPER_TS_TOKEN_NAME) {
                return taper_ts_unexpected(p, "the name of an attribute was expected");
            }
            TAPER_TRY(wrap(p, TAPER_TS_ATTRIBUTE, node));
            (*node)->atom = p->lexer.token.atom;
            TAPER_TRY(taper_ts_next(&p->lexer));
        } else if (taper_ts_at(p, '(')) {
            TAPER_TRY(wrap(p, TAPER_TS_CALL, node));
            TAPER_TRY(arguments(p, &(*node)->child->next));
        } else if (taper_ts_at(p, '[')) {
            TAPER_TRY(wrap(p, TAPER_TS_INDEX, node));
            TAPER_TRY(subscript(p, &(*node)->child->next));
        } else {
            return TAPER_OK;
        }
    }
}

static taper_status operand(taper_ts_parser *p, taper_ts_node **node)
{
    if (!taper_ts_at(p, '-')) {
        return postfix(p, node);
    }
    TAPER_TRY(taper_ts_make(p, TAPER_TS_NEGATIVE, node));
    TAPER_TRY(taper_ts_next(&p->lexer));
    return postfix(p, &(*node)->child);
}

taper_status taper_ts_expression(taper_ts_parser *p, taper_ts_node **node)
{
    if (++p->depth > TAPER_LIMIT_SOURCE_DEPTH) {
        return taper_ts_unexpected(p, "the expression is nested too deep");
    }
    TAPER_TRY(operand(p, node));
    for (int chain = 0; taper_ts_at(p, '+') || taper_ts_at(p, '-'); chain++) {
        if (chain > TAPER_LIMIT_SOURCE_DEPTH) {
            return taper_ts_unexpected(p, "the expression is nested too deep");
        }
        TAPER_TRY(wrap(p, taper_ts_at(p, '+') ? TAPER_TS_SUM : TAPER_TS_DIFFERENCE, node));
        TAPER_TRY(taper_ts_next(&p->lexer));
        TAPER_TRY(operand(p, &(*node)->child->next));
    }
    p->depth--;
    return TAPER_OK;
}

taper_status taper_ts_expressions(taper_ts_parser *p, taper_ts_node **node)
{
    TAPER_TRY(taper_ts_expression(p, node));
    if (!taper_ts_at(p, ',')) {
        return TAPER_OK;
    }
    TAPER_TRY(wrap(p, TAPER_TS_TUPLE_OF, node));
    taper_ts_node **tail = &(*node)->child->next;
    while (taper_ts_at(p, ',')) {
        TAPER_TRY(taper_ts_next(&p->lexer));
        if (taper_ts_at(p, '=') || taper_ts_at(p, ']') || p->lexer.token.kind == TAPER_TS_TOKEN_LINE) {
            break;
        }
        TAPER_TRY(taper_ts_expression(p, tail));
        tail = &(*tail)->next;
    }
    return TAPER_OK;
}
