/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_TORCH_H
#define TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_TORCH_H

#include <torch/torch.h>

#endif
