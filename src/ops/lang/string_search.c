// SPDX-License-Identifier: BSD-2-Clause
// Operators on strings that find, count, replace and split.
#include <inttypes.h>

#include "ops/call/call.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_case.h"
#include "ops/lang/string_ops.h"

enum { NOWHERE = -1, WORK_OF_A_TRY = 4 };

// Returns the first position of `what` in the bytes from `from` to `to` (exclusive), or NOWHERE.
static int64_t find(taper_run *run, const taper_string *s, const taper_string *what, int64_t from, int64_t to)
{
    const int64_t length = (int64_t)what->length;
    if (from < 0 || to > (int64_t)s->length || to - from < length) {
        return NOWHERE;
    }
    if (length == 0) {
        return from;
    }
    while (to - from >= length) {
        const char *hit = memchr(s->data + from, what->data[0], (size_t)(to - from - length + 1));
        if (hit == NULL) {
            return NOWHERE;
        }
        from = hit - s->data;
        if (memcmp(hit, what->data, what->length) == 0) {
            return from;
        }
        if (!taper_run_goes_on(run, WORK_OF_A_TRY + what->length / 64)) {
            return NOWHERE;
        }
        from++;
    }
    return NOWHERE;
}

// Returns the last position of `what` in the bytes from `from` to `to` (exclusive), or NOWHERE.
static int64_t find_last(taper_run *run, const taper_string *s, const taper_string *what, int64_t from, int64_t to)
{
    for (int64_t at = to - (int64_t)what->length;
         at >= from && taper_run_goes_on(run, WORK_OF_A_TRY + what->length / 64); at--) {
        if (memcmp(s->data + at, what->data, what->length) == 0) {
            return at;
        }
    }
    return NOWHERE;
}

// Reads start and end (arguments 2 and 3) of find and similar operators. A negative start counts from the end. A
// negative end counts from one past the end, so that the default of -1 is the whole text.
static taper_status range_args(const taper_call *call, const taper_string *s, int64_t *start, int64_t *end)
{
    const int64_t size = (int64_t)s->length;
    TAPER_TRY(taper_arg_int_or(call, 2, 0, start));
    TAPER_TRY(taper_arg_int_or(call, 3, -1, end));
    if (*start < 0) {
        *start = taper_max_i64(0, size + *start);
    }
    if (*end < 0) {
        *end = taper_max_i64(0, size + *end + 1);
    }
    return TAPER_OK;
}

// Fails if the start is beyond the end of the text. The message is PyTorch's, which comes from std::string::substr. The
// operator `count` has no such check.
static taper_status check_start(const taper_call *call, const taper_string *s, int64_t start)
{
    return start <= (int64_t)s->length
               ? TAPER_OK
               : taper_fail(call->run->error, TAPER_ERROR_RAISED,
                            "basic_string::substr: __pos (which is %" PRId64 ") > this->size() (which is %zu)", start,
                            s->length);
}

TAPER_KERNEL(taper_op_string_find)
{
    const unsigned code = taper_call_code(call);
    const taper_string *s, *what;
    int64_t start, end;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &what));
    TAPER_TRY(range_args(call, s, &start, &end));
    int64_t at = NOWHERE;
    if (end <= start) { // in an empty range only an empty text is found, at any position
        at = what->length == 0 ? start : NOWHERE;
    } else {
        TAPER_TRY(check_start(call, s, start));
        end = taper_min_i64(end, (int64_t)s->length);
        const bool last = code == TAPER_STRING_RFIND || code == TAPER_STRING_RINDEX;
        at = last ? find_last(call->run, s, what, start, end) : find(call->run, s, what, start, end);
    }
    if (at == NOWHERE && (code == TAPER_STRING_INDEX || code == TAPER_STRING_RINDEX)) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "ValueError: substring not found");
    }
    taper_ret(call, 0, taper_val_int(at));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_count)
{
    const taper_string *s, *what;
    int64_t start, end;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &what));
    TAPER_TRY(range_args(call, s, &start, &end));
    const int64_t size = (int64_t)s->length;
    int64_t count = 0;
    if (what->length == 0) {
        end = taper_min_i64(end, size);
        count = start > size || start > end ? 0 : end - start + 1;
    } else {
        for (int64_t at = start; (at = find(call->run, s, what, at, size)) != NOWHERE && at < end;
             at += (int64_t)what->length) {
            count++;
        }
    }
    taper_ret(call, 0, taper_val_int(count));
    return TAPER_OK;
}

// Kernel of startswith and endswith, which use the text from start to end. An end before the start means the end of the
// text, as in PyTorch.
TAPER_KERNEL(taper_op_string_starts)
{
    const taper_string *s, *what;
    int64_t start, end;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &what));
    TAPER_TRY(range_args(call, s, &start, &end));
    TAPER_TRY(check_start(call, s, start));
    end = end < start ? (int64_t)s->length : taper_min_i64(end, (int64_t)s->length);
    bool result = false;
    if (end - start >= (int64_t)what->length) {
        const int64_t at = taper_call_code(call) == TAPER_STRING_STARTSWITH ? start : end - (int64_t)what->length;
        result = memcmp(s->data + at, what->data, what->length) == 0;
    }
    taper_ret(call, 0, taper_val_bool(result));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_replace)
{
    const taper_string *s, *old, *new;
    int64_t most;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &old));
    TAPER_TRY(taper_arg_string(call, 2, &new));
    TAPER_TRY(taper_arg_int_or(call, 3, -1, &most));
    taper_run_text out;
    taper_run_text_begin(&out, call->run);
    const int64_t size = (int64_t)s->length;
    int64_t done = 0; // number of bytes of s that are copied so far
    for (int64_t count = 0; most < 0 || count < most; count++) {
        // An empty `old` is found before every character and at the end.
        const int64_t at = old->length == 0 ? (count <= size ? count : NOWHERE) : find(call->run, s, old, done, size);
        if (at == NOWHERE) {
            break;
        }
        taper_text_append(&out.text, s->data + done, (size_t)(at - done));
        taper_text_append(&out.text, new->data, new->length);
        done = at + (int64_t)old->length;
        if (out.text.failed) {
            break;
        }
    }
    taper_text_append(&out.text, s->data + done, (size_t)(size - done));
    return taper_run_text_ret(&out, call, 0);
}

