// SPDX-License-Identifier: BSD-2-Clause
// Part of elementwise_walk.c: conversions by kernels, and the test for loops that may be divided among threads because
// every element takes about the same time.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_SHARED_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_SHARED_H

static bool is_conversion(const taper_ew *ew)
{
    return ew->op->converts;
}

static taper_cast_function *find_side_cast(const taper_run *run, const taper_ew_side *s, bool result)
{
    return taper_ew_find_cast(run->cpu, result ? s->wanted : s->dtype, result ? s->dtype : s->wanted);
}

static bool is_even(const taper_ew *ew, const taper_ew_decision *d, const taper_ew_inner *inner)
{
    return ew->op->result == TAPER_EW_BOOL || ew->op->masks != 0 || ew->op->converts || d->in_class > TAPER_EW_F64 ||
           inner->loop == NULL;
}

#endif
