/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_EXTENSION_H
#define TAPER_CPP_AS_TORCH_EXTENSION_H

#include <torch/torch.h>

#endif
