/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_DIMVECTOR_H
#define TAPER_CPP_AS_C10_UTIL_DIMVECTOR_H

#include <taper/cpp/small_vector.h>

#endif
