// SPDX-License-Identifier: BSD-2-Clause
// Helpers that the operators on strings and the printer of values share: text that grows on the run's heap, and numbers
// as text.
#ifndef TAPER_OPS_STRING_OPS_H
#define TAPER_OPS_STRING_OPS_H

#include "ops/call/call.h"

// A growing text whose memory comes from the run's heap, so that a repeated run makes no call to the allocator. The
// owner ends it with taper_run_text_end or taper_run_text_ret.
typedef struct taper_run_text {
    taper_allocator allocator;
    taper_text text;
} taper_run_text;

// Begins a text. The text contains pointers into *out, which must not move from then on.
void taper_run_text_begin(taper_run_text *out, taper_run *run);
void taper_run_text_end(taper_run_text *out);
// Sets the text as result `at` and frees it, also after a failure. Fails if the text grew too long or memory ran out.
TAPER_MUST_USE taper_status taper_run_text_ret(taper_run_text *out, taper_call *call, size_t at);
// Fails with the reason that text->failed gives: the text grew too long or memory ran out. Always returns an error.
taper_status taper_text_failure(const taper_run *run);

// Appends a new string of `length` bytes to a list.
TAPER_MUST_USE taper_status taper_list_append_string(taper_call *call, taper_list *list, const char *text,
                                                     size_t length);

// Formats number by printf's conversion e, f, g, E, F or G. The decimal point is '.' in any locale.
enum { TAPER_DIGITS = 400 }; // bytes for the longest double with %f and a few decimals, and the final 0
void taper_print_double(char digits[TAPER_DIGITS], char conversion, int precision, double number);

// Reads start, end and step (arguments 1 to 3) of a slice of `length` items as Python does: negative positions count
// from the end, and positions are limited to the length. The slice has *count items: *start, *start + *step, and so on.
TAPER_MUST_USE taper_status taper_slice_bounds(const taper_call *call, int64_t length, int64_t *start, int64_t *step,
                                               int64_t *count);

// The format in which a stream prints floats at the moment. In percentFormat, %e and %f change it for the values that
// follow, as in PyTorch.
typedef struct taper_print_style {
    char floats; // format of floats: 'g', 'e' or 'f'
    bool upper;
} taper_print_style;

// These functions append a value as PyTorch streams it: "[1, 2.5, abc]", "{a: 1.}", "(1,)", a tensor as a table. They
// fail if the text has grown too long or memory has run out (text->failed).
TAPER_MUST_USE taper_status taper_print_value(taper_run *run, taper_text *text, taper_val value,
                                              taper_print_style style);
TAPER_MUST_USE taper_status taper_print_tensor(taper_run *run, taper_text *text, taper_tensor *tensor);

#endif
