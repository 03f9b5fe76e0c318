/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_TENSORGEOMETRY_H
#define TAPER_CPP_AS_ATEN_TENSORGEOMETRY_H

#include <taper/cpp/tensor_checks.h>

#endif
