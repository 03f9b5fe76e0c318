/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_SEQUENTIAL_H
#define TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_SEQUENTIAL_H

#include <taper/cpp/nn/sequential.h>

#endif
