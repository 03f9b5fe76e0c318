// SPDX-License-Identifier: BSD-2-Clause
// Checks the settings of devices that hosts pass (taper_load_options.settings), as far as possible before a device is
// opened.
#ifndef TAPER_RUNTIME_DEVICE_OPTIONS_H
#define TAPER_RUNTIME_DEVICE_OPTIONS_H

#include <taper/taper_device.h>

#include "base/status.h"

// Fails if a setting does not name an option, or if the option does not accept the value.
TAPER_MUST_USE taper_status taper_settings_check(const taper_device_setting *settings, size_t count,
                                                 taper_error *error);
// Fails if a setting is not an option of this kind of device. The kinds of devices that only tests use have every
// option.
TAPER_MUST_USE taper_status taper_settings_check_kind(const taper_device_setting *settings, size_t count,
                                                      taper_device_kind kind, taper_error *error);

#endif
