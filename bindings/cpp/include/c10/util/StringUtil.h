/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_STRINGUTIL_H
#define TAPER_CPP_AS_C10_UTIL_STRINGUTIL_H

#include <taper/cpp/check.h>

#endif
