// SPDX-License-Identifier: BSD-2-Clause
// The parts of the check of vector_f32.h.
#ifndef TAPER_VECTOR_F32_CHECK_H
#define TAPER_VECTOR_F32_CHECK_H

#include "check.h"
#include "ops/kernels/kernel_select.h"

// All kernels of two operands, of n floats.
void check_vector_f32_pairs(const taper_vector_entry *v, size_t n);
// Of all magnitudes: fmod is exact, and the whole quotient is what belongs to it.
void check_vector_f32_quotients(const taper_vector_entry *v);
// The functions of two numbers: of all magnitudes, and of numbers near each other.
void check_vector_f32_functions(const taper_vector_entry *v);
// LSTM and GRU cells of n units.
void check_vector_f32_cells(const taper_vector_entry *v, size_t n);

#endif
