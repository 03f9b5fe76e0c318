/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_VULKAN_REWRITE_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_VULKAN_REWRITE_H

#include <taper/cpp/all.h>

#endif
