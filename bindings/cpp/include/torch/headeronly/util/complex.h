/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_HEADERONLY_UTIL_COMPLEX_H
#define TAPER_CPP_AS_TORCH_HEADERONLY_UTIL_COMPLEX_H

#include <taper/cpp/complex.h>

#endif
