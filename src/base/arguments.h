// SPDX-License-Identifier: BSD-2-Clause
// What hosts give the public functions: pointers that must be there, structs of other versions of the headers.
#ifndef TAPER_BASE_ARGUMENTS_H
#define TAPER_BASE_ARGUMENTS_H

#include "base/status.h"

// Fails with "NAME is NULL".
TAPER_COLD taper_status taper_fail_null(taper_error *error, const char *name);

#define TAPER_NEED(argument, error)                                                                                    \
    do {                                                                                                               \
        if ((argument) == NULL) {                                                                                      \
            return taper_fail_null((error), #argument);                                                                \
        }                                                                                                              \
    } while (0)

// An array may be NULL where it has nothing.
#define TAPER_NEED_ARRAY(array, count, error)                                                                          \
    do {                                                                                                               \
        if ((array) == NULL && (count) != 0) {                                                                         \
            return taper_fail_null((error), #array);                                                                   \
        }                                                                                                              \
    } while (0)

// A place for a result, which is NULL until there is one.
#define TAPER_NEED_OUT(place, error)                                                                                   \
    do {                                                                                                               \
        TAPER_NEED(place, error);                                                                                      \
        *(place) = NULL;                                                                                               \
    } while (0)

// Pointers that a host gives, an array of values or of names: each is there.
TAPER_MUST_USE taper_status taper_check_items(const void *items, const char *name, size_t count, taper_error *error);
// The place for what is made of values is none of theirs: the host would lose that value.
TAPER_MUST_USE taper_status taper_check_apart(taper_value *const *place, const char *place_name,
                                              taper_value *const *values, const char *name, size_t count,
                                              taper_error *error);
// That, TAPER_NEED_OUT and taper_check_values. Nothing is written to a place that is theirs.
TAPER_MUST_USE taper_status taper_check_inputs(taper_value **place, const char *place_name, taper_value *const *values,
                                               const char *name, size_t count, taper_error *error);

// Structs begin with their size as the host's header has it. One of an older version has fewer members, and only those
// are read or written; one of a newer version has more, which are left as they are. name: the struct's.

// Copies what a host gives to a struct of `size`; the rest, or all of it when given is NULL, becomes 0.
TAPER_MUST_USE taper_status taper_struct_read(const void *given, const char *name, void *to, size_t size,
                                              taper_error *error);
// The other way, but for the size itself.
taper_status taper_struct_write(void *given, const char *name, const void *from, size_t size, taper_error *error);

#endif
