/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_OPTIONAL_H
#define TAPER_CPP_AS_C10_UTIL_OPTIONAL_H

#include <taper/cpp/optional.h>

#endif
