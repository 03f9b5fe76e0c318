/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_NN_H
#define TAPER_CPP_AS_TORCH_CSRC_API_INCLUDE_TORCH_NN_H

#include <torch/nn.h>

#endif
