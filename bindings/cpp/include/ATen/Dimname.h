/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DIMNAME_H
#define TAPER_CPP_AS_ATEN_DIMNAME_H

#include <taper/cpp/all.h>

#endif
