/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_OP_REGISTRATION_OP_REGISTRATION_H
#define TAPER_CPP_AS_ATEN_CORE_OP_REGISTRATION_OP_REGISTRATION_H

#include <taper/cpp/register_operators.h>

#endif
