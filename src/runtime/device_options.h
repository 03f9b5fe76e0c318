// SPDX-License-Identifier: BSD-2-Clause
// What hosts set about devices (taper_load_options.settings), as far as that can be checked before a device is opened.
#ifndef TAPER_RUNTIME_DEVICE_OPTIONS_H
#define TAPER_RUNTIME_DEVICE_OPTIONS_H

#include <taper/taper_device.h>

#include "base/status.h"

// Fails if a setting names no option, or a value that its option does not take.
TAPER_MUST_USE taper_status taper_settings_check(const taper_device_setting *settings, size_t count,
                                                 taper_error *error);
// Fails if a setting is none of the options of that kind of device. Kinds of tests have every option.
TAPER_MUST_USE taper_status taper_settings_check_kind(const taper_device_setting *settings, size_t count,
                                                      taper_device_kind kind, taper_error *error);

#endif
