/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_WRAPDIMUTILS_H
#define TAPER_CPP_AS_ATEN_WRAPDIMUTILS_H

#include <taper/cpp/sizes.h>

#endif
