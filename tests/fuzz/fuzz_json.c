// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as JSON, and what it holds as an input of several types.
#include <stdlib.h>

#include "common/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A string "@FILE" would make an input read files: those are left out.
static bool names_files(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '@' || data[i] == '\\') {
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_value *json = json_parse("fuzz", (const char *)data, size);
    if (json == NULL) {
        return 0;
    }
    taper_context *context;
    const taper_context_options options = {.struct_size = sizeof options, .threads = 1};
    if (!names_files(data, size) && taper_context_create(&options, &context, NULL) == TAPER_OK) {
        static const char *const types[] = {
            NULL, "Tensor", "List[float]", "Tuple[int, str]", "Dict[str, List[int]]", "Optional[complex]"};
        taper_error *error = taper_error_create();
        const input_source source = {.context = context, .error = error, .subject = "fuzz"};
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            taper_value *value = NULL;
            if (input_from_json(&source, json, types[i], &value)) {
                taper_value_release(value);
            }
        }
        taper_error_destroy(error);
        taper_context_release(context);
    }
    json_free(json);
    return 0;
}
