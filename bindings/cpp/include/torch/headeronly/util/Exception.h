/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_HEADERONLY_UTIL_EXCEPTION_H
#define TAPER_CPP_AS_TORCH_HEADERONLY_UTIL_EXCEPTION_H

#include <taper/cpp/check.h>

#endif
