/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_WRAPDIMMINIMAL_H
#define TAPER_CPP_AS_C10_CORE_WRAPDIMMINIMAL_H

#include <taper/cpp/sizes.h>

#endif
