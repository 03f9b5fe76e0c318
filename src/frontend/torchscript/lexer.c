// SPDX-License-Identifier: BSD-2-Clause
// Makes tokens, including tokens for changes of the indentation.
#include "frontend/torchscript/lexer.h"

#include <string.h>

size_t taper_ts_line(const char *text, size_t length, size_t at, const char **line, size_t *line_length, size_t *column)
{
    size_t number = 1, start = 0;
    at = taper_min_size(at, length);
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            number++;
            start = i + 1;
        }
    }
    size_t end = start;
    while (end < length && text[end] != '\n') {
        end++;
    }
    *line = text + start;
    *line_length = end - start;
    *column = at - start;
    return number;
}

taper_status taper_ts_syntax(const taper_ts_lexer *lexer, size_t at, const char *what)
{
    const taper_ts_parse *p = lexer->parse;
    const char *line;
    size_t line_length, column;
    const size_t number = taper_ts_line(p->text, p->length, at, &line, &line_length, &column);
    const taper_status status = taper_fail(p->error, TAPER_ERROR_FILE, "%s, line %zu: %s", p->file_name, number, what);
    taper_error_add_detail(p->error, "  %.*s\n", (int)taper_min_size(line_length, 200), line);
    return status;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) || (unsigned char)c >= 0x80;
}

static char peek(const taper_ts_lexer *lexer, size_t ahead)
{
    const size_t at = lexer->at + ahead;
    return at < lexer->parse->length ? lexer->parse->text[at] : '\0';
}

// Skips blanks, comments and line ends without meaning. Returns true at the end of a logical line.
static bool skip(taper_ts_lexer *lexer)
{
    const taper_ts_parse *p = lexer->parse;
    while (lexer->at < p->length) {
        const char c = p->text[lexer->at];
        if (c == '#') {
            while (lexer->at < p->length && p->text[lexer->at] != '\n') {
                lexer->at++;
            }
        } else if (c == '\n') {
            if (lexer->parentheses == 0 && !lexer->fresh) {
                return true;
            }
            lexer->at++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->at++;
        } else {
            return false;
        }
    }
    const bool line = lexer->parentheses == 0 && !lexer->fresh && !lexer->ended;
    lexer->ended = true;
    return line;
}

// Makes a token if the indentation of a new line differs from the indentation of the enclosing blocks.
static taper_status indentation(taper_ts_lexer *lexer)
{
    const taper_ts_parse *p = lexer->parse;
    size_t start = lexer->at;
    while (start != 0 && p->text[start - 1] != '\n') {
        start--;
    }
    const uint32_t indent = lexer->at >= p->length ? 0 : (uint32_t)(lexer->at - start);
    lexer->fresh = false;
    lexer->token.at = lexer->token.end = (uint32_t)lexer->at;
    if (indent > lexer->indents[lexer->depth]) {
        if (lexer->depth + 1 >= TAPER_TS_INDENTS) {
            return taper_ts_syntax(lexer, lexer->at, "blocks are nested too deep");
        }
        lexer->indents[++lexer->depth] = indent;
        lexer->token.kind = TAPER_TS_TOKEN_INDENT;
        return TAPER_OK;
    }
    while (indent < lexer->indents[lexer->depth]) {
        lexer->depth--;
        lexer->dedents++;
    }
    return indent == lexer->indents[lexer->depth]
               ? TAPER_OK
               : taper_ts_syntax(lexer, lexer->at, "the indentation fits no line above");
}

static void number(taper_ts_lexer *lexer)
{
    taper_ts_token_kind kind = TAPER_TS_TOKEN_INTEGER;
    while (is_digit(peek(lexer, 0))) {
        lexer->at++;
    }
    if (peek(lexer, 0) == '.') {
        kind = TAPER_TS_TOKEN_REAL;
        do {
            lexer->at++;
        } while (is_digit(peek(lexer, 0)));
    }
    if (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') {
        const size_t sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 2 : 1;
        if (is_digit(peek(lexer, sign))) {
            kind = TAPER_TS_TOKEN_REAL;
            lexer->at += sign;
            while (is_digit(peek(lexer, 0))) {
                lexer->at++;
            }
        }
    }
    if (peek(lexer, 0) == 'j') {
        kind = TAPER_TS_TOKEN_IMAGINARY;
        lexer->at++;
    }
    lexer->token.kind = kind;
}

static taper_status string(taper_ts_lexer *lexer)
{
    const size_t start = lexer->at;
    const char quote = peek(lexer, 0);
    for (lexer->at++; lexer->at < lexer->parse->length; lexer->at++) {
        const char c = peek(lexer, 0);
        if (c == quote) {
            lexer->at++;
            lexer->token.kind = TAPER_TS_TOKEN_STRING;
            return TAPER_OK;
        }
        if (c == '\n') {
            break;
        }
        lexer->at += c == '\\';
    }
    return taper_ts_syntax(lexer, start, "the string has no end");
}

static taper_status token(taper_ts_lexer *lexer)
{
    const char c = peek(lexer, 0);
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        number(lexer);
    } else if (is_name(c)) {
        const size_t start = lexer->at;
        while (lexer->at < lexer->parse->length && is_name(peek(lexer, 0))) {
            lexer->at++;
        }
        lexer->token.kind = TAPER_TS_TOKEN_NAME;
        return taper_ts_atom(lexer->parse->atoms, lexer->parse->text + start, lexer->at - start, &lexer->token.atom,
                             lexer->parse->error);
    } else if (c == '"' || c == '\'') {
        return string(lexer);
    } else if (c == '-' && peek(lexer, 1) == '>') {
        lexer->token.kind = TAPER_TS_TOKEN_ARROW;
        lexer->at += 2;
    } else if (c != '\0' && strchr("()[]{},:.=-+", c) != NULL) {
        lexer->token.kind = TAPER_TS_TOKEN_MARK;
        lexer->token.mark = c;
        lexer->parentheses += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (lexer->parentheses < 0) {
            return taper_ts_syntax(lexer, lexer->at, "a bracket closes that was not opened");
        }
        lexer->at++;
    } else {
        return taper_ts_syntax(lexer, lexer->at, "a character that TorchScript does not use");
    }
    return TAPER_OK;
}

taper_status taper_ts_next(taper_ts_lexer *lexer)
{
    lexer->token.mark = '\0';
    if (lexer->dedents != 0) {
        lexer->dedents--;
        lexer->token.kind = TAPER_TS_TOKEN_DEDENT;
        return TAPER_OK;
    }
    if (skip(lexer)) {
        lexer->token.kind = TAPER_TS_TOKEN_LINE;
        lexer->token.at = lexer->token.end = (uint32_t)lexer->at;
        lexer->fresh = true;
        return TAPER_OK;
    }
    if (lexer->fresh) {
        lexer->token.kind = TAPER_TS_TOKEN_END;
        TAPER_TRY(indentation(lexer));
        if (lexer->token.kind == TAPER_TS_TOKEN_INDENT) {
            return TAPER_OK;
        }
        if (lexer->dedents != 0) {
            return taper_ts_next(lexer);
        }
    }
    lexer->token.at = lexer->token.end = (uint32_t)lexer->at;
    if (lexer->at >= lexer->parse->length) {
        if (lexer->parentheses != 0) {
            return taper_ts_syntax(lexer, lexer->at, "the file ends within brackets");
        }
        lexer->token.kind = TAPER_TS_TOKEN_END;
        return TAPER_OK;
    }
    TAPER_TRY(token(lexer));
    lexer->token.end = (uint32_t)lexer->at;
    return TAPER_OK;
}
