/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_STACK_H
#define TAPER_CPP_AS_ATEN_CORE_STACK_H

#include <taper/cpp/stack_operator.h>

#endif
