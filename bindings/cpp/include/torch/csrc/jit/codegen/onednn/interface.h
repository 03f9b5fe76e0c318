/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_CODEGEN_ONEDNN_INTERFACE_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_CODEGEN_ONEDNN_INTERFACE_H

#include <taper/cpp/executor.h>

#endif
