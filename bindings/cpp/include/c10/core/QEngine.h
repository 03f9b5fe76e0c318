/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_QENGINE_H
#define TAPER_CPP_AS_C10_CORE_QENGINE_H

#include <taper/cpp/global_context.h>

#endif
