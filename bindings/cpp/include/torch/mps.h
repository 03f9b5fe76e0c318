/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_MPS_H
#define TAPER_CPP_AS_TORCH_MPS_H

#include <taper/cpp/global_context.h>

#endif
