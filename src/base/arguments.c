// SPDX-License-Identifier: BSD-2-Clause
// Checks of arguments that hosts pass to the public functions.
#include "base/arguments.h"

#include <stdint.h>
#include <string.h>

#include "base/checked.h"

taper_status taper_fail_null(taper_error *error, const char *name)
{
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s is NULL", name);
}

taper_status taper_check_items(const void *items, const char *name, size_t count, taper_error *error)
{
    if (items == NULL && count != 0) {
        return taper_fail_null(error, name);
    }
    for (size_t i = 0; i < count; i++) {
        const void *item; // a pointer to a value of any type
        memcpy(&item, (const char *)items + i * sizeof item, sizeof item);
        if (item == NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s[%zu] is NULL", name, i);
        }
    }
    return TAPER_OK;
}

taper_status taper_check_apart(taper_value *const *place, const char *place_name, taper_value *const *values,
                               const char *name, size_t count, taper_error *error)
{
    for (size_t i = 0; values != NULL && i < count; i++) {
        if (&values[i] == place) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s is the place of %s[%zu], which would be lost", place_name, name,
                       i);
        }
    }
    return TAPER_OK;
}

taper_status taper_check_inputs(taper_value **place, const char *place_name, taper_value *const *values,
                                const char *name, size_t count, taper_error *error)
{
    TAPER_TRY(taper_check_apart(place, place_name, values, name, count, error));
    if (place == NULL) {
        return taper_fail_null(error, place_name);
    }
    *place = NULL;
    return taper_check_items(values, name, count, error);
}

// Sets *size to the number of bytes that the host's struct and the library's struct have in common.
static taper_status struct_size(const void *given, const char *name, size_t ours, size_t *size, taper_error *error)
{
    enum { MOST = 65536 }; // size limit in bytes, which no version of a struct will reach
    memcpy(size, given, sizeof *size);
    if (*size == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s.struct_size is not set", name);
    }
    if (*size < sizeof *size || *size > MOST) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s.struct_size is %zu: no version of the struct has that size", name,
                   *size);
    }
    *size = taper_min_size(*size, ours);
    return TAPER_OK;
}

taper_status taper_struct_read(const void *given, const char *name, void *to, size_t size, taper_error *error)
{
    size_t common = 0;
    memset(to, 0, size);
    if (given != NULL) {
        TAPER_TRY(struct_size(given, name, size, &common, error));
        memcpy(to, given, common);
    }
    return TAPER_OK;
}

taper_status taper_struct_write(void *given, const char *name, const void *from, size_t size, taper_error *error)
{
    size_t common;
    TAPER_TRY(struct_size(given, name, size, &common, error));
    memcpy((char *)given + sizeof common, (const char *)from + sizeof common, common - sizeof common);
    return TAPER_OK;
}
