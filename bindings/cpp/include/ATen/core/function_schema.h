/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_FUNCTION_SCHEMA_H
#define TAPER_CPP_AS_ATEN_CORE_FUNCTION_SCHEMA_H

#include <taper/cpp/method_schema.h>

#endif
