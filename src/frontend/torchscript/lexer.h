// SPDX-License-Identifier: BSD-2-Clause
// Tokens of TorchScript, with Python's rule of indentation. Not for others than the parser.
#ifndef TAPER_TORCHSCRIPT_LEXER_H
#define TAPER_TORCHSCRIPT_LEXER_H

#include "frontend/torchscript/ast.h"

typedef enum taper_ts_token_kind {
    TAPER_TS_TOKEN_END,
    TAPER_TS_TOKEN_LINE, // the end of a line of code
    TAPER_TS_TOKEN_INDENT,
    TAPER_TS_TOKEN_DEDENT,
    TAPER_TS_TOKEN_NAME, // keywords too: atom
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
    uint32_t at, end; // bytes in the file
    uint32_t atom;
} taper_ts_token;

enum { TAPER_TS_INDENTS = 256 };

typedef struct taper_ts_lexer {
    const taper_ts_parse *parse;
    size_t at;
    int parentheses; // within these, lines do not end
    bool fresh;      // at the start of a line
    bool ended;      // the last line has ended
    uint32_t indents[TAPER_TS_INDENTS];
    int depth, dedents;
    taper_ts_token token; // the current one
} taper_ts_lexer;

// Moves on to the next token.
TAPER_MUST_USE taper_status taper_ts_next(taper_ts_lexer *lexer);
// "code/__torch__.py, line 3: WHAT", with the line in the detail.
TAPER_COLD taper_status taper_ts_syntax(const taper_ts_lexer *lexer, size_t at, const char *what);

#endif
