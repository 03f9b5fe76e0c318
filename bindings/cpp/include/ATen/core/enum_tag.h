/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_ENUM_TAG_H
#define TAPER_CPP_AS_ATEN_CORE_ENUM_TAG_H

#include <taper/cpp/default_dtype.h>

#endif
