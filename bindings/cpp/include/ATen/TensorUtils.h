/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_TENSORUTILS_H
#define TAPER_CPP_AS_ATEN_TENSORUTILS_H

#include <taper/cpp/tensor_checks.h>

#endif
