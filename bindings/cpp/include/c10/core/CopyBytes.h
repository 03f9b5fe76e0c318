/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_COPYBYTES_H
#define TAPER_CPP_AS_C10_CORE_COPYBYTES_H

#include <taper/cpp/all.h>

#endif
