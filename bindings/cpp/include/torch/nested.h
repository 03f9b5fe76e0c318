/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_NESTED_H
#define TAPER_CPP_AS_TORCH_NESTED_H

#include <taper/cpp/all.h>

#endif
