/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DEVICE_H
#define TAPER_CPP_AS_ATEN_DEVICE_H

#include <taper/cpp/device.h>

#endif
