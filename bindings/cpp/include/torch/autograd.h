/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_AUTOGRAD_H
#define TAPER_CPP_AS_TORCH_AUTOGRAD_H

#include <taper/cpp/autograd.h>

#endif
