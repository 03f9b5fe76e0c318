/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CEIL_DIV_H
#define TAPER_CPP_AS_ATEN_CEIL_DIV_H

#include <taper/cpp/utility.h>

#endif
