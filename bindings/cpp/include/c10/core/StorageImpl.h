/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_CORE_STORAGEIMPL_H
#define TAPER_CPP_AS_C10_CORE_STORAGEIMPL_H

#include <taper/cpp/storage.h>

#endif
