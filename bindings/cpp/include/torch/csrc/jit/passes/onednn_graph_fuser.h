/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_ONEDNN_GRAPH_FUSER_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_PASSES_ONEDNN_GRAPH_FUSER_H

#include <taper/cpp/executor.h>

#endif
