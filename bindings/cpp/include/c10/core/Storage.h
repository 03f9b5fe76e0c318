/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_STORAGE_H
#define TAPER_CPP_AS_C10_CORE_STORAGE_H

#include <taper/cpp/storage.h>

#endif
