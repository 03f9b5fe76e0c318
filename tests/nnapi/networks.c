// SPDX-License-Identifier: BSD-2-Clause
// Networks built in C: see networks.h. The expected results are computed here in the simplest way.
#include "tests/nnapi/networks.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { H = 5, W = 4, IN = 3, OUT = 4, K = 3, OH = H - K + 1, OW = W - K + 1 };

static void must(taper_status status)
{
    if (status != TAPER_OK) {
        abort();
    }
}

static uint32_t add_tensor(made_network *m, int32_t type, float scale, int32_t zero_point, uint32_t rank,
                           const uint32_t *sizes)
{
    taper_network_operand operand = {.type = type, .rank = rank, .scale = scale, .zero_point = zero_point};
    uint32_t number = 0;
    memcpy(operand.sizes, sizes, rank * sizeof *sizes);
    must(taper_network_add_operand(&m->network, &operand, &number, NULL));
    return number;
}

static uint32_t add_value(made_network *m, taper_network_operand operand, const void *value, size_t bytes)
{
    uint32_t number = 0;
    void *copy = taper_arena_alloc(&m->network.arena, bytes);
    assert(copy != NULL);
    memcpy(copy, value, bytes);
    operand.immediate = copy;
    operand.bytes = bytes;
    must(taper_network_add_operand(&m->network, &operand, &number, NULL));
    return number;
}

static uint32_t add_int(made_network *m, int32_t value)
{
    uint32_t number = 0;
    must(taper_network_add_immediate(&m->network, ANEURALNETWORKS_INT32, 0, &value, sizeof value, &number, NULL));
    return number;
}

static void add_operation(made_network *m, int32_t code, const uint32_t *in, uint32_t count, uint32_t out)
{
    must(taper_network_add_operation(&m->network, code, in, count, &out, 1, NULL));
}

static void set_ends(made_network *m, const uint32_t *in, uint32_t in_count, const uint32_t *out, uint32_t out_count)
{
    taper_network *n = &m->network;
    n->inputs = taper_arena_array(&n->arena, in_count + 1, sizeof *n->inputs);
    n->outputs = taper_arena_array(&n->arena, out_count + 1, sizeof *n->outputs);
    assert(n->inputs != NULL && n->outputs != NULL);
    memcpy(n->inputs, in, in_count * sizeof *in);
    memcpy(n->outputs, out, out_count * sizeof *out);
    n->input_count = in_count;
    n->output_count = out_count;
}

static void make_room(made_network *m, int at, size_t in_bytes, size_t out_bytes)
{
    m->in_bytes[at] = in_bytes;
    m->out_bytes[at] = out_bytes;
    m->in[at] = calloc(1, in_bytes + 1);
    m->out[at] = calloc(1, out_bytes + 1);
    assert(m->in[at] != NULL && m->out[at] != NULL);
}

// ---- convolutions: x [1, H, W, IN], w [OUT, K, K, IN], stride 1, no padding

static const uint32_t x_sizes[] = {1, H, W, IN}, w_sizes[] = {OUT, K, K, IN}, y_sizes[] = {1, OH, OW, OUT};

static void add_conv(made_network *m, uint32_t x, uint32_t w, uint32_t b, uint32_t y, int fuse)
{
    const uint32_t zero = add_int(m, 0), one = add_int(m, 1), code = add_int(m, fuse);
    const uint32_t in[] = {x, w, b, zero, zero, zero, zero, one, one, code};
    add_operation(m, ANEURALNETWORKS_CONV_2D, in, 10, y);
    set_ends(m, &x, 1, &y, 1);
}

// Returns the convolution's sum of products for output channel o at pixel (oy, ox).
static double sum_at(const float *x, const float *w, int oy, int ox, int o)
{
    double sum = 0;
    for (int ky = 0; ky < K; ky++) {
        for (int kx = 0; kx < K; kx++) {
            for (int i = 0; i < IN; i++) {
                sum += (double)x[((oy + ky) * W + ox + kx) * IN + i] * (double)w[((o * K + ky) * K + kx) * IN + i];
            }
        }
    }
    return sum;
}

