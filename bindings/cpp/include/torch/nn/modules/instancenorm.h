/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_MODULES_INSTANCENORM_H
#define TAPER_CPP_AS_TORCH_NN_MODULES_INSTANCENORM_H

#include <taper/cpp/nn/batchnorm.h>

#endif
