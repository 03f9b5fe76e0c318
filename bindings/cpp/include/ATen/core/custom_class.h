/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_CUSTOM_CLASS_H
#define TAPER_CPP_AS_ATEN_CORE_CUSTOM_CLASS_H

#include <taper/cpp/custom_class_def.h>

#endif
