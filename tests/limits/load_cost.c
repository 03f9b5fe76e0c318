// SPDX-License-Identifier: BSD-2-Clause
// load_cost FILE WHAT [once [STEPS]]: measures the work that a file causes in the library. The second argument is
// "load" (load and optimize the file for running), "save" (optimize a draft and write it to memory), or "nothing".
// Prints the number of counted steps: the smallest limit with the same outcome as without a limit, to a few per cent.
// With "once" the work is done only once, with STEPS as the limit, so that its instructions can be counted.
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>

static taper_context *context;
static taper_error *error;

static taper_status save(taper_draft *draft)
{
    const taper_save_options options = {.struct_size = sizeof options};
    void *bytes = NULL;
    size_t size = 0;
    taper_status status = taper_draft_optimize(draft, NULL, error);
    if (status == TAPER_OK) {
        status = taper_draft_save_memory(draft, &options, &bytes, &size, error);
    }
    if (status == TAPER_OK) {
        taper_saved_free(draft, bytes, size);
    }
    return status;
}

static taper_status open_file(const char *path, const char *what, uint64_t steps)
{
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .step_limit = steps};
    if (strcmp(what, "load") == 0) {
        taper_model *model = NULL;
        const taper_status status = taper_model_load(context, path, &options, &model, error);
        taper_model_release(model);
        return status;
    }
    taper_draft *draft = NULL;
    taper_status status = taper_draft_load(context, path, &options, &draft, error);
    if (status == TAPER_OK) {
        status = save(draft);
    }
    taper_draft_release(draft);
    return status;
}

// Returns true if the limit of steps did not end the work.
static bool is_enough(const char *path, const char *what, uint64_t steps)
{
    return open_file(path, what, steps) == TAPER_OK || strstr(taper_error_message(error), "million steps") == NULL;
}

static uint64_t steps_of(const char *path, const char *what)
{
    uint64_t low = 0, high = 1000;
    while (!is_enough(path, what, high)) {
        if (high > UINT64_C(100000000000)) {
            return high;
        }
        low = high;
        high *= 2;
    }
    while (high - low > high / 32) {
        const uint64_t middle = low + (high - low) / 2;
        if (is_enough(path, what, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

int main(int argc, char **argv)
{
    error = taper_error_create();
    if (argc < 3 || taper_context_create(NULL, &context, error) != TAPER_OK) {
        fputs("load_cost FILE load|save|nothing [once [STEPS]]\n", stderr);
        return 2;
    }
    if (strcmp(argv[2], "nothing") != 0) {
        const taper_status status = open_file(argv[1], argv[2], argc > 4 ? strtoull(argv[4], NULL, 10) : 0);
        // If the default limit ends a load, the result is that limit.
        const bool spent = status != TAPER_OK && strstr(taper_error_message(error), "million steps") != NULL;
        if (argc == 3) {
            char text[160];
            (void)snprintf(text, sizeof text, "%s", status == TAPER_OK ? "done" : taper_error_message(error));
            printf("%" PRIu64 " %s %s\n", spent ? 0 : steps_of(argv[1], argv[2]), spent ? "spent" : "ended", text);
        }
    }
    taper_context_release(context);
    taper_error_destroy(error);
    return 0;
}
