/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_ENUM_H
#define TAPER_CPP_AS_TORCH_ENUM_H

#include <taper/cpp/nn/enum.h>

#endif
