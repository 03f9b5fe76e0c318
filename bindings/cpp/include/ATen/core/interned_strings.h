/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_INTERNED_STRINGS_H
#define TAPER_CPP_AS_ATEN_CORE_INTERNED_STRINGS_H

#include <taper/cpp/function_schema.h>

#endif
