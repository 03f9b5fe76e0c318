// SPDX-License-Identifier: BSD-2-Clause
// softmax, log_softmax and logsumexp of floats over any dimension, by the vector kernels.
#ifndef TAPER_OPS_SOFTMAX_LINES_H
#define TAPER_OPS_SOFTMAX_LINES_H

#include "ops/engine/reduce.h"

typedef enum taper_softmax_kind { TAPER_SOFTMAX, TAPER_LOG_SOFTMAX, TAPER_LOG_SUM_EXP } taper_softmax_kind;

// y has x's steps in `lines` as out; of TAPER_LOG_SUM_EXP line.out is 0, a line gives one float. Declines where lines
// and neighbours are not what kernels read.
TAPER_MUST_USE taper_status taper_softmax_lines(taper_run *run, const taper_lines *lines, taper_softmax_kind kind,
                                                const float *x, float *y);

#endif
