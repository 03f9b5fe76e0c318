/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_VARIANT_H
#define TAPER_CPP_AS_C10_UTIL_VARIANT_H

#include <taper/cpp/nn/variant.h>

#endif
