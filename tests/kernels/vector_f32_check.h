// SPDX-License-Identifier: BSD-2-Clause
// Declares the parts of the check of vector_f32.h.
#ifndef TAPER_VECTOR_F32_CHECK_H
#define TAPER_VECTOR_F32_CHECK_H

#include "check.h"
#include "ops/kernels/kernel_select.h"

// Checks all binary kernels on n floats.
void check_vector_f32_pairs(const taper_vector_entry *v, size_t n);
// Checks maximum, minimum, fmod, remainder and divisions with whole quotients, on operands of all magnitudes: fmod must
// be exact, and the quotient must match it.
void check_vector_f32_quotients(const taper_vector_entry *v);
// Checks the binary functions with operands of all magnitudes and with operands close to each other.
void check_vector_f32_functions(const taper_vector_entry *v);
// Checks LSTM and GRU cells of n units.
void check_vector_f32_cells(const taper_vector_entry *v, size_t n);

#endif
