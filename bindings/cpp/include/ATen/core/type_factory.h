/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_TYPE_FACTORY_H
#define TAPER_CPP_AS_ATEN_CORE_TYPE_FACTORY_H

#include <taper/cpp/type.h>

#endif
