/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_CLASS_TYPE_H
#define TAPER_CPP_AS_ATEN_CORE_CLASS_TYPE_H

#include <taper/cpp/type.h>

#endif
