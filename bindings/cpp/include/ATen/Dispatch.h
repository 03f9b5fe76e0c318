/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DISPATCH_H
#define TAPER_CPP_AS_ATEN_DISPATCH_H

#include <taper/cpp/dispatch.h>

#endif
