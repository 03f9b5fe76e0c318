// SPDX-License-Identifier: BSD-2-Clause
// Conversions between upper and lower case, and tests of a string's characters (the is* family). Only ASCII letters
// count, as for PyTorch in the C locale.
#include "ops/lang/string_case.h"
#include "ops/call/call.h"
#include "ops/lang/scalar.h"

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alpha(char c)
{
    return is_upper(c) || is_lower(c);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_print(char c)
{
    return c >= 0x20 && c < 0x7f;
}

static char to_upper(char c)
{
    return is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

static char to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

TAPER_KERNEL(taper_op_string_recase)
{
    const unsigned code = taper_call_code(call);
    const taper_string *s;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_run_spend(call->run, s->length));
    taper_string *out = taper_string_new(call->run->heap, s->data, s->length);
    if (out == NULL) {
        return taper_fail_memory(call->run->error);
    }
    char before = ' ';
    for (size_t i = 0; i < s->length; i++) {
        const char c = s->data[i];
        bool up = code == TAPER_STRING_UPPER;
        if (code == TAPER_STRING_SWAPCASE) {
            up = is_lower(c);
        } else if (code == TAPER_STRING_TITLE) {
            up = !is_alpha(before);
        } else if (code == TAPER_STRING_CAPITALIZE) {
            up = i == 0;
        }
        out->data[i] = up ? to_upper(c) : to_lower(c);
        before = c;
    }
    taper_ret(call, 0, TAPER_VAL(out));
    return TAPER_OK;
}

static bool every(const taper_string *s, unsigned code)
{
    for (size_t i = 0; i < s->length; i++) {
        const char c = s->data[i];
        const bool fits = code == TAPER_STRING_ISALNUM     ? is_alpha(c) || is_digit(c)
                          : code == TAPER_STRING_ISALPHA   ? is_alpha(c)
                          : code == TAPER_STRING_ISSPACE   ? is_space(c)
                          : code == TAPER_STRING_PRINTABLE ? is_print(c)
                                                           : is_digit(c);
        if (!fits) {
            return false;
        }
    }
    return s->length != 0 || code == TAPER_STRING_PRINTABLE;
}

// Returns the result of islower or isupper: true if the string has letters and no letter has the other case.
static bool cased(const taper_string *s, bool upper)
{
    bool found = false;
    for (size_t i = 0; i < s->length; i++) {
        if (upper ? is_lower(s->data[i]) : is_upper(s->data[i])) {
            return false;
        }
        found = found || is_alpha(s->data[i]);
    }
    return found;
}

static bool title(const taper_string *s)
{
    bool found = false, inside = false; // inside: true if the previous character was a letter
    for (size_t i = 0; i < s->length; i++) {
        const char c = s->data[i];
        if (inside ? is_upper(c) : is_lower(c)) {
            return false;
        }
        inside = is_alpha(c);
        found = found || inside;
    }
    return found;
}

static bool identifier(const taper_string *s) // uses PyTorch's rule, which allows no underscore
{
    for (size_t i = 0; i < s->length; i++) {
        const char c = s->data[i];
        if (!is_alpha(c) && (i == 0 || !is_digit(c))) {
            return false;
        }
    }
    return s->length != 0;
}

TAPER_KERNEL(taper_op_string_is)
{
    const unsigned code = taper_call_code(call);
    const taper_string *s;
    TAPER_TRY(taper_arg_string(call, 0, &s));
    TAPER_TRY(taper_run_spend(call->run, s->length));
    bool result;
    switch (code) {
    case TAPER_STRING_ISLOWER:
    case TAPER_STRING_ISUPPER:
        result = cased(s, code == TAPER_STRING_ISUPPER);
        break;
    case TAPER_STRING_ISTITLE:
        result = title(s);
        break;
    case TAPER_STRING_ISIDENTIFIER:
        result = identifier(s);
        break;
    default:
        result = every(s, code);
        break;
    }
    taper_ret(call, 0, taper_val_bool(result));
    return TAPER_OK;
}
