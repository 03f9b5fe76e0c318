/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_GENERATORIMPL_H
#define TAPER_CPP_AS_C10_CORE_GENERATORIMPL_H

#include <taper/cpp/generator.h>

#endif
