// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/tensor/gather_rows_steps.h in small builds, which have one loop for all strides that handles one
// element at a time.
#ifndef TAPER_OPS_TENSOR_GATHER_ROWS_STEPS_H
#define TAPER_OPS_TENSOR_GATHER_ROWS_STEPS_H

// A dimension of one element may have any stride, which must not be added to a pointer. STEP replaces it by 0.
#define STEP(step) (n > 1 ? job->step : 0)
#define CALL(loop, ...) loop(__VA_ARGS__, job->g.step, STEP(index_step), STEP(other_step), STEP(table_step))
#define GATHER_FOUR(type)

enum { SCATTERED = 1 };

#endif
