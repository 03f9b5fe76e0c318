/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_TORCHVISION_VISION_H
#define TAPER_CPP_AS_TORCHVISION_VISION_H

#include <taper/cpp/vision.h>

#endif
