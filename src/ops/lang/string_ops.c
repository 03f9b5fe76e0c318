// SPDX-License-Identifier: BSD-2-Clause
// Operators on strings: length, items, slices, joining and repeating, characters and numbers. A string is a sequence of
// bytes, as in PyTorch.
#include "ops/lang/string_ops.h"

#include <inttypes.h>

#include "ops/call/call.h"

static taper_status ret_bytes(taper_call *call, const char *text, size_t length)
{
    return taper_ret_string(call, 0, text, length);
}

static taper_status new_string_list(taper_call *call, taper_list **list)
{
    *list = taper_list_new(call->run->heap, &taper_type_string, 0);
    if (*list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(*list));
    return TAPER_OK;
}

// Makes an uninitialized string of `length` bytes and sets it as result 0. *string is borrowed from the result.
static taper_status new_string(taper_call *call, size_t length, taper_string **string)
{
    *string = NULL;
    if (length > TAPER_LIMIT_STRING_BYTES) {
        return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "a string grows beyond %zu bytes",
                          TAPER_LIMIT_STRING_BYTES);
    }
    TAPER_TRY(taper_run_spend(call->run, length / 4)); // charges the run for the bytes that the caller will write
    *string = taper_string_new(call->run->heap, NULL, length);
    if (*string == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_ret(call, 0, TAPER_VAL(*string));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_len)
{
    const taper_string *s;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    taper_ret(call, 0, taper_val_int((int64_t)s->length));
    return TAPER_OK;
}

// Kernel of __getitem__.str and prim::StringIndex.
TAPER_KERNEL(taper_op_string_item)
{
    const taper_string *s;
    int64_t index;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_int(call, 1, &index));
    const int64_t length = (int64_t)s->length;
    if (index < -length || index >= length) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "string index out of range");
    }
    return ret_bytes(call, s->data + (index < 0 ? index + length : index), 1);
}

TAPER_KERNEL(taper_op_string_slice)
{
    const taper_string *s;
    int64_t start = 0, step = 1, count = 0;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_slice_bounds(call, (int64_t)s->length, &start, &step, &count));
    if (step == 1 || count <= 1) {
        return ret_bytes(call, s->data + (count == 0 ? 0 : start), (size_t)count);
    }
    taper_string *out;
    TAPER_TRY(new_string(call, (size_t)count, &out));
    for (int64_t i = 0; i < count; i++) {
        out->data[i] = s->data[start + i * step];
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_add)
{
    const taper_string *a, *b;
    TAPER_TRY(taper_arg_string(call, 0, &a));
    TAPER_TRY(taper_arg_string(call, 1, &b));
    taper_string *out;
    TAPER_TRY(new_string(call, a->length + b->length, &out));
    memcpy(out->data, a->data, a->length);
    memcpy(out->data + a->length, b->data, b->length);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_join)
{
    const taper_string *s;
    taper_list *list;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_list(call, 1, &list));
    size_t total = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag != TAPER_STRING) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu of the list is no str but %s", i,
                              taper_val_kind_name(list->items[i]));
        }
        total += list->items[i].as.string->length + (i != 0 ? s->length : 0);
        if (total > TAPER_LIMIT_STRING_BYTES) {
            break;
        }
    }
    taper_string *out;
    TAPER_TRY(new_string(call, total, &out));
    char *to = out->data;
    for (size_t i = 0; i < list->count; i++) {
        TAPER_TRY(taper_run_spend(call->run, 5));
        if (i != 0) {
            memcpy(to, s->data, s->length);
            to += s->length;
        }
        const taper_string *item = list->items[i].as.string;
        memcpy(to, item->data, item->length);
        to += item->length;
    }
    return TAPER_OK;
}

// Computes list(str), a list of the string's characters.
TAPER_KERNEL(taper_op_string_list)
{
    const taper_string *s;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    taper_list *list = NULL;
    TAPER_TRY(new_string_list(call, &list));
    for (size_t i = 0; i < s->length; i++) {
        TAPER_TRY(taper_list_append_string(call, list, s->data + i, 1));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_ord)
{
    const taper_string *s;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    if (s->length != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "String for ord() must be 1 character, found %zu",
                          s->length);
    }
    taper_ret(call, 0, taper_val_int((unsigned char)s->data[0]));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_chr)
{
    int64_t code;
    TAPER_TRY(taper_arg_int(call, 0, &code));
    if (code < 0 || code >= 0x110000) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "chr() arg not in range(0x110000), found %" PRId64,
                          code);
    }
    const char c = (char)(unsigned char)(code & 0xff); // PyTorch also casts the code to a byte
    return ret_bytes(call, &c, 1);
}

