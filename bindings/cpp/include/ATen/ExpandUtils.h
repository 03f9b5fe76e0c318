/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_EXPANDUTILS_H
#define TAPER_CPP_AS_ATEN_EXPANDUTILS_H

#include <taper/cpp/sizes.h>

#endif
