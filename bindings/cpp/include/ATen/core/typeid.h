/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_TYPEID_H
#define TAPER_CPP_AS_ATEN_CORE_TYPEID_H

#include <taper/cpp/type_meta.h>

#endif
