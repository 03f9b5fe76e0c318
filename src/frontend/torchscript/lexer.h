// SPDX-License-Identifier: BSD-2-Clause
// Tokens of TorchScript, with Python's rules of indentation. Only the parser uses them.
#ifndef TAPER_TORCHSCRIPT_LEXER_H
#define TAPER_TORCHSCRIPT_LEXER_H

#include "frontend/torchscript/ast.h"

typedef enum taper_ts_token_kind {
    TAPER_TS_TOKEN_END,
    TAPER_TS_TOKEN_LINE, // end of a logical line
    TAPER_TS_TOKEN_INDENT,
    TAPER_TS_TOKEN_DEDENT,
    TAPER_TS_TOKEN_NAME, // atom: name or keyword
    TAPER_TS_TOKEN_INTEGER,
    TAPER_TS_TOKEN_REAL,
    TAPER_TS_TOKEN_IMAGINARY,
    TAPER_TS_TOKEN_STRING,
    TAPER_TS_TOKEN_ARROW, // ->
    TAPER_TS_TOKEN_MARK   // one character, in `mark`
} taper_ts_token_kind;

typedef struct taper_ts_token {
    taper_ts_token_kind kind;
    char mark;
    uint32_t at, end; // range of bytes in the file
    uint32_t atom;
} taper_ts_token;

enum { TAPER_TS_INDENTS = 256 };

typedef struct taper_ts_lexer {
    const taper_ts_parse *parse;
    size_t at;
    int parentheses; // open parentheses, inside which lines do not end
    bool fresh;      // true at the start of a line
    bool ended;      // true after the end of the last line
    uint32_t indents[TAPER_TS_INDENTS];
    int depth, dedents;
    taper_ts_token token; // current token
} taper_ts_lexer;

// Advances to the next token.
TAPER_MUST_USE taper_status taper_ts_next(taper_ts_lexer *lexer);
// Fails with "code/__torch__.py, line 3: " and `what`. The detail contains the line.
TAPER_COLD taper_status taper_ts_syntax(const taper_ts_lexer *lexer, size_t at, const char *what);

#endif
