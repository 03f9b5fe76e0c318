/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_SERIALIZATION_UNPICKLER_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_SERIALIZATION_UNPICKLER_H

#include <taper/cpp/all.h>

#endif
