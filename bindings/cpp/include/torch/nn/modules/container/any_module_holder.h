/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_ANY_MODULE_HOLDER_H
#define TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_ANY_MODULE_HOLDER_H

#include <taper/cpp/nn/any_module.h>

#endif
