/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_OPTIONS_TRANSFORMER_H
#define TAPER_CPP_AS_TORCH_NN_OPTIONS_TRANSFORMER_H

#include <taper/cpp/nn/transformer.h>

#endif
