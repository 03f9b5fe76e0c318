/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_RUNTIME_JIT_EXCEPTION_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_RUNTIME_JIT_EXCEPTION_H

#include <taper/cpp/jit_exception.h>

#endif
