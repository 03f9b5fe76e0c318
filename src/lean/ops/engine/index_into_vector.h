// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/index_into_vector.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_INDEX_INTO_VECTOR_H
#define TAPER_OPS_ENGINE_INDEX_INTO_VECTOR_H

static inline taper_binary_f32_function *vector_of(const taper_run *run, taper_into_function function, int64_t to_step,
                                                   int64_t from_step)
{
    (void)run, (void)function, (void)to_step, (void)from_step;
    return NULL;
}

#endif
