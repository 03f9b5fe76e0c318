/* SPDX-License-Identifier: BSD-2-Clause */
// The functions of at:: that make and take tensors.
#ifndef TAPER_CPP_FUNCTIONS_H
#define TAPER_CPP_FUNCTIONS_H

#include <taper/cpp/from_blob.h>
#include <taper/cpp/tensor_data.h>
#include <taper/cpp/tensor_ops.h>

namespace torch
{
using namespace at;
}

#endif
