/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_FUNCTIONAL_POOLING_H
#define TAPER_CPP_AS_TORCH_NN_FUNCTIONAL_POOLING_H

#include <taper/cpp/nn/pooling.h>

#endif
