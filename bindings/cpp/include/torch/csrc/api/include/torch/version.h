/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_VERSION_H
#define TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_VERSION_H

#include <taper/cpp/macros.h>

#endif
