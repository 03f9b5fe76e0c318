// SPDX-License-Identifier: BSD-2-Clause
// Part of index_into.c: vector kernels for contiguous floats.
#ifndef TAPER_OPS_ENGINE_INDEX_INTO_VECTOR_H
#define TAPER_OPS_ENGINE_INDEX_INTO_VECTOR_H

// Returns the vector kernel for contiguous floats, or NULL if there is none.
static taper_binary_f32_function *vector_of(const taper_run *run, taper_into_function function, int64_t to_step,
                                            int64_t from_step)
{
    static const struct {
        taper_into_function function;
        taper_binary binary;
    } kernels[] = {{add_f32, TAPER_BINARY_ADD},
                   {multiply_f32, TAPER_BINARY_MUL},
                   {maximum_f32, TAPER_BINARY_MAXIMUM},
                   {minimum_f32, TAPER_BINARY_MINIMUM}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (!run->portable && to_step == sizeof(float) && from_step == sizeof(float) &&
            function == kernels[i].function) {
            return taper_vector_f32_select(run->cpu)->binary[kernels[i].binary][TAPER_OPERANDS_VV];
        }
    }
    return NULL;
}

#endif
