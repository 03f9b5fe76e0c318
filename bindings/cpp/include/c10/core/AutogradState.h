/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_AUTOGRADSTATE_H
#define TAPER_CPP_AS_C10_CORE_AUTOGRADSTATE_H

#include <taper/cpp/guards.h>

#endif
