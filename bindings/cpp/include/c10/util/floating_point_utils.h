/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_FLOATING_POINT_UTILS_H
#define TAPER_CPP_AS_C10_UTIL_FLOATING_POINT_UTILS_H

#include <taper/cpp/half.h>

#endif
