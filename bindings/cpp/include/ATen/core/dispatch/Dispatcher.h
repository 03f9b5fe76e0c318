/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_DISPATCH_DISPATCHER_H
#define TAPER_CPP_AS_ATEN_CORE_DISPATCH_DISPATCHER_H

#include <taper/cpp/dispatcher.h>

#endif
