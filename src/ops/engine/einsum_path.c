// SPDX-License-Identifier: BSD-2-Clause
// Chooses the order of the products of einsum (einsum_path.h). Intermediate results may be far larger than the
// operands. For example, in "eui,ej,ijk->euk" the product of the first two operands is [e, u, i, j], but the product of
// the last two is only [e, i, k].
#include "ops/engine/einsum_path.h"

#include <string.h>

enum { TRIED = 5 }; // largest number of operands for which all orders are compared
// An order is used if its cost is below this fraction of the cost of the order from left to right.
static const double CHEAPER = 0.7;
static const double AN_ELEMENT = 4; // cost of reading or writing an element, in multiplications

typedef struct search {
    size_t count;
    uint64_t result;
    const int64_t *sizes;
    double best;
    taper_einsum_step steps[TRIED], best_steps[TRIED];
} search;

static double elements(const search *s, uint64_t dims)
{
    double count = 1;
    for (size_t d = 0; dims != 0; d++, dims >>= 1) {
        count *= (dims & 1) != 0 ? (double)s->sizes[d] : 1;
    }
    return count;
}

// Returns the dimensions of the product of two operands: the dimensions of these two that the result or another operand
// has too. The set of an operand that was multiplied into another operand is empty.
static uint64_t product_dims(const search *s, const uint64_t *operands, size_t left, size_t right)
{
    uint64_t needed = s->result;
    for (size_t i = 0; i < s->count; i++) {
        needed |= i != left && i != right ? operands[i] : 0;
    }
    return (operands[left] | operands[right]) & needed;
}

static double cost(const search *s, uint64_t left, uint64_t right, uint64_t product)
{
    return elements(s, left | right) + AN_ELEMENT * (elements(s, left) + elements(s, right) + elements(s, product));
}

// Tries all orders of the remaining operands, whose bits are set in `there`. `spent` is the cost of the earlier steps.
static void try_orders(search *s, uint64_t *operands, unsigned there, size_t step, double spent)
{
    if (step + 1 == s->count) {
        s->best = spent;
        memcpy(s->best_steps, s->steps, sizeof s->steps);
        return;
    }
    for (size_t left = 0; left < s->count; left++) {
        for (size_t right = left + 1; right < s->count; right++) {
            if ((there >> left & 1) == 0 || (there >> right & 1) == 0) {
                continue;
            }
            const uint64_t a = operands[left], b = operands[right], product = product_dims(s, operands, left, right);
            const double total = spent + cost(s, a, b, product);
            if (total >= s->best) {
                continue;
            }
            s->steps[step] = (taper_einsum_step){(uint8_t)left, (uint8_t)right};
            operands[left] = product;
            operands[right] = 0;
            try_orders(s, operands, there & ~(1u << right), step + 1, total);
            operands[left] = a;
            operands[right] = b;
        }
    }
}

bool taper_einsum_path(size_t count, const uint64_t *operands, uint64_t result, const int64_t *sizes,
                       taper_einsum_step *steps)
{
    search s = {.count = count, .result = result, .sizes = sizes};
    uint64_t left[TRIED];
    double in_turn = 0;
    for (size_t i = 1; i < count; i++) {
        steps[i - 1] = (taper_einsum_step){0, (uint8_t)i};
    }
    if (count < 3 || count > TRIED) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (elements(&s, operands[i]) == 0) { // there is nothing to multiply
            return false;
        }
    }
    memcpy(left, operands, count * sizeof *left);
    for (size_t i = 1; i < count; i++) {
        const uint64_t product = product_dims(&s, left, 0, i);
        in_turn += cost(&s, left[0], left[i], product);
        left[0] = product;
        left[i] = 0;
    }
    memcpy(left, operands, count * sizeof *left);
    s.best = CHEAPER * in_turn;
    try_orders(&s, left, (1u << count) - 1, 0, 0);
    if (s.best >= CHEAPER * in_turn) {
        return false;
    }
    memcpy(steps, s.best_steps, (count - 1) * sizeof *steps);
    return true;
}
