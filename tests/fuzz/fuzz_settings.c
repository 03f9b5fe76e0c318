// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as taper.json, first with enough memory and then with a failing allocation. Reads all settings and
// prepares pictures accordingly.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <taper/taper_app.h>

#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
    if (!holds) {
        abort();
    }
}

// Checks that a text has no control characters, which could change the state of a terminal.
static void check_text(const char *text)
{
    for (; *text != '\0'; text++) {
        need((unsigned char)*text >= 32 && *text != 127);
    }
}

static void prepare(taper_context *context, const taper_settings *settings)
{
    static const unsigned char pixels[7 * 5 * 3];
    const taper_picture picture = {
        .struct_size = sizeof picture, .width = 7, .height = 5, .planes = {pixels}, .orientation = 8};
    taper_preparation how = {.struct_size = sizeof how};
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_value *tensor, *quantized;
    if (taper_settings_preparation(settings, NULL, &how, NULL) != TAPER_OK || how.width > 500 || how.height > 500 ||
        how.resize > 500 || taper_picture_tensor(context, &picture, &how, &tensor, NULL) != TAPER_OK) {
        return; // the picture would take too long, or is refused
    }
    need(taper_value_get_tensor(tensor, &info, NULL) == TAPER_OK && info.rank == 4 && info.sizes[1] == 3);
    need(how.width == 0 || (info.sizes[3] == how.width && info.sizes[2] == how.height));
    for (size_t i = 0; i < 3; i++) {
        if (taper_settings_quantize(context, settings, i, tensor, &quantized, NULL) == TAPER_OK) {
            taper_value_release(quantized);
        }
    }
    taper_value_release(tensor);
}

static void ask(taper_context *context, const taper_settings *settings)
{
    unsigned char rgb[3];
    const size_t labels = taper_settings_label_count(settings);
    check_text(taper_settings_task(settings));
    for (size_t i = 0; i < labels; i++) {
        check_text(taper_settings_label(settings, i));
    }
    need(taper_settings_label(settings, labels) == NULL);
    for (size_t i = 0; taper_settings_color(settings, i, rgb) != 0; i++) {
    }
    prepare(context, settings);
}

// Reads all settings once. Returns the number of allocations.
static size_t read_settings(const uint8_t *data, size_t size, size_t fail_at)
{
    failing_allocator allocator;
    failing_start(&allocator, 0);
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .allocator = &allocator.allocator};
    taper_context *context;
    taper_settings *settings;
    need(taper_context_create(&options, &context, NULL) == TAPER_OK);
    const size_t before = allocator.calls;
    allocator.fail_at = fail_at != 0 ? before + fail_at : 0;
    const taper_status status = taper_settings_parse(context, NULL, data, size, &settings, NULL);
    need((status == TAPER_OK) == (settings != NULL));
    if (status == TAPER_OK) {
        ask(context, settings);
    }
    const size_t calls = allocator.calls - before;
    taper_settings_release(settings);
    taper_context_release(context);
    failing_end(&allocator);
    return calls;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)read_settings(data, size, failing_place(data, size, read_settings(data, size, 0)));
    return 0;
}
