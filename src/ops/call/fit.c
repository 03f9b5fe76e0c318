// SPDX-License-Identifier: BSD-2-Clause
// Checks a value against the type in a schema, with messages.
#include "ops/call/fit.h"

static TAPER_COLD taper_status unfit(const taper_schema_arg *declared, const char *what, size_t at, taper_val value,
                                     taper_error *error)
{
    taper_text got = taper_text_make(&taper_allocator_system);
    taper_val_type_print(value, &got);
    const bool named = declared->name[0] != '\0';
    size_t length = strlen(declared->type_text); // type_text ends with the blanks before the argument's name
    while (length != 0 && declared->type_text[length - 1] == ' ') {
        length--;
    }
    const taper_status status =
        taper_fail(error, TAPER_ERROR_ARGUMENT, "%s %zu%s%s%s should be %.*s, got %s", what, at, named ? " ('" : "",
                   declared->name, named ? "')" : "", (int)length, declared->type_text, taper_text_get(&got));
    taper_text_free(&got);
    return status;
}

taper_status taper_fit(const taper_schema_arg *declared, const char *what, size_t at, taper_val *value,
                       taper_error *error)
{
    const taper_type *type = declared->type;
    if (taper_val_is_a(*value, type)) {
        return TAPER_OK;
    }
    const taper_type *base = type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
    if (value->tag == TAPER_INT && base->kind == TAPER_TYPE_FLOAT) {
        *value = taper_val_double((double)value->as.i);
        return TAPER_OK;
    }
    if (value->tag == TAPER_INT && base->kind == TAPER_TYPE_LIST && base->items[0]->kind == TAPER_TYPE_INT &&
        declared->size >= 0) {
        return TAPER_OK; // an int for a list argument is accepted, because taper_arg_ints repeats it
    }
    return unfit(declared, what, at, *value, error);
}
