/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_JIT_MOBILE_PARSE_OPERATORS_H
#define TAPER_CPP_AS_TORCH_CSRC_JIT_MOBILE_PARSE_OPERATORS_H

#include <taper/cpp/all.h>

#endif
