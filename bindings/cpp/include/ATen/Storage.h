/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_STORAGE_H
#define TAPER_CPP_AS_ATEN_STORAGE_H

#include <taper/cpp/storage.h>

#endif
