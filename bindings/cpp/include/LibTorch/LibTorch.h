/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_LIBTORCH_LIBTORCH_H
#define TAPER_CPP_AS_LIBTORCH_LIBTORCH_H

#include <taper/cpp/all.h>

#endif
