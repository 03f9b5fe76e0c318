/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_LIBRARY_H
#define TAPER_CPP_AS_TORCH_LIBRARY_H

#include <taper/cpp/library.h>
#include <taper/cpp/register_operators.h>

#endif
