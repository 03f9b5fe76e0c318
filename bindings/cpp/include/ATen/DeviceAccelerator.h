/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DEVICEACCELERATOR_H
#define TAPER_CPP_AS_ATEN_DEVICEACCELERATOR_H

#include <taper/cpp/global_context.h>

#endif
