/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_GRAD_MODE_H
#define TAPER_CPP_AS_ATEN_CORE_GRAD_MODE_H

#include <taper/cpp/guards.h>

#endif
