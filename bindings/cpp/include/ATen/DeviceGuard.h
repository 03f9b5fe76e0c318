/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DEVICEGUARD_H
#define TAPER_CPP_AS_ATEN_DEVICEGUARD_H

#include <taper/cpp/device_guard.h>

#endif
