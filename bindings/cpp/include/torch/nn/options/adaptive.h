/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_OPTIONS_ADAPTIVE_H
#define TAPER_CPP_AS_TORCH_NN_OPTIONS_ADAPTIVE_H

#include <taper/cpp/nn/adaptive.h>

#endif
