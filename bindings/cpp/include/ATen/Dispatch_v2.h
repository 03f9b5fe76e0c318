/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DISPATCH_V2_H
#define TAPER_CPP_AS_ATEN_DISPATCH_V2_H

#include <taper/cpp/dispatch.h>

#endif
