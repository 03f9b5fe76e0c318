/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_EXPANDING_ARRAY_H
#define TAPER_CPP_AS_TORCH_EXPANDING_ARRAY_H

#include <taper/cpp/nn/expanding_array.h>

#endif
