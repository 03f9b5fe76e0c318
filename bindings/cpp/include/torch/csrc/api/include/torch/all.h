/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_ALL_H
#define TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_ALL_H

#include <torch/torch.h>

#endif
