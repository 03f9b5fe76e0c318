// SPDX-License-Identifier: BSD-2-Clause
// What the operators on strings and the printer of values share: text that grows on the run's heap, numbers as text.
#ifndef TAPER_OPS_STRING_OPS_H
#define TAPER_OPS_STRING_OPS_H

#include "ops/call/call.h"

// A growing text whose memory comes from the run's heap, so that a repeated run makes no call to the allocator.
typedef struct taper_run_text {
    taper_allocator allocator;
    taper_text text;
} taper_run_text;

void taper_run_text_begin(taper_run_text *out, taper_run *run); // out must not move afterwards
void taper_run_text_end(taper_run_text *out);
// Leaves the text as result `at` and frees it; fails when it grew too long or memory ran out.
TAPER_MUST_USE taper_status taper_run_text_ret(taper_run_text *out, taper_call *call, size_t at);
// Why text->failed.
taper_status taper_text_failure(const taper_run *run);

// Appends a list of results: strings.
TAPER_MUST_USE taper_status taper_list_append_string(taper_call *call, taper_list *list, const char *text,
                                                     size_t length);

// printf's %e, %f, %g or their upper-case forms, with '.' whatever the locale.
enum { TAPER_DIGITS = 400 }; // what the longest double needs with %f and a few decimals
void taper_print_double(char digits[TAPER_DIGITS], char conversion, int precision, double number);

// Positions of slices and finds, as Python counts them: negative from the end, clamped into the length.
TAPER_MUST_USE taper_status taper_slice_bounds(const taper_call *call, int64_t length, int64_t *start, int64_t *step,
                                               int64_t *count);

// How a stream prints floats at the moment. %e and %f of percentFormat leave theirs behind, as in PyTorch.
typedef struct taper_print_style {
    char floats; // 'g', 'e' or 'f'
    bool upper;
} taper_print_style;

// Text of values as PyTorch streams them: "[1, 2.5, abc]", "{a: 1.}", "(1,)", tensors as a table.
TAPER_MUST_USE taper_status taper_print_value(taper_run *run, taper_text *text, taper_val value,
                                              taper_print_style style);
TAPER_MUST_USE taper_status taper_print_tensor(taper_run *run, taper_text *text, taper_tensor *tensor);

#endif
