/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_C10_MOBILE_CPUCACHINGALLOCATOR_H
#define TAPER_CPP_AS_C10_MOBILE_CPUCACHINGALLOCATOR_H

#include <taper/cpp/caching_allocator.h>

#endif