static void make_conv(made_network *m)
{
    float w[OUT * K * K * IN], b[OUT];
    make_room(m, 0, H * W * IN * sizeof(float), OH * OW * OUT * sizeof(float));
    float *x = (float *)m->in[0], *y = (float *)m->out[0];
    for (int i = 0; i < H * W * IN; i++) {
        x[i] = (float)(i * 7 % 11 - 5);
    }
    for (int i = 0; i < OUT * K * K * IN; i++) {
        w[i] = (float)(i * 5 % 9 - 4) * 0.5f;
    }
    for (int o = 0; o < OUT; o++) {
        b[o] = (float)o - 1;
        for (int at = 0; at < OH * OW; at++) {
            const double sum = sum_at(x, w, at / OW, at % OW, o) + (double)b[o];
            y[at * OUT + o] = sum > 0 ? (float)sum : 0;
        }
    }
    const int32_t type = ANEURALNETWORKS_TENSOR_FLOAT32;
    const uint32_t xs = add_tensor(m, type, 0, 0, 4, x_sizes);
    const uint32_t ws =
        add_value(m, (taper_network_operand){.type = type, .rank = 4, .sizes = {OUT, K, K, IN}}, w, sizeof w);
    const uint32_t bs = add_value(m, (taper_network_operand){.type = type, .rank = 1, .sizes = {OUT}}, b, sizeof b);
    add_conv(m, xs, ws, bs, add_tensor(m, type, 0, 0, 4, y_sizes), ANEURALNETWORKS_FUSED_RELU);
}

static void make_quantized(made_network *m, bool channels)
{
    static const float channel_scales[OUT] = {0.25f, 0.5f, 1.0f, 0.125f};
    const float x_scale = 0.5f, w_scale = 0.25f, y_scale = 4.0f;
    const int x_zero = 10, w_zero = 128, y_zero = 100;
    unsigned char w[OUT * K * K * IN];
    float xf[H * W * IN], wf[OUT * K * K * IN];
    int32_t b[OUT];
    make_room(m, 0, H * W * IN, OH * OW * OUT);
    for (int i = 0; i < H * W * IN; i++) {
        m->in[0][i] = (unsigned char)(i * 37 % 40);
        xf[i] = (float)(m->in[0][i] - x_zero) * x_scale;
    }
    for (int i = 0; i < OUT * K * K * IN; i++) {
        const float scale = channels ? channel_scales[i / (K * K * IN)] : w_scale;
        const int number = i * 29 % 41 - 20;
        w[i] = (unsigned char)(channels ? number : number + w_zero);
        wf[i] = (float)number * scale;
    }
    for (int o = 0; o < OUT; o++) {
        b[o] = 16 * o;
        const double b_scale = (double)x_scale * (double)(channels ? channel_scales[o] : w_scale);
        for (int at = 0; at < OH * OW; at++) {
            const double sum = sum_at(xf, wf, at / OW, at % OW, o) + b[o] * b_scale;
            const double number = rint(sum / (double)y_scale) + y_zero;
            m->out[0][at * OUT + o] = (unsigned char)(number < 0 ? 0 : number > 255 ? 255 : number);
        }
    }
    const int32_t type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    const uint32_t xs = add_tensor(m, type, x_scale, x_zero, 4, x_sizes);
    taper_network_operand wo = {.type = type, .rank = 4, .scale = w_scale, .zero_point = w_zero};
    memcpy(wo.sizes, w_sizes, sizeof w_sizes);
    if (channels) {
        float *scales = taper_arena_array(&m->network.arena, OUT, sizeof *scales);
        assert(scales != NULL);
        memcpy(scales, channel_scales, sizeof channel_scales);
        wo.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
        wo.scales = scales;
        wo.zero_point = 0;
        m->first_level = 29;
    }
    const uint32_t ws = add_value(m, wo, w, sizeof w);
    const uint32_t bs = add_value(
        m,
        (taper_network_operand){
            .type = ANEURALNETWORKS_TENSOR_INT32, .rank = 1, .sizes = {OUT}, .scale = channels ? 0 : x_scale * w_scale},
        b, sizeof b);
    add_conv(m, xs, ws, bs, add_tensor(m, type, y_scale, y_zero, 4, y_sizes), ANEURALNETWORKS_FUSED_NONE);
}

