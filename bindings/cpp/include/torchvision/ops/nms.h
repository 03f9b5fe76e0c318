/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCHVISION_OPS_NMS_H
#define TAPER_CPP_AS_TORCHVISION_OPS_NMS_H

#include <taper/cpp/vision.h>

#endif
