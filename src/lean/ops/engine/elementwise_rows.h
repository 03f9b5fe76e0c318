// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/elementwise_rows.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_ROWS_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_ROWS_H

static inline bool are_short(const taper_ew_walk *walk)
{
    (void)walk;
    return false;
}

static inline void run_short(const loop_job *job, size_t count, char *const *at)
{
    (void)job, (void)count, (void)at;
}

static inline void choose_outer(taper_ew_vector_plan *plan, const taper_ew_walk *walk, const taper_ew_op *op,
                                taper_operands operands)
{
    (void)plan, (void)walk, (void)op, (void)operands;
}

static inline bool run_outer(const loop_job *job, size_t count, size_t n, char *const *at)
{
    (void)job, (void)count, (void)n, (void)at;
    return false;
}

#endif
