// SPDX-License-Identifier: BSD-2-Clause
// The headers of the families that declare the objects in the param column.
#ifndef TAPER_OPS_PARAM_HEADERS_H
#define TAPER_OPS_PARAM_HEADERS_H

#include "ops/engine/volume.h"
#include "ops/lang/container.h"
#include "ops/lang/prim.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_case.h"
#include "ops/math/elementwise_ops.h"
#include "ops/nn/attention.h"
#include "ops/nn/conv.h"
#include "ops/nn/dropout.h"
#include "ops/nn/loss.h"
#include "ops/nn/norm.h"
#include "ops/signal/fft.h"
#include "ops/tensor/elementwise_copy.h"
#include "ops/tensor/reduce_kernels.h"

#endif
