/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_AUTOGRAD_INFERENCEMODE_H
#define TAPER_CPP_AS_TORCH_CSRC_AUTOGRAD_INFERENCEMODE_H

#include <taper/cpp/guards.h>

#endif
