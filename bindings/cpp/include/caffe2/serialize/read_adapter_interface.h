/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_CAFFE2_SERIALIZE_READ_ADAPTER_INTERFACE_H
#define TAPER_CPP_AS_CAFFE2_SERIALIZE_READ_ADAPTER_INTERFACE_H

#include <taper/cpp/load.h>

#endif
