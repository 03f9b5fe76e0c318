/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_OPERATOR_NAME_H
#define TAPER_CPP_AS_ATEN_CORE_OPERATOR_NAME_H

#include <taper/cpp/dispatcher.h>

#endif
