// SPDX-License-Identifier: BSD-2-Clause
// The family headers that declare what the rows' param column points to.
#ifndef TAPER_OPS_PARAMS_H
#define TAPER_OPS_PARAMS_H

#include "ops/container.h"
#include "ops/dropout.h"
#include "ops/elementwise_copy.h"
#include "ops/elementwise_ops.h"
#include "ops/fft.h"
#include "ops/loss.h"
#include "ops/prim.h"
#include "ops/reduce_kernels.h"
#include "ops/scalar.h"
#include "ops/string_case.h"
#include "ops/volume.h"

#endif
