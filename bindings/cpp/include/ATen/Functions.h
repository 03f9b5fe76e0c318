/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_FUNCTIONS_H
#define TAPER_CPP_AS_ATEN_FUNCTIONS_H

#include <taper/cpp/functions.h>
#include <taper/cpp/indexing.h>

#endif
