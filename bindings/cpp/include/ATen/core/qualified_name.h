/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_QUALIFIED_NAME_H
#define TAPER_CPP_AS_ATEN_CORE_QUALIFIED_NAME_H

#include <taper/cpp/class_type.h>

#endif
