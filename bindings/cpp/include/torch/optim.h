/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_OPTIM_H
#define TAPER_CPP_AS_TORCH_OPTIM_H

#include <taper/cpp/all.h>
#include <taper/cpp/optim.h>
#include <taper/cpp/spaces.h>

#endif
