/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_CSRC_EXPORT_H
#define TAPER_CPP_AS_TORCH_CSRC_EXPORT_H

#include <taper/cpp/macros.h>

#endif
