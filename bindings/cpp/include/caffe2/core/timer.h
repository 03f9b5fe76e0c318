/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_CAFFE2_CORE_TIMER_H
#define TAPER_CPP_AS_CAFFE2_CORE_TIMER_H

#include <taper/cpp/timer.h>

#endif
