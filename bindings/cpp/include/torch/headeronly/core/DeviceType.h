/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCH_HEADERONLY_CORE_DEVICETYPE_H
#define TAPER_CPP_AS_TORCH_HEADERONLY_CORE_DEVICETYPE_H

#include <taper/cpp/device_type.h>

#endif
