/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_MACROS_EXPORT_H
#define TAPER_CPP_AS_C10_MACROS_EXPORT_H

#include <taper/cpp/macros.h>

#endif
