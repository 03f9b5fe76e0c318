/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_ATENGENERAL_H
#define TAPER_CPP_AS_ATEN_CORE_ATENGENERAL_H

#include <taper/cpp/check.h>

#endif
