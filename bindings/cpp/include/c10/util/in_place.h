/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_IN_PLACE_H
#define TAPER_CPP_AS_C10_UTIL_IN_PLACE_H

#include <taper/cpp/optional.h>

#endif
