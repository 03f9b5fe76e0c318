// SPDX-License-Identifier: BSD-2-Clause
// Values as text, as PyTorch streams an IValue, for str(), format() and print(). The walk over containers uses its own
// stack. The depth is limited, because a list may contain itself.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ir/tensor.h"
#include "ops/lang/string_ops.h"

static void print_float(taper_text *text, double number, taper_print_style style)
{
    char digits[TAPER_DIGITS];
    // True for zero and normal numbers. isnormal() would do the same, but with -Os gcc warns that the macro converts to
    // float.
    if (number == 0 || (fabs(number) >= DBL_MIN && fabs(number) <= DBL_MAX)) {
        if (number >= -9223372036854775808.0 && number < 9223372036854775808.0 && (double)(int64_t)number == number) {
            taper_text_format(text, "%" PRId64 ".", (int64_t)number);
            return;
        }
    }
    const char conversion = style.upper ? (char)(style.floats - 'a' + 'A') : style.floats;
    taper_print_double(digits, conversion, 17, number);
    taper_text_string(text, digits);
}

static void print_device(taper_text *text, taper_val device)
{
    const int kind = (int)(device.as.i >> 8), index = (int)(device.as.i & 0xff) - 1;
    const char *name = taper_pytorch_device_name(kind);
    taper_text_string(text, name != NULL ? name : "unknown");
    if (index >= 0) {
        taper_text_format(text, ":%d", index);
    }
}

static taper_status print_leaf(taper_run *run, taper_text *text, taper_val value, taper_print_style style)
{
    switch (value.tag) {
    case TAPER_NONE:
        taper_text_string(text, "None");
        break;
    case TAPER_BOOLEAN:
        taper_text_string(text, value.as.i != 0 ? "True" : "False");
        break;
    case TAPER_INT:
        taper_text_format(text, "%" PRId64, value.as.i);
        break;
    case TAPER_DOUBLE:
        print_float(text, value.as.f, style);
        break;
    case TAPER_COMPLEX:
        print_float(text, value.as.complex->re, style);
        taper_text_string(text, value.as.complex->im >= 0 ? "+" : "-");
        print_float(text, fabs(value.as.complex->im), style);
        taper_text_string(text, "j");
        break;
    case TAPER_DEVICE:
        print_device(text, value);
        break;
    case TAPER_STRING:
        taper_text_append(text, value.as.string->data, value.as.string->length);
        break;
    case TAPER_TENSOR:
        TAPER_TRY(
            taper_tensor_fetch(value.as.tensor, run->error)); // a tensor inside a container may still be on a device
        return taper_print_tensor(run, text, value.as.tensor);
    case TAPER_OBJECT: // PyTorch prints the address too, but then the text would change from run to run
        taper_text_format(text, "<%s object>", taper_val_kind_name(value));
        break;
    case TAPER_UNDEFINED:
        taper_text_string(text, "Uninitialized");
        break;
    case TAPER_GENERATOR:
        taper_text_string(text, "Generator");
        break;
    default:
        taper_text_string(text, taper_val_kind_name(value));
        break;
    }
    return TAPER_OK;
}

typedef struct frame {
    const taper_val *items;
    size_t count, at;
    uint32_t tag;
} frame;

// Returns true, with *top set to a new frame, if value is a container.
static bool enter(taper_text *text, taper_val value, frame *top)
{
    switch (value.tag) {
    case TAPER_LIST:
        *top = (frame){value.as.list->items, value.as.list->count, 0, value.tag};
        taper_text_string(text, "[");
        return true;
    case TAPER_TUPLE:
        *top = (frame){value.as.tuple->items, value.as.tuple->count, 0, value.tag};
        taper_text_string(text, "(");
        return true;
    case TAPER_DICT:
        *top = (frame){value.as.dict->entries, 2 * value.as.dict->count, 0, value.tag};
        taper_text_string(text, "{");
        return true;
    default:
        return false;
    }
}

taper_status taper_print_value(taper_run *run, taper_text *text, taper_val value, taper_print_style style)
{
    frame stack[TAPER_LIMIT_VALUE_DEPTH];
    size_t depth = 0;
    if (!enter(text, value, &stack[0])) {
        TAPER_TRY(print_leaf(run, text, value, style));
        return text->failed ? taper_text_failure(run) : TAPER_OK;
    }
    for (;;) {
        frame *top = &stack[depth];
        if (text->failed) {
            return taper_text_failure(run);
        }
        TAPER_TRY(taper_run_spend(run, 200));
        if (top->at == top->count) {
            taper_text_string(text, top->tag == TAPER_LIST   ? "]"
                                    : top->tag == TAPER_DICT ? "}"
                                    : top->count == 1        ? ",)"
                                                             : ")");
            if (depth == 0) {
                return text->failed ? taper_text_failure(run) : TAPER_OK;
            }
            depth--;
            continue;
        }
        if (top->at != 0) {
            taper_text_string(text, top->tag == TAPER_DICT && top->at % 2 == 1 ? ": " : ", ");
        }
        const taper_val item = top->items[top->at++];
        if (item.tag == TAPER_LIST || item.tag == TAPER_TUPLE || item.tag == TAPER_DICT) {
            if (depth + 1 == TAPER_LIMIT_VALUE_DEPTH) {
                return taper_fail(run->error, TAPER_ERROR_RESOURCE, "a value is nested more than %d deep",
                                  TAPER_LIMIT_VALUE_DEPTH);
            }
            depth++;
            (void)enter(text, item, &stack[depth]);
        } else {
            TAPER_TRY(print_leaf(run, text, item, style));
        }
    }
}
