/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_PIMPL_H
#define TAPER_CPP_AS_TORCH_NN_PIMPL_H

#include <taper/cpp/nn/module_holder.h>

#endif
