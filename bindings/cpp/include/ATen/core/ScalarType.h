/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_SCALARTYPE_H
#define TAPER_CPP_AS_ATEN_CORE_SCALARTYPE_H

#include <taper/cpp/scalar_type.h>

#endif
