/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_FUNCTIONAL_DISTANCE_H
#define TAPER_CPP_AS_TORCH_NN_FUNCTIONAL_DISTANCE_H

#include <taper/cpp/nn/distance.h>

#endif
