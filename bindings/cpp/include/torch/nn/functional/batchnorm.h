/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_FUNCTIONAL_BATCHNORM_H
#define TAPER_CPP_AS_TORCH_NN_FUNCTIONAL_BATCHNORM_H

#include <taper/cpp/nn/batchnorm.h>

#endif
