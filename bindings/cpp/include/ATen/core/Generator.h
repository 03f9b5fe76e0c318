/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_GENERATOR_H
#define TAPER_CPP_AS_ATEN_CORE_GENERATOR_H

#include <taper/cpp/generator.h>

#endif
