/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_NATIVEFUNCTIONS_H
#define TAPER_CPP_AS_ATEN_NATIVEFUNCTIONS_H

#include <taper/cpp/functions.h>
#include <taper/cpp/indexing.h>

#endif
