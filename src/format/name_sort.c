// SPDX-License-Identifier: BSD-2-Clause
// Sorts in a time that does not depend on the content, and finds names by bisection.
#include "format/name_sort.h"

#include <string.h>

// Merges the sorted ranges [begin, middle) and [middle, end) of `from` into `to`.
static void merge(const char *from, char *to, size_t begin, size_t middle, size_t end, size_t item,
                  taper_compare compare)
{
    size_t left = begin, right = middle;
    for (size_t i = begin; i < end; i++) {
        const bool take_left = left < middle && (right >= end || compare(from + left * item, from + right * item) <= 0);
        memcpy(to + i * item, from + (take_left ? left++ : right++) * item, item);
    }
}

taper_status taper_sort(const taper_allocator *allocator, void *items, size_t count, size_t item_size,
                        taper_compare compare, taper_error *error)
{
    if (count < 2) {
        return TAPER_OK;
    }
    const size_t bytes = count * item_size; // cannot overflow, because the array of items exists
    char *scratch = taper_alloc(allocator, bytes);
    if (scratch == NULL) {
        return taper_fail_memory(error);
    }
    char *from = items, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            const size_t middle = taper_min_size(begin + width, count), end = taper_min_size(begin + 2 * width, count);
            merge(from, to, begin, middle, end, item_size, compare);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, bytes);
    }
    taper_free(allocator, scratch, bytes);
    return TAPER_OK;
}

static int compare_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const size_t shared = taper_min_size(a_length, b_length);
    const int order = shared != 0 ? memcmp(a, b, shared) : 0;
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_names(const void *a, const void *b)
{
    const taper_name *x = a, *y = b;
    return compare_text(x->text, x->length, y->text, y->length);
}

taper_status taper_names_sort(const taper_allocator *allocator, taper_name *names, size_t count, taper_error *error)
{
    return taper_sort(allocator, names, count, sizeof *names, compare_names, error);
}

bool taper_names_find(const taper_name *names, size_t count, const char *text, size_t length, size_t *value)
{
    size_t low = 0, high = count; // the index of the first name greater than `text` is in [low, high]
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_text(names[middle].text, names[middle].length, text, length) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0 || compare_text(names[low - 1].text, names[low - 1].length, text, length) != 0) {
        return false;
    }
    *value = names[low - 1].value;
    return true;
}
