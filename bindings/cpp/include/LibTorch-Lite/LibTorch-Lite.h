/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_LIBTORCH_LITE_LIBTORCH_LITE_H
#define TAPER_CPP_AS_LIBTORCH_LITE_LIBTORCH_LITE_H

#include <taper/cpp/all.h>

#endif
