/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_API_COMPILATION_UNIT_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_API_COMPILATION_UNIT_H

#include <taper/cpp/module.h>

#endif
