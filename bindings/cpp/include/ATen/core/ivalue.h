/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_IVALUE_H
#define TAPER_CPP_AS_ATEN_CORE_IVALUE_H

#include <taper/cpp/ivalue.h>
#include <taper/cpp/print.h>

#endif
