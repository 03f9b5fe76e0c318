/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_BACKEND_H
#define TAPER_CPP_AS_C10_CORE_BACKEND_H

#include <taper/cpp/dispatch_key.h>

#endif
