/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_QUINT4X2_H
#define TAPER_CPP_AS_C10_UTIL_QUINT4X2_H

#include <taper/cpp/scalar_type.h>

#endif
