/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NN_OPTIONS_RNN_H
#define TAPER_CPP_AS_TORCH_NN_OPTIONS_RNN_H

#include <taper/cpp/nn/recurrent_cells.h>

#endif
