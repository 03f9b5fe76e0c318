/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_JIT_TYPE_BASE_H
#define TAPER_CPP_AS_ATEN_CORE_JIT_TYPE_BASE_H

#include <taper/cpp/type.h>

#endif
