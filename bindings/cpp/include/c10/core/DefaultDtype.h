/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_DEFAULTDTYPE_H
#define TAPER_CPP_AS_C10_CORE_DEFAULTDTYPE_H

#include <taper/cpp/default_dtype.h>

#endif
