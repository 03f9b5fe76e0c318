/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_SCALARTYPETOTYPEMETA_H
#define TAPER_CPP_AS_C10_CORE_SCALARTYPETOTYPEMETA_H

#include <taper/cpp/type_meta.h>

#endif
