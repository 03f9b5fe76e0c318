// SPDX-License-Identifier: BSD-2-Clause
// Text that operators print or return, which may fail as it grows, and helpers of the string operators.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops/lang/string_ops.h"

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    taper_heap *heap = user;
    void *grown = NULL;
    if (new_size != 0) {
        grown = taper_heap_alloc(heap, new_size);
        if (grown == NULL) {
            return NULL;
        }
        if (ptr != NULL) {
            memcpy(grown, ptr, taper_min_size(old_size, new_size));
        }
    }
    if (ptr != NULL) {
        taper_heap_free(heap, ptr, old_size);
    }
    return grown;
}

void taper_run_text_begin(taper_run_text *out, taper_run *run)
{
    out->allocator = (taper_allocator){.user = run->heap, .reallocate = reallocate};
    out->text = taper_text_make(&out->allocator);
}

void taper_run_text_end(taper_run_text *out)
{
    taper_text_free(&out->text);
}

taper_status taper_text_failure(const taper_run *run)
{
    return taper_fail(run->error, TAPER_ERROR_RESOURCE, "a string grows beyond %zu bytes, or memory ran out",
                      TAPER_LIMIT_STRING_BYTES);
}

taper_status taper_run_text_ret(taper_run_text *out, taper_call *call, size_t at)
{
    const taper_status status = out->text.failed
                                    ? taper_text_failure(call->run)
                                    : taper_ret_string(call, at, taper_text_get(&out->text), out->text.length);
    taper_run_text_end(out);
    return status;
}

taper_status taper_list_append_string(taper_call *call, taper_list *list, const char *text, size_t length)
{
    TAPER_TRY(taper_run_spend(call->run, 50 + length / 8));
    taper_string *string = taper_string_new(call->run->heap, text, length);
    if (string == NULL) {
        return taper_fail_memory(call->run->error);
    }
    return taper_list_append(list, TAPER_VAL(string), call->run->error);
}

// Replaces the locale's decimal point, which may have several bytes, by '.'.
static void plain_point(char *digits)
{
    char *to = digits;
    bool foreign = false;
    for (const char *from = digits; *from != '\0'; from++) {
        const char c = *from;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
            c == '.') {
            *to++ = c;
            foreign = false;
        } else if (!foreign) {
            *to++ = '.';
            foreign = true;
        }
    }
    *to = '\0';
}

void taper_print_double(char digits[TAPER_DIGITS], char conversion, int precision, double number)
{
    const char format[] = {'%', '.', '*', conversion, '\0'};
    (void)snprintf(digits, TAPER_DIGITS, format, precision, number);
    plain_point(digits);
}

static int64_t clamp(int64_t at, int64_t low, int64_t high)
{
    return at < low ? low : at > high ? high : at;
}

taper_status taper_slice_bounds(const taper_call *call, int64_t length, int64_t *start, int64_t *step, int64_t *count)
{
    int64_t end;
    TAPER_TRY(taper_arg_int_or(call, 3, 1, step));
    if (*step == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "List slice should have non-zero step");
    }
    if (*step == INT64_MIN) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "List slice step is out of bounds");
    }
    const bool down = *step < 0;
    TAPER_TRY(taper_arg_int_or(call, 1, down ? INT64_MAX : 0, start));
    TAPER_TRY(taper_arg_int_or(call, 2, down ? INT64_MIN : INT64_MAX, &end));
    *start = *start == INT64_MAX && !down ? 0 : *start; // PyTorch uses INT64_MAX for None
    const int64_t low = down ? -1 : 0, high = down ? length - 1 : length;
    *start = clamp(*start < 0 ? *start + length : *start, low, high);
    const bool unset = taper_arg_is_none(call, 2) || end == INT64_MAX; // INT64_MAX means None, as for `start`
    end = unset ? (down ? -1 : length) : clamp(end < 0 ? end + length : end, low, high);
    *count = 0;
    if (down ? *start > end : *start < end) {
        const uint64_t distance = down ? (uint64_t)(*start - end) : (uint64_t)(end - *start);
        const uint64_t stride = down ? 0 - (uint64_t)*step : (uint64_t)*step;
        *count = (int64_t)((distance - 1) / stride + 1);
    }
    return TAPER_OK;
}
