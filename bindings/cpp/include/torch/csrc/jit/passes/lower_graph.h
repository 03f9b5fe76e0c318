/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_LOWER_GRAPH_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_LOWER_GRAPH_H

#include <taper/cpp/executor.h>

#endif
