/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_SERIALIZATION_PICKLE_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_SERIALIZATION_PICKLE_H

#include <taper/cpp/pickle.h>

#endif
