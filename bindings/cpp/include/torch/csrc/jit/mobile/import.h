/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_MOBILE_IMPORT_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_MOBILE_IMPORT_H

#include <taper/cpp/mobile_module.h>

#endif
