/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_SYMINTARRAYREF_H
#define TAPER_CPP_AS_C10_CORE_SYMINTARRAYREF_H

#include <taper/cpp/array_ref.h>

#endif
