// SPDX-License-Identifier: BSD-2-Clause
// The hash of operator names. make_op_table.c uses it to write the index of names, and op_table.c to search in it. The
// hash is FNV-1a (http://isthe.com/chongo/tech/comp/fnv).
#ifndef TAPER_OPS_NAME_HASH_H
#define TAPER_OPS_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t taper_name_hash(const char *name, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    }
    return h;
}

#endif
