/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_REDUCTION_H
#define TAPER_CPP_AS_ATEN_CORE_REDUCTION_H

#include <taper/cpp/utility.h>

#endif
