/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_PARALLELOPENMP_H
#define TAPER_CPP_AS_ATEN_PARALLELOPENMP_H

#include <taper/cpp/parallel.h>

#endif
