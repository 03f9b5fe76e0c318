/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_STRING_UTILS_H
#define TAPER_CPP_AS_C10_UTIL_STRING_UTILS_H

#include <taper/cpp/utility.h>

#endif
