/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_LEGACYTYPEDISPATCH_H
#define TAPER_CPP_AS_ATEN_CORE_LEGACYTYPEDISPATCH_H

#include <taper/cpp/guards.h>

#endif
