/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_UTIL_OPTIONALARRAYREF_H
#define TAPER_CPP_AS_C10_UTIL_OPTIONALARRAYREF_H

#include <taper/cpp/optional_array_ref.h>

#endif
