/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCHVISION_OPS_ROI_POOL_H
#define TAPER_CPP_AS_TORCHVISION_OPS_ROI_POOL_H

#include <taper/cpp/vision.h>

#endif
