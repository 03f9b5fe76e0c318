/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TAPER_CPP_AS_ATEN_CORE_TENSOR_H
#define TAPER_CPP_AS_ATEN_CORE_TENSOR_H

#include <taper/cpp/indexing.h>
#include <taper/cpp/print.h>
#include <taper/cpp/tensor_ops.h>

#endif
