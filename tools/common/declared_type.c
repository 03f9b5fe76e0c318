// SPDX-License-Identifier: BSD-2-Clause
#include "common/declared_type.h"

#include <string.h>

static type_text trimmed(const char *at, size_t length)
{
    while (length > 0 && *at == ' ') {
        at++;
        length--;
    }
    while (length > 0 && at[length - 1] == ' ') {
        length--;
    }
    return (type_text){at, length};
}

type_text type_from(const char *text)
{
    return text != NULL ? trimmed(text, strlen(text)) : (type_text){"", 0};
}

bool type_is(type_text type, const char *name)
{
    return type.length == strlen(name) && memcmp(type.at, name, type.length) == 0;
}

bool type_is_generic(type_text type, const char *name)
{
    const size_t length = strlen(name);
    return type.length >= length + 2 && memcmp(type.at, name, length) == 0 && type.at[length] == '[' &&
           type.at[type.length - 1] == ']';
}

type_text type_argument(type_text type, size_t index)
{
    const char *open = type.length != 0 ? memchr(type.at, '[', type.length) : NULL;
    if (open == NULL || type.at[type.length - 1] != ']') {
        return (type_text){"", 0};
    }
    const char *begin = open + 1, *end = type.at + type.length - 1;
    size_t depth = 0;
    for (const char *c = begin; c <= end; c++) {
        if (c == end || (*c == ',' && depth == 0)) {
            if (index == 0) {
                return trimmed(begin, (size_t)(c - begin));
            }
            index--;
            begin = c + 1;
        } else if (*c == '[' || *c == '(') {
            depth++;
        } else if ((*c == ']' || *c == ')') && depth > 0) {
            depth--;
        }
    }
    return (type_text){"", 0};
}

size_t type_argument_count(type_text type)
{
    size_t count = 0;
    while (type_argument(type, count).length != 0) {
        count++;
    }
    // Tuple[()] is the empty tuple
    return count == 1 && type_is(type_argument(type, 0), "()") ? 0 : count;
}

bool type_copy(type_text type, char *buffer, size_t size)
{
    if (type.length >= size) {
        return false;
    }
    memcpy(buffer, type.at, type.length);
    buffer[type.length] = '\0';
    return true;
}
