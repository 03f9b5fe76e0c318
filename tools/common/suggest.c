// SPDX-License-Identifier: BSD-2-Clause
#include "common/suggest.h"

#include <stdio.h>
#include <string.h>

suggestion suggest_for(const char *name, size_t length)
{
    return (suggestion){.name = name, .length = length, .prefix = ""};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Returns how many letters must be added, removed, changed or swapped with a neighbour to turn `a` into `b`.
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][SUGGEST_LENGTH + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], second[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

static size_t dashes(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && text[count] == '-') {
        count++;
    }
    return count;
}

void suggest_among(suggestion *s, const char *candidate)
{
    // Leading dashes are ignored, because dashes do not show which name was meant.
    const size_t skip = dashes(s->name, s->length), length = s->length - skip;
    const char *bare = candidate + dashes(candidate, strlen(candidate));
    const size_t bare_length = strlen(bare);
    if (length == 0 || length > SUGGEST_LENGTH || bare_length > SUGGEST_LENGTH) {
        return;
    }
    const bool begins = length >= 3 && length < bare_length && memcmp(s->name + skip, bare, length) == 0;
    const size_t distance = begins ? 1 : edit_distance(s->name + skip, length, bare, bare_length);
    const size_t allowed = length < 2 ? 0 : length < 6 ? 1 : length / 3;
    if (distance <= allowed && (s->best == NULL || distance < s->distance)) {
        s->best = candidate;
        s->distance = distance;
    }
}

const char *suggest_text(suggestion *s)
{
    s->text[0] = '\0';
    if (s->best != NULL) {
        snprintf(s->text, sizeof s->text, "; did you mean %s%s?", s->prefix, s->best);
    }
    return s->text;
}
