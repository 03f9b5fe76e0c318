// SPDX-License-Identifier: BSD-2-Clause
// Reads type strings as models carry them: "List[int]", "Dict[str, Tuple[Tensor, float]]". No memory is allocated: a
// type is a span of the string.
#ifndef TAPER_TOOLS_DECLARED_TYPE_H
#define TAPER_TOOLS_DECLARED_TYPE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct type_text {
    const char *at;
    size_t length; // 0: unknown
} type_text;

type_text type_from(const char *text); // NULL: unknown
bool type_is(type_text type, const char *name);
// True for "NAME[…]".
bool type_is_generic(type_text type, const char *name);
// Argument `index` of "NAME[a, b, …]"; unknown when there is none.
type_text type_argument(type_text type, size_t index);
size_t type_argument_count(type_text type);
// Copies the text for interfaces that want a string; false when it does not fit.
bool type_copy(type_text type, char *buffer, size_t size);

#endif
