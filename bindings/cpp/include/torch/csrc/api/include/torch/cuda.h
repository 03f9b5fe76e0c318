/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_CUDA_H
#define TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_CUDA_H

#include <taper/cpp/global_context.h>

#endif
