/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_QSCHEME_H
#define TAPER_CPP_AS_C10_CORE_QSCHEME_H

#include <taper/cpp/device.h>

#endif