static taper_status ret_digits(taper_call *call, char letter, unsigned bits)
{
    int64_t number;
    TAPER_TRY(taper_arg_int(call, 0, &number));
    char text[72];
    char *to = text + sizeof text;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        *--to = "0123456789abcdef"[rest & ((1u << bits) - 1)];
        rest >>= bits;
    } while (rest != 0);
    *--to = letter;
    *--to = '0';
    if (number < 0) {
        *--to = '-';
    }
    return ret_bytes(call, to, (size_t)(text + sizeof text - to));
}

TAPER_KERNEL(taper_op_string_hex)
{
    return ret_digits(call, 'x', 4);
}

TAPER_KERNEL(taper_op_string_oct)
{
    return ret_digits(call, 'o', 3);
}

TAPER_KERNEL(taper_op_string_bin)
{
    return ret_digits(call, 'b', 1);
}

// ---- padding strings

static taper_status pad(taper_call *call, const taper_string *s, int64_t left, int64_t right, char fill)
{
    left = left < 0 ? 0 : left;
    right = right < 0 ? 0 : right;
    taper_string *out;
    if (left > (int64_t)TAPER_LIMIT_STRING_BYTES || right > (int64_t)TAPER_LIMIT_STRING_BYTES) {
        return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "a string grows beyond %zu bytes",
                          TAPER_LIMIT_STRING_BYTES);
    }
    TAPER_TRY(new_string(call, (size_t)left + s->length + (size_t)right, &out));
    memset(out->data, fill, (size_t)left);
    memcpy(out->data + left, s->data, s->length);
    memset(out->data + (size_t)left + s->length, fill, (size_t)right);
    return TAPER_OK;
}

static taper_status pad_args(taper_call *call, const taper_string **s, int64_t *missing, int64_t *width, char *fill)
{
    const taper_string *with;
    TAPER_TRY(taper_arg_string(call, 0, s));
    TAPER_TRY(taper_arg_int(call, 1, width));
    TAPER_TRY(taper_arg_string(call, 2, &with));
    if (with->length != 1) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          "TypeError: The fill character must be exactly one character long");
    }
    *fill = with->data[0];
    *missing = *width <= (int64_t)(*s)->length ? 0 : *width - (int64_t)(*s)->length;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_center)
{
    const taper_string *s = NULL;
    int64_t missing = 0, width = 0;
    char fill = ' ';
    TAPER_TRY(pad_args(call, &s, &missing, &width, &fill));
    const int64_t less = missing / 2, more = missing - less;
    return width % 2 != 0 ? pad(call, s, more, less, fill) : pad(call, s, less, more, fill);
}

TAPER_KERNEL(taper_op_string_ljust)
{
    const taper_string *s = NULL;
    int64_t missing = 0, width = 0;
    char fill = ' ';
    TAPER_TRY(pad_args(call, &s, &missing, &width, &fill));
    return pad(call, s, 0, missing, fill);
}

TAPER_KERNEL(taper_op_string_rjust)
{
    const taper_string *s = NULL;
    int64_t missing = 0, width = 0;
    char fill = ' ';
    TAPER_TRY(pad_args(call, &s, &missing, &width, &fill));
    return pad(call, s, missing, 0, fill);
}

TAPER_KERNEL(taper_op_string_zfill)
{
    const taper_string *s;
    int64_t width;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_int(call, 1, &width));
    const int64_t missing = width <= (int64_t)s->length ? 0 : width - (int64_t)s->length;
    return pad(call, s, missing, 0, '0'); // zeros are inserted before a sign, as in PyTorch
}

TAPER_KERNEL(taper_op_string_expandtabs)
{
    const taper_string *s;
    int64_t size;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_arg_int(call, 1, &size));
    taper_string *out = NULL;
    for (int pass = 0; pass < 2; pass++) { // the first pass counts the bytes of the result, the second pass writes them
        uint64_t at = 0;
        for (size_t i = 0; i < s->length; i++) {
            if (s->data[i] != '\t') {
                if (out != NULL) {
                    out->data[at] = s->data[i];
                }
                at++;
            } else if (size > 0) {
                const uint64_t next = at + (uint64_t)size - at % (uint64_t)size;
                if (next > TAPER_LIMIT_STRING_BYTES) {
                    return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "a string grows beyond %zu bytes",
                                      TAPER_LIMIT_STRING_BYTES);
                }
                if (out != NULL) {
                    memset(out->data + at, ' ', (size_t)(next - at));
                }
                at = next;
            }
        }
        if (out == NULL) {
            TAPER_TRY(new_string(call, (size_t)at, &out));
        }
    }
    return TAPER_OK;
}
