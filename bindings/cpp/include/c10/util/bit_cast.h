/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_BIT_CAST_H
#define TAPER_CPP_AS_C10_UTIL_BIT_CAST_H

#include <taper/cpp/half.h>

#endif
