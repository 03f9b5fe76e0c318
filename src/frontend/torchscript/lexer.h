// SPDX-License-Identifier: BSD-2-Clause
// Splits TorchScript sources into tokens, with Python's rules of indentation. Only the parser uses this header.
#ifndef TAPER_TORCHSCRIPT_LEXER_H
#define TAPER_TORCHSCRIPT_LEXER_H

#include "frontend/torchscript/ast.h"

typedef enum taper_ts_token_kind {
    TAPER_TS_TOKEN_END,
    TAPER_TS_TOKEN_LINE, // end of a logical line
    TAPER_TS_TOKEN_INDENT,
    TAPER_TS_TOKEN_DEDENT,
    TAPER_TS_TOKEN_NAME, // name or keyword, in `atom`
    TAPER_TS_TOKEN_INTEGER,
    TAPER_TS_TOKEN_REAL,
    TAPER_TS_TOKEN_IMAGINARY,
    TAPER_TS_TOKEN_STRING,
    TAPER_TS_TOKEN_ARROW, // the token ->
    TAPER_TS_TOKEN_MARK   // one character, in `mark`
} taper_ts_token_kind;

typedef struct taper_ts_token {
    taper_ts_token_kind kind;
    char mark;
    uint32_t at, end; // range of bytes in the source file
    uint32_t atom;
} taper_ts_token;

enum { TAPER_TS_INDENTS = 256 };

typedef struct taper_ts_lexer {
    const taper_ts_parse *parse;
    size_t at;
    int parentheses; // number of open parentheses; inside of them, line ends have no meaning
    bool fresh;      // true at the start of a logical line
    bool ended;      // true after the last line has ended
    uint32_t indents[TAPER_TS_INDENTS];
    int depth, dedents;
    taper_ts_token token; // current token
} taper_ts_lexer;

// Reads the next token into lexer->token.
TAPER_MUST_USE taper_status taper_ts_next(taper_ts_lexer *lexer);
// Fails with a message such as "code/__torch__.py, line 3: " followed by `what`. The detail of the error contains the
// source line.
TAPER_COLD taper_status taper_ts_syntax(const taper_ts_lexer *lexer, size_t at, const char *what);

#endif
