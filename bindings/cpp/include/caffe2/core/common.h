/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_CAFFE2_CORE_COMMON_H
#define TAPER_CPP_AS_CAFFE2_CORE_COMMON_H

#include <taper/cpp/check.h>

#endif
