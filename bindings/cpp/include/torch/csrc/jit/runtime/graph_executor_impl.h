/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_RUNTIME_GRAPH_EXECUTOR_IMPL_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_RUNTIME_GRAPH_EXECUTOR_IMPL_H

#include <taper/cpp/executor.h>

#endif