// ---- sums

static void make_sum(made_network *m, uint32_t rows)
{
    enum { COLUMNS = 5 };
    const uint32_t sizes[] = {rows, COLUMNS}, open[] = {0, COLUMNS};
    const size_t count = (size_t)rows * COLUMNS;
    make_room(m, 0, count * sizeof(float), count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        ((float *)m->in[0])[i] = (float)i;
        ((float *)m->out[0])[i] = 2 * (float)i;
    }
    const int32_t type = ANEURALNETWORKS_TENSOR_FLOAT32;
    const uint32_t x = add_tensor(m, type, 0, 0, 2, sizes), y = add_tensor(m, type, 0, 0, 2, open);
    const uint32_t in[] = {x, x, add_int(m, 0)};
    add_operation(m, ANEURALNETWORKS_ADD, in, 3, y);
    set_ends(m, &x, 1, &y, 1);
    m->first_level = 29;
}

static void make_two(made_network *m)
{
    static const uint32_t sizes[] = {3};
    const int32_t type = ANEURALNETWORKS_TENSOR_FLOAT32;
    uint32_t ends[4];
    for (int i = 0; i < 2; i++) {
        make_room(m, i, 3 * sizeof(float), 3 * sizeof(float));
        ends[i] = add_tensor(m, type, 0, 0, 1, sizes);
        ends[2 + i] = add_tensor(m, type, 0, 0, 1, sizes);
    }
    for (int i = 0; i < 3; i++) {
        const float a = (float)(i + 1), b = (float)(10 * i);
        ((float *)m->in[0])[i] = a;
        ((float *)m->in[1])[i] = b;
        ((float *)m->out[0])[i] = a + b;
        ((float *)m->out[1])[i] = a * b;
    }
    const uint32_t in[] = {ends[0], ends[1], add_int(m, 0)};
    add_operation(m, ANEURALNETWORKS_ADD, in, 3, ends[2]);
    add_operation(m, ANEURALNETWORKS_MUL, in, 3, ends[3]);
    set_ends(m, ends, 2, ends + 2, 2);
}

void made_network_create(made_network *m, made_kind kind, const taper_allocator *allocator)
{
    *m = (made_network){.kind = kind, .first_level = 27};
    taper_network_init(&m->network, allocator);
    switch (kind) {
    case MADE_CONV_RELU:
        make_conv(m);
        break;
    case MADE_QUANT8:
    case MADE_PER_CHANNEL:
        make_quantized(m, kind == MADE_PER_CHANNEL);
        break;
    case MADE_OPEN:
    case MADE_OPEN_LARGE:
        make_sum(m, kind == MADE_OPEN ? 3 : 9000);
        break;
    default:
        make_two(m);
        break;
    }
}

void made_network_free(made_network *m)
{
    for (int i = 0; i < 2; i++) {
        free(m->in[i]);
        free(m->out[i]);
    }
    taper_network_free(&m->network);
}

bool made_network_is_right(const made_network *m, const taper_nnapi_execution *e)
{
    bool right = true;
    for (uint32_t i = 0; i < m->network.output_count; i++) {
        const taper_nnapi_port *port = taper_nnapi_output(e, i);
        size_t bytes = port->item;
        for (uint32_t d = 0; d < port->rank; d++) {
            bytes *= port->sizes[d];
        }
        const char *data = e->memory.data + port->at;
        right &= bytes == m->out_bytes[i];
        for (size_t k = 0; right && k < bytes / port->item; k++) {
            if (port->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
                const float wanted = ((const float *)m->out[i])[k];
                right = fabsf(((const float *)data)[k] - wanted) <= 1e-5f * fabsf(wanted) + 1e-6f;
            } else { // a result may differ by one, because a tie may be rounded up or down
                right = abs((int)(unsigned char)data[k] - (int)m->out[i][k]) <= 1;
            }
        }
    }
    return right;
}
