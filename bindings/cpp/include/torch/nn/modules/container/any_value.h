/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_ANY_VALUE_H
#define TAPER_CPP_AS_TORCH_NN_MODULES_CONTAINER_ANY_VALUE_H

#include <taper/cpp/nn/any_value.h>

#endif
