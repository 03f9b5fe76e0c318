/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_FREEZE_MODULE_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_FREEZE_MODULE_H

#include <taper/cpp/module.h>

#endif
