/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_HEADERONLY_MACROS_MACROS_H
#define TAPER_CPP_AS_TORCH_HEADERONLY_MACROS_MACROS_H

#include <taper/cpp/macros.h>

#endif