TAPER_KERNEL(taper_op_string_strip)
{
    const unsigned code = taper_call_code(call);
    const taper_string *s, *chars;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &chars));
    size_t start = 0, end = s->length;
    if (code != TAPER_STRING_RSTRIP) {
        while (start < end && memchr(chars->data, s->data[start], chars->length) != NULL) {
            start++;
        }
    }
    if (code != TAPER_STRING_LSTRIP) {
        while (end > start && memchr(chars->data, s->data[end - 1], chars->length) != NULL) {
            end--;
        }
    }
    return taper_ret_string(call, 0, s->data + start, end - start);
}

TAPER_KERNEL(taper_op_string_partition)
{
    const bool last = taper_call_code(call) == TAPER_STRING_RPARTITION;
    const taper_string *s, *by;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &by));
    const int64_t size = (int64_t)s->length;
    const int64_t at = last ? find_last(call->run, s, by, 0, size) : find(call->run, s, by, 0, size);
    if (at == NOWHERE) {
        TAPER_TRY(taper_ret_string(call, 0, s->data, last ? 0 : s->length));
        TAPER_TRY(taper_ret_string(call, 1, "", 0));
        return taper_ret_string(call, 2, s->data, last ? s->length : 0);
    }
    const size_t before = (size_t)at, after = before + by->length;
    TAPER_TRY(taper_ret_string(call, 0, s->data, before));
    TAPER_TRY(taper_ret_string(call, 1, by->data, by->length));
    return taper_ret_string(call, 2, s->data + after, s->length - after);
}

// ---- splitting strings

static taper_status begin_list(taper_call *call, taper_list **list)
{
    *list = taper_list_new(call->run->heap, &taper_type_string, 0);
    if (*list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(*list));
    return TAPER_OK;
}

static taper_status split_words(taper_call *call, const taper_string *s, taper_list *list)
{
    size_t start = 0;
    for (size_t i = 0; i <= s->length; i++) {
        if (i == s->length || memchr(" \t\n\r\v\f\x1c\x1d\x1e", s->data[i], 9) != NULL) {
            if (i > start) {
                TAPER_TRY(taper_list_append_string(call, list, s->data + start, i - start));
            }
            start = i + 1;
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_split)
{
    const taper_string *s, *by;
    int64_t most;
    taper_list *list = NULL;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_int_or(call, 2, -1, &most));
    TAPER_TRY(begin_list(call, &list));
    if (taper_arg_is_none(call, 1)) {
        return split_words(call, s, list);
    }
    TAPER_TRY(taper_arg_string(call, 1, &by));
    if (by->length == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "ValueError: empty separator");
    }
    int64_t start = 0, at;
    for (int64_t count = 0; most < 0 || count < most; count++) {
        at = find(call->run, s, by, start, (int64_t)s->length);
        if (at == NOWHERE) {
            break;
        }
        TAPER_TRY(taper_list_append_string(call, list, s->data + start, (size_t)(at - start)));
        start = at + (int64_t)by->length;
    }
    return taper_list_append_string(call, list, s->data + start, s->length - (size_t)start);
}

TAPER_KERNEL(taper_op_string_rsplit)
{
    const taper_string *s, *by;
    int64_t most;
    taper_list *list = NULL;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_string(call, 1, &by));
    TAPER_TRY(taper_arg_int_or(call, 2, -1, &most));
    if (by->length == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "ValueError: empty separator");
    }
    TAPER_TRY(begin_list(call, &list));
    int64_t end = (int64_t)s->length;
    for (int64_t count = 0; most < 0 || count < most; count++) {
        const int64_t at = find_last(call->run, s, by, 0, end);
        if (at == NOWHERE) {
            break;
        }
        const int64_t after = at + (int64_t)by->length;
        TAPER_TRY(taper_list_append_string(call, list, s->data + after, (size_t)(end - after)));
        end = at;
    }
    TAPER_TRY(taper_list_append_string(call, list, s->data, (size_t)end));
    for (size_t i = 0; i < list->count / 2; i++) { // reverses the items, which were found from the end
        const taper_val swap = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = swap;
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_splitlines)
{
    const taper_string *s;
    bool keep;
    taper_list *list = NULL;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_bool(call, 1, &keep));
    TAPER_TRY(begin_list(call, &list));
    // PyTorch counts "\r\n" as two line ends, and a line end that is kept becomes a separate item.
    size_t start = 0;
    for (size_t i = 0; i < s->length; i++) {
        const char c = s->data[i];
        if ((c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e)) {
            TAPER_TRY(taper_list_append_string(call, list, s->data + start, i - start));
            if (keep) {
                TAPER_TRY(taper_list_append_string(call, list, s->data + i, 1));
            }
            start = i + 1;
        }
    }
    return start < s->length ? taper_list_append_string(call, list, s->data + start, s->length - start) : TAPER_OK;
}
