// SPDX-License-Identifier: BSD-2-Clause
// Lines of any bytes as type strings; every type that comes out is printed, read back and compared with the others.
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "ir/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    taper_types *types;
    if (taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK) {
        abort();
    }
    const taper_type *found[LINES];
    size_t count = 0;
    while (size != 0 && count < LINES) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t length = end != NULL ? (size_t)(end - data) : size;
        if (taper_type_parse(types, (const char *)data, length, &found[count], NULL) == TAPER_OK) {
            taper_text text = taper_text_make(&taper_allocator_system);
            const taper_type *again;
            taper_type_print(found[count], &text);
            if (text.length <= TAPER_LIMIT_TYPE_TEXT &&
                taper_type_parse(types, taper_text_get(&text), text.length, &again, NULL) != TAPER_OK) {
                abort();
            }
            taper_text_free(&text);
            count++;
        }
        data += length + (end != NULL ? 1 : 0);
        size -= length + (end != NULL ? 1 : 0);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (taper_type_equal(found[i], found[j]) && !taper_type_matches(found[i], found[j])) {
                abort();
            }
        }
    }
    taper_types_release(types);
    return 0;
}
