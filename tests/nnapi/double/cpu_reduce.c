// SPDX-License-Identifier: BSD-2-Clause
// Softmax, means and other reductions.
#include <math.h>
#include <string.h>

#include "cpu.h"

bool prepare_softmax(call *c)
{
    const tensor *in = &c->in[0];
    if (c->level < 29 && in->rank != 2 && in->rank != 4) {
        return refuse(c, "a softmax of %u dimensions", in->rank);
    }
    if (!(scalar_float(c, 1) > 0.0f)) {
        return refuse(c, "beta %g", (double)scalar_float(c, 1));
    }
    return prepare_like_first(c) && find_axis(c, c->in_count > 2 ? scalar_int(c, 2) : -1, in->rank, &c->axis);
}

void run_softmax(const call *c)
{
    const tensor *in = &c->in[0], *out = &c->out[0];
    const float beta = scalar_float(c, 1);
    const size_t size = in->sizes[c->axis], count = tensor_count(in);
    size_t inner = 1;
    for (uint32_t i = c->axis + 1; i < in->rank; i++) {
        inner *= in->sizes[i];
    }
    for (size_t row = 0; row < count / size; row++) {
        const size_t first = row / inner * inner * size + row % inner;
        float most = -INFINITY, sum = 0.0f;
        for (size_t i = 0; i < size; i++) {
            most = fmaxf(most, get_real(in, first + i * inner));
        }
        for (size_t i = 0; i < size; i++) {
            sum += expf((get_real(in, first + i * inner) - most) * beta);
        }
        for (size_t i = 0; i < size; i++) {
            const float x = (get_real(in, first + i * inner) - most) * beta;
            put_real(out, first + i * inner, c->code == ANEURALNETWORKS_SOFTMAX ? expf(x) / sum : x - logf(sum));
        }
    }
}

// Prepares a mean or another reduction. The arguments are x, the dimensions, and a flag that says whether the
// dimensions are kept.
bool prepare_mean(call *c)
{
    const tensor *in = &c->in[0];
    const size_t count = tensor_count(&c->in[1]);
    uint32_t rank = 0, sizes[DOUBLE_RANK] = {1};
    // The flag that says whether dimensions are kept is an int for MEAN, and a bool for the other operations.
    const bool keep = c->in[2].type == ANEURALNETWORKS_BOOL ? scalar_bool(c, 2) : scalar_int(c, 2) > 0;
    memset(c->axes, 0, sizeof c->axes);
    if (c->in[1].rank != 1) {
        return refuse(c, "dimensions should be a list");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        if (!find_axis(c, list_int(&c->in[1], i), in->rank, &axis)) {
            return false;
        }
        c->axes[axis] = true;
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        if (!c->axes[i] || keep) {
            sizes[rank++] = c->axes[i] ? 1 : in->sizes[i];
        }
    }
    set_sizes(&c->out[0], rank > 0 ? rank : 1, sizes);
    return true;
}

void run_mean(const call *c)
{
    const tensor *in = &c->in[0], *out = &c->out[0];
    const size_t made = tensor_count(out), each = tensor_count(in) / made;
    for (size_t i = 0; i < made; i++) {
        double sum = 0.0;
        float most = -INFINITY, least = INFINITY;
        for (size_t k = 0; k < each; k++) {
            size_t kept = i, gone = k, where = 0, step = 1;
            for (uint32_t d = in->rank; d-- > 0; step *= in->sizes[d]) {
                size_t *rest = c->axes[d] ? &gone : &kept;
                where += *rest % in->sizes[d] * step;
                *rest /= in->sizes[d];
            }
            const float x = get_real(in, where);
            most = x > most ? x : most;
            least = x < least ? x : least;
            sum += (double)x;
        }
        put_real(out, i,
                 c->code == ANEURALNETWORKS_REDUCE_MAX   ? most
                 : c->code == ANEURALNETWORKS_REDUCE_MIN ? least
                 : c->code == ANEURALNETWORKS_REDUCE_SUM ? (float)sum
                                                         : (float)(sum / (double)each));
    }
}
