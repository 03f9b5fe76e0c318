// SPDX-License-Identifier: BSD-2-Clause
// Finds derivatives in the table that make_gradients.c writes, and reads their records.
#include "ops/gradient/gradient.h"

#include "ops/list/op_rows.h"

#include "ops/gradient/gradient_table.inc"

static size_t count_bits(uint32_t bits)
{
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f;
    return bits * 0x01010101 >> 24;
}

const taper_gradient *taper_gradient_find(const taper_op *op)
{
    const size_t row = (size_t)(op - taper_ops);
    if (taper_row_is_registered(op) || (gradient_has[row / 32] >> row % 32 & 1) == 0) {
        return NULL;
    }
    const uint32_t before = gradient_has[row / 32] & ((UINT32_C(1) << row % 32) - 1);
    return gradient_records + gradient_at[gradient_before[row / 32] + count_bits(before)];
}

bool taper_gradient_is_none(const taper_gradient *gradient)
{
    return (*gradient & TAPER_GRADIENT_NO_FORMULA) != 0;
}

bool taper_gradient_is_composed(const taper_gradient *gradient)
{
    return (*gradient & TAPER_GRADIENT_COMPOSED) != 0;
}

static uint32_t read_bits(const uint8_t **at)
{
    uint32_t bits = 0;
    unsigned shift = 0;
    do {
        bits |= (uint32_t)(**at & 0x7f) << shift;
        shift += 7;
    } while ((*(*at)++ & 0x80) != 0);
    return bits;
}

uint32_t taper_gradient_none(const taper_gradient *gradient)
{
    const uint8_t *at = gradient + 1;
    return (*gradient & TAPER_GRADIENT_ALL_NONE) != 0    ? UINT32_MAX
           : (*gradient & TAPER_GRADIENT_SOME_NONE) != 0 ? read_bits(&at)
                                                         : 0;
}

bool taper_gradient_next(const taper_gradient *gradient, taper_gradient_formula *formula)
{
    const uint8_t *at = formula->end;
    if (at == NULL) {
        at = gradient + 1;
        if ((*gradient & TAPER_GRADIENT_SOME_NONE) != 0) {
            read_bits(&at);
        }
    }
    formula->targets = read_bits(&at);
    if (formula->targets == 0) {
        return false;
    }
    const uint32_t length = read_bits(&at);
    formula->code = at;
    formula->end = at + length;
    return true;
}

void taper_gradient_add_reads(const taper_gradient_formula *formula, taper_gradient_reads *reads)
{
    for (const uint8_t *at = formula->code; at < formula->end;) {
        const uint8_t byte = *at++;
        const uint32_t bit = UINT32_C(1) << byte % TAPER_GRADIENT_SHAPE;
        if (byte < TAPER_GRADIENT_SHAPE) {
            reads->arguments |= bit;
        } else if (byte < TAPER_GRADIENT_RESULT) {
            reads->shapes |= bit;
        } else if (byte < TAPER_GRADIENT_GRAD) {
            reads->results |= UINT32_C(1) << (byte - TAPER_GRADIENT_RESULT);
        } else if (byte < TAPER_GRADIENT_INT) {
            reads->grads |= UINT32_C(1) << (byte - TAPER_GRADIENT_GRAD);
        } else {
            reads->grads |= byte == TAPER_GRADIENT_GRADS ? UINT32_MAX : 0;
            at += byte == TAPER_GRADIENT_LIST || byte == TAPER_GRADIENT_PICK || byte >= TAPER_GRADIENT_RARE ? 1 : 0;
        }
    }
}

void taper_gradient_leave_factors(const taper_op *op, uint32_t wanted, taper_gradient_reads *reads)
{
    const bool product = op == TAPER_OP(aten_matmul) || op == TAPER_OP(aten_linear) || op == TAPER_OP(aten_tensordot);
    const uint32_t left = product ? ((wanted & 2) == 0 ? 1U : 0U) | ((wanted & 1) == 0 ? 2U : 0U) : 0;
    reads->shapes |= reads->arguments & left;
    reads->arguments &= ~left;
}

const taper_op *taper_gradient_call(uint8_t instruction, const uint8_t **at, size_t *count)
{
    size_t call = (size_t)(instruction - TAPER_GRADIENT_CALL);
    if (instruction >= TAPER_GRADIENT_RARE) {
        call = TAPER_GRADIENT_RARE - TAPER_GRADIENT_CALL + (size_t)(instruction - TAPER_GRADIENT_RARE) * 256 + *(*at)++;
    }
    *count = gradient_call_counts[call];
    return &taper_ops[gradient_call_rows[call]];
}

int64_t taper_gradient_int(size_t number)
{
    return gradient_ints[number];
}

double taper_gradient_float(size_t number)
{
    return gradient_floats[number];
}

bool taper_gradient_cuts(const taper_op *op)
{
    const taper_op *const cuts[] = {
        TAPER_OP(aten_select_int),  TAPER_OP(aten_slice_Tensor), TAPER_OP(aten_narrow),
        TAPER_OP(aten_unbind_int),  TAPER_OP(aten_split_Tensor), TAPER_OP(aten_split_with_sizes),
        TAPER_OP(aten_split_sizes), TAPER_OP(aten_chunk),        TAPER_OP(aten_tensor_split_sections)};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        if (op == cuts[i]) {
            return true;
        }
    }
    return false;
}
