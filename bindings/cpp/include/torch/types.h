/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_TYPES_H
#define TAPER_CPP_AS_TORCH_TYPES_H

#include <taper/cpp/functions.h>
#include <taper/cpp/indexing.h>
#include <taper/cpp/print.h>

#endif
