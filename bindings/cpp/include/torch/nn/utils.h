/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_UTILS_H
#define TAPER_CPP_AS_TORCH_NN_UTILS_H

#include <taper/cpp/nn/utils.h>

#endif
