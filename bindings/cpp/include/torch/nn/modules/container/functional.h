/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_FUNCTIONAL_H
#define TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_FUNCTIONAL_H

#include <taper/cpp/nn/lists.h>

#endif
