// SPDX-License-Identifier: BSD-2-Clause
// Reads constant arguments of a node as numbers.
#include "compiler/recompose.h"

bool taper_constant_numbers(const taper_node *node, size_t from, size_t to, double *numbers)
{
    for (size_t i = from; i <= to; i++) {
        if (i >= node->input_count || !taper_node_constant_is_number(node, i, &numbers[i - from])) {
            return false;
        }
    }
    return true;
}

bool taper_constant_float_dtype(const taper_node *node, size_t index)
{
    const taper_val *dtype = index < node->input_count ? taper_node_constant_in(node, index) : NULL;
    return dtype != NULL &&
           (dtype->tag == TAPER_NONE || (dtype->tag == TAPER_INT && dtype->as.i == (int64_t)TAPER_F32));
}
