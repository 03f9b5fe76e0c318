/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_ACCUMULATETYPE_H
#define TAPER_CPP_AS_ATEN_ACCUMULATETYPE_H

#include <taper/cpp/accumulate_type.h>

#endif
