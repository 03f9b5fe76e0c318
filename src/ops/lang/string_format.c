// SPDX-License-Identifier: BSD-2-Clause
// str(), format() and the % operator.
#include <inttypes.h>

#include "ops/call/call.h"
#include "ops/lang/string_ops.h"

static const taper_print_style plain = {.floats = 'g'};

TAPER_KERNEL(taper_op_string_of)
{
    if (call->arg_count < 1) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "an argument is missing");
    }
    taper_run_text out;
    taper_run_text_begin(&out, call->run);
    const taper_status status = taper_print_value(call->run, &out.text, call->args[0], plain);
    if (status != TAPER_OK) {
        taper_run_text_end(&out);
        return status;
    }
    return taper_run_text_ret(&out, call, 0);
}

static taper_status format(taper_call *call, const taper_string *pattern, taper_text *text)
{
    size_t used = 1, start = 0;
    for (size_t i = 0; i + 1 < pattern->length; i++) {
        if (pattern->data[i] != '{' || pattern->data[i + 1] != '}') {
            continue;
        }
        if (used >= call->arg_count) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Too few arguments for format string: %s",
                              pattern->data);
        }
        taper_text_append(text, pattern->data + start, i - start);
        TAPER_TRY(taper_print_value(call->run, text, call->args[used++], plain));
        i++;
        start = i + 1;
    }
    taper_text_append(text, pattern->data + start, pattern->length - start);
    return TAPER_OK;
}

// Computes str.format. Each "{}" is replaced by the next argument. All other text, also in braces, is unchanged.
TAPER_KERNEL(taper_op_string_format)
{
    const taper_string *pattern;
    TAPER_TRY(taper_arg_string(call, 0, &pattern));
    taper_run_text out;
    taper_run_text_begin(&out, call->run);
    const taper_status status = format(call, pattern, &out.text);
    if (status != TAPER_OK) {
        taper_run_text_end(&out);
        return status;
    }
    return taper_run_text_ret(&out, call, 0);
}

static const char *ivalue_kind(taper_val value) // returns the name of the value's kind in PyTorch's messages
{
    switch (value.tag) {
    case TAPER_STRING:
        return "String";
    case TAPER_INT:
        return "Int";
    case TAPER_DOUBLE:
        return "Double";
    case TAPER_COMPLEX:
        return "ComplexDouble";
    case TAPER_BOOLEAN:
        return "Bool";
    case TAPER_LIST:
        return "GenericList";
    case TAPER_DICT:
        return "GenericDict";
    case TAPER_OBJECT:
        return "Object";
    default:
        return taper_val_kind_name(value);
    }
}

// Appends a value in the format %d, %i, %e, %E, %f, %F, %c or %s. The formats of floats change *style for the values
// that follow.
static taper_status add_percent(taper_call *call, taper_text *text, char key, taper_val value, taper_print_style *style)
{
    taper_error *error = call->run->error;
    char digits[TAPER_DIGITS];
    switch (key) {
    case 'd':
    case 'i':
    case 'e':
    case 'E':
    case 'f':
    case 'F': {
        if (value.tag != TAPER_INT && value.tag != TAPER_DOUBLE) {
            return taper_fail(error, TAPER_ERROR_RAISED, "%%%c requires a number for formatting, but got %s", key,
                              ivalue_kind(value));
        }
        const bool whole = value.tag == TAPER_INT;
        // A float is cast to a 32-bit int, as in PyTorch: a number out of range gives INT32_MIN.
        if (key == 'd' || key == 'i') {
            const double number = whole ? 0 : value.as.f;
            const bool fits = number > -2147483649.0 && number < 2147483648.0;
            taper_text_format(text, "%" PRId64, whole ? value.as.i : fits ? (int64_t)number : INT32_MIN);
            return TAPER_OK;
        }
        style->floats = key == 'e' || key == 'E' ? 'e' : 'f';
        style->upper = style->upper || key == 'E';
        const float number = whole ? (float)value.as.i : (float)value.as.f;
        taper_print_double(digits, (char)(style->upper ? style->floats - 'a' + 'A' : style->floats), 6, (double)number);
        taper_text_string(text, digits);
        return TAPER_OK;
    }
    case 'c':
        if (value.tag == TAPER_INT) {
            const char c = (char)(unsigned char)((uint64_t)value.as.i & 0xff);
            taper_text_append(text, &c, 1);
            return TAPER_OK;
        }
        if (value.tag != TAPER_STRING || value.as.string->length != 1) {
            return taper_fail(error, TAPER_ERROR_RAISED, "%%%c requires an int or char for formatting, but got %s", key,
                              ivalue_kind(value));
        }
        taper_text_append(text, value.as.string->data, 1);
        return TAPER_OK;
    case 's':
        return taper_print_value(call->run, text, value, *style);
    default:
        return taper_fail(error, TAPER_ERROR_RAISED,
                          "The specifier %%%c is not supported in TorchScript format strings", key);
    }
}

static taper_status percent(taper_call *call, const taper_string *pattern, taper_text *text)
{
    const taper_val argument = call->args[1];
    const taper_val *values = argument.tag == TAPER_TUPLE ? argument.as.tuple->items : &call->args[1];
    const size_t count = argument.tag == TAPER_TUPLE ? argument.as.tuple->count : 1;
    size_t used = 0, start = 0;
    taper_print_style style = plain;
    const char *mark;
    while ((mark = memchr(pattern->data + start, '%', pattern->length - start)) != NULL) {
        const size_t at = (size_t)(mark - pattern->data);
        if (at + 1 >= pattern->length) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Incomplete format specifier");
        }
        taper_text_append(text, pattern->data + start, at - start);
        start = at + 2;
        if (mark[1] == '%') {
            taper_text_append(text, "%", 1);
            continue;
        }
        if (used >= count) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Too few arguments for format string");
        }
        TAPER_TRY(add_percent(call, text, mark[1], values[used++], &style));
    }
    taper_text_append(text, pattern->data + start, pattern->length - start);
    if (used != count) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Too many arguments for format string");
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_string_percent)
{
    const taper_string *pattern;
    TAPER_TRY(taper_arg_string(call, 0, &pattern));
    if (call->arg_count < 2) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "an argument is missing");
    }
    taper_run_text out;
    taper_run_text_begin(&out, call->run);
    const taper_status status = percent(call, pattern, &out.text);
    if (status != TAPER_OK) {
        taper_run_text_end(&out);
        return status;
    }
    return taper_run_text_ret(&out, call, 0);
}
