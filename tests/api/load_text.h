// SPDX-License-Identifier: BSD-2-Clause
// Reads load options from texts as on command lines.
#ifndef TAPER_TESTS_LOAD_TEXT_H
#define TAPER_TESTS_LOAD_TEXT_H

#include <taper/taper_compile.h>
#include <taper/taper_device.h>

#if defined(__GNUC__)
__attribute__((unused))
#endif
static const taper_device_choice on_cpu = {.struct_size = sizeof on_cpu, .kind = TAPER_DEVICE_CPU};

#if defined(__GNUC__)
__attribute__((unused))
#endif
static const taper_load_options as_saved = {.struct_size = sizeof as_saved};

typedef struct load_text {
    taper_load_options options; // load options, which point to other members of this struct
    taper_device_choice device;
    taper_device_setting settings[32];
} load_text;

// Fills *load. Each text may be NULL, which means the default.
static inline taper_status load_text_read(load_text *load, const char *device, const char *settings,
                                          const char *precision, taper_error *error)
{
    *load =
        (load_text){.options = {.struct_size = sizeof load->options}, .device = {.struct_size = sizeof load->device}};
    taper_status status = TAPER_OK;
    if (device != NULL) {
        status = taper_device_parse(device, &load->device, error);
        load->options.device = &load->device;
    }
    if (status == TAPER_OK) {
        load->options.settings = load->settings;
        status = taper_device_options_parse(settings, load->settings, 32, &load->options.setting_count, error);
    }
    return status == TAPER_OK ? taper_precision_parse(precision, &load->options.precision, error) : status;
}

#endif
