/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_DETAIL_STATIC_H
#define TAPER_CPP_AS_TORCH_DETAIL_STATIC_H

#include <taper/cpp/nn/module_holder.h>

#endif
