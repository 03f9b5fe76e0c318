/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_DLCONVERTOR_H
#define TAPER_CPP_AS_ATEN_DLCONVERTOR_H

#include <taper/cpp/dlpack.h>

#endif
