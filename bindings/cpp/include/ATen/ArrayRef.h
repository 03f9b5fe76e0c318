/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_ARRAYREF_H
#define TAPER_CPP_AS_ATEN_ARRAYREF_H

#include <taper/cpp/array_ref.h>

#endif
