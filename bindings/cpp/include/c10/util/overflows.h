/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_OVERFLOWS_H
#define TAPER_CPP_AS_C10_UTIL_OVERFLOWS_H

#include <taper/cpp/type_cast.h>

#endif
