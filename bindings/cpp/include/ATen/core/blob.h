/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_BLOB_H
#define TAPER_CPP_AS_ATEN_CORE_BLOB_H

#include <taper/cpp/ivalue.h>

#endif
