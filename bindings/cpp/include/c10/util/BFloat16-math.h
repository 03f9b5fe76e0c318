/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_BFLOAT16_MATH_H
#define TAPER_CPP_AS_C10_UTIL_BFLOAT16_MATH_H

#include <taper/cpp/half.h>

#endif
