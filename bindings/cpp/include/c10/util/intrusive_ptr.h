/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_INTRUSIVE_PTR_H
#define TAPER_CPP_AS_C10_UTIL_INTRUSIVE_PTR_H

#include <taper/cpp/intrusive_ptr.h>

#endif
