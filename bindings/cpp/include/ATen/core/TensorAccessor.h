/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_TENSORACCESSOR_H
#define TAPER_CPP_AS_ATEN_CORE_TENSORACCESSOR_H

#include <taper/cpp/all.h>

#endif
