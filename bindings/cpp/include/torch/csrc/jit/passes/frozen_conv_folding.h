/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_FROZEN_CONV_FOLDING_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_FROZEN_CONV_FOLDING_H

#include <taper/cpp/all.h>

#endif
