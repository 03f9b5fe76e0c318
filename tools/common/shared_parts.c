// SPDX-License-Identifier: BSD-2-Clause
#include "common/shared_parts.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/errors.h"

enum { FIRST_SIZE = 64, REPEATED_LIMIT = 1 << 19 };

static size_t place(const shared_parts *shared, const void *object)
{
    size_t at = (size_t)((uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (shared->size - 1);
    while (shared->met[at] != NULL && shared->met[at] != object) {
        at = (at + 1) & (shared->size - 1);
    }
    return at;
}

static bool grow(shared_parts *shared)
{
    shared_parts bigger = *shared;
    bigger.size = shared->size == 0 ? FIRST_SIZE : 2 * shared->size;
    bigger.met = calloc(bigger.size, sizeof *bigger.met);
    if (bigger.met == NULL) {
        return false;
    }
    for (size_t i = 0; i < shared->size; i++) {
        if (shared->met[i] != NULL) {
            bigger.met[place(&bigger, shared->met[i])] = shared->met[i];
        }
    }
    free((void *)shared->met);
    *shared = bigger;
    return true;
}

bool shared_parts_enter(shared_parts *shared, const char *subject, const taper_value *value, bool *again)
{
    const void *object = taper_value_identity(value);
    if (!*again && object != NULL) {
        if (2 * (shared->count + 1) > shared->size && !grow(shared)) {
            return error_report_memory(subject);
        }
        const size_t at = place(shared, object);
        *again = shared->met[at] != NULL;
        shared->count += !*again;
        shared->met[at] = object;
    }
    shared->repeated += *again ? taper_value_count(value) : 0;
    return shared->repeated <= REPEATED_LIMIT ||
           error_report(subject,
                        "the result holds the same lists, tuples or dicts so often that more than %d of its parts "
                        "would be written twice; let the model return each once",
                        REPEATED_LIMIT);
}

void shared_parts_free(shared_parts *shared)
{
    free((void *)shared->met);
    *shared = (shared_parts){0};
}
