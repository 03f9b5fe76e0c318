// SPDX-License-Identifier: BSD-2-Clause
// softmax, log_softmax and logsumexp of floats along any dimension, by the vector kernels.
#ifndef TAPER_OPS_SOFTMAX_LINES_H
#define TAPER_OPS_SOFTMAX_LINES_H

#include "ops/engine/reduce.h"

typedef enum taper_softmax_kind { TAPER_SOFTMAX, TAPER_LOG_SOFTMAX, TAPER_LOG_SUM_EXP } taper_softmax_kind;

// Computes softmax, log_softmax or logsumexp (`kind`) along `lines`. y has the steps that lines has for the result. For
// TAPER_LOG_SUM_EXP a line gives one float, and line.out is 0. Returns TAPER_DECLINED if no kernel reads lines with
// these steps.
TAPER_MUST_USE taper_status taper_softmax_lines(taper_run *run, const taper_lines *lines, taper_softmax_kind kind,
                                                const float *x, float *y);

#endif
