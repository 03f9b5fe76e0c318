/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_SCALAR_H
#define TAPER_CPP_AS_ATEN_CORE_SCALAR_H

#include <taper/cpp/scalar.h>

#endif
