/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_MOBILE_CPUPROFILINGALLOCATOR_H
#define TAPER_CPP_AS_C10_MOBILE_CPUPROFILINGALLOCATOR_H

#include <taper/cpp/profiling_allocator.h>

#endif
