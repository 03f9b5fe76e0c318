/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_TENSOROPTIONS_H
#define TAPER_CPP_AS_ATEN_TENSOROPTIONS_H

#include <taper/cpp/tensor_options.h>

#endif
