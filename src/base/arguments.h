// SPDX-License-Identifier: BSD-2-Clause
// Checks of arguments that hosts pass to the public functions: required pointers, and structs from another version of
// the headers.
#ifndef TAPER_BASE_ARGUMENTS_H
#define TAPER_BASE_ARGUMENTS_H

#include "base/status.h"

// Fails with the message "NAME is NULL".
TAPER_COLD taper_status taper_fail_null(taper_error *error, const char *name);

#define TAPER_NEED(argument, error)                                                                                    \
    do {                                                                                                               \
        if ((argument) == NULL) {                                                                                      \
            return taper_fail_null((error), #argument);                                                                \
        }                                                                                                              \
    } while (0)

// Fails if an array is NULL, unless its count is 0.
#define TAPER_NEED_ARRAY(array, count, error)                                                                          \
    do {                                                                                                               \
        if ((array) == NULL && (count) != 0) {                                                                         \
            return taper_fail_null((error), #array);                                                                   \
        }                                                                                                              \
    } while (0)

// Fails if the pointer to a result is NULL, otherwise sets the result to NULL, its value until the function succeeds.
#define TAPER_NEED_OUT(place, error)                                                                                   \
    do {                                                                                                               \
        TAPER_NEED(place, error);                                                                                      \
        *(place) = NULL;                                                                                               \
    } while (0)

// Fails if one of the `count` pointers is NULL, or if the array itself is NULL and count is not 0. name: name of the
// array, for messages.
TAPER_MUST_USE taper_status taper_check_items(const void *items, const char *name, size_t count, taper_error *error);
// Fails if `place`, where a result will be stored, is an item of the array of inputs: storing the result would lose
// that input.
TAPER_MUST_USE taper_status taper_check_apart(taper_value *const *place, const char *place_name,
                                              taper_value *const *values, const char *name, size_t count,
                                              taper_error *error);
// Calls taper_check_apart, then does what TAPER_NEED_OUT does, then calls taper_check_items. In this order, a result
// pointer within the array is refused before it is written.
TAPER_MUST_USE taper_status taper_check_inputs(taper_value **place, const char *place_name, taper_value *const *values,
                                               const char *name, size_t count, taper_error *error);

// Public structs begin with their size in the host's header. A struct from an older header has fewer members, and the
// library reads and writes only these. A struct from a newer header has more members, and the library leaves the
// additional ones unchanged. name: name of the struct, for messages.

// Copies the host's struct to `to`, a struct of `size` bytes, and sets to 0 the members that the host's struct lacks.
// If `given` is NULL, every member becomes 0.
TAPER_MUST_USE taper_status taper_struct_read(const void *given, const char *name, void *to, size_t size,
                                              taper_error *error);
// Copies `from`, a struct of `size` bytes, to the host's struct, except the first member, which is the size itself.
taper_status taper_struct_write(void *given, const char *name, const void *from, size_t size, taper_error *error);

#endif
