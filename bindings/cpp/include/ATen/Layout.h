/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_LAYOUT_H
#define TAPER_CPP_AS_ATEN_LAYOUT_H

#include <taper/cpp/device.h>

#endif
