/* SPDX-License-Identifier: BSD-2-Clause */
// torchvision's operators as functions: vision::ops::nms() and so on. The library has these operators, so nothing is
// registered.
#ifndef TAPER_CPP_VISION_H
#define TAPER_CPP_VISION_H

#include <taper/cpp/functions.h>
#include <taper/cpp/generated/vision.h>

namespace vision
{
// Returns the version of CUDA, which is -1 without CUDA.
inline int64_t cuda_version()
{
    return -1;
}
} // namespace vision

#endif
