/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_CAFFE2_SERIALIZE_IN_MEMORY_ADAPTER_H
#define TAPER_CPP_AS_CAFFE2_SERIALIZE_IN_MEMORY_ADAPTER_H

#include <taper/cpp/stream_archive.h>

#endif
