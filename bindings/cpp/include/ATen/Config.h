/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CONFIG_H
#define TAPER_CPP_AS_ATEN_CONFIG_H

#include <taper/cpp/global_context.h>

#endif
