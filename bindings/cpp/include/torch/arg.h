/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_ARG_H
#define TAPER_CPP_AS_TORCH_ARG_H

#include <taper/cpp/nn/expanding_array.h>

#endif
