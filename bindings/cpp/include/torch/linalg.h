/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_LINALG_H
#define TAPER_CPP_AS_TORCH_LINALG_H

#include <taper/cpp/spaces.h>

#endif
