/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_ORDERED_DICT_H
#define TAPER_CPP_AS_TORCH_ORDERED_DICT_H

#include <taper/cpp/nn/ordered_dict.h>

#endif
