/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_VERSION_H
#define TAPER_CPP_AS_ATEN_VERSION_H

#include <taper/cpp/global_context.h>

#endif
