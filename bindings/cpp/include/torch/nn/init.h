/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_INIT_H
#define TAPER_CPP_AS_TORCH_NN_INIT_H

#include <taper/cpp/nn/init.h>

#endif
