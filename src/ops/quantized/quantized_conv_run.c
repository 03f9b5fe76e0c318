// SPDX-License-Identifier: BSD-2-Clause
// The sums of quantized convolutions, plain and transposed, over two or three dimensions. For each position of the
// result, the taps of the kernel that are inside the input are listed, and contiguous taps are merged. A channel's sum
// is then computed over contiguous runs. Padding contributes nothing, so its taps are left out.
#include "ops/call/packs.h"
#include "ops/quantized/quantized_layer.h"

typedef struct tap {
    const uint8_t *x; // inputs, beginning with channel 0
    int64_t w;        // index within the weights of an output channel
    int64_t length;
} tap;

// The sizes of a convolution in three dimensions; missing dimensions have size 1 and come first.
typedef struct geometry {
    int64_t batch, in_channels, out_channels, groups, group_in, group_out;
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    bool transposed;
} geometry;

static geometry describe(const taper_qconv_job *job)
{
    const taper_qconv_params *params = job->params;
    const taper_conv_params *conv = &params->conv;
    geometry g = {.batch = job->in_sizes[0],
                  .in_channels = params->in,
                  .out_channels = params->out,
                  .groups = conv->groups,
                  .group_in = params->in / conv->groups,
                  .group_out = params->out / conv->groups,
                  .transposed = conv->transposed};
    for (size_t i = 0; i < 3; i++) {
        const size_t missing = 3 - conv->rank;
        const bool there = i >= missing;
        const size_t d = there ? i - missing : 0;
        g.in[i] = there ? job->in_sizes[2 + d] : 1;
        g.out[i] = there ? job->out_sizes[2 + d] : 1;
        g.kernel[i] = there ? params->weight->sizes[2 + d] : 1;
        g.stride[i] = there ? conv->stride[d] : 1;
        g.padding[i] = there ? conv->padding[d] : 0;
        g.dilation[i] = there ? conv->dilation[d] : 1;
    }
    return g;
}

// ---- weights as [output channel][kernel…][input channel of the group]

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_tensor *weight = request->tensors[0];
    const bool transposed = request->numbers[0] != 0;
    const int64_t groups = request->numbers[1];
    const int64_t outs = weight->sizes[transposed ? 1 : 0], ins = weight->sizes[transposed ? 0 : 1];
    const int64_t out_step = weight->strides[transposed ? 1 : 0], in_step = weight->strides[transposed ? 0 : 1];
    const int64_t group_in = transposed ? ins / groups : ins, all_outs = transposed ? outs * groups : outs;
    int64_t size[3] = {1, 1, 1}, step[3] = {0, 0, 0};
    const size_t rank = weight->rank - 2u;
    for (size_t d = 0; d < rank; d++) {
        size[3 - rank + d] = weight->sizes[2 + d];
        step[3 - rank + d] = weight->strides[2 + d];
    }
    const int8_t *from = taper_tensor_data(weight);
    int8_t *to = data;
    for (int64_t o = 0; o < all_outs; o++) {
        const int8_t *of_channel =
            transposed ? from + (o % outs) * out_step + (o / outs) * group_in * in_step : from + o * out_step;
        for (int64_t z = 0; z < size[0]; z++) {
            for (int64_t y = 0; y < size[1]; y++) {
                for (int64_t x = 0; x < size[2]; x++) {
                    const int8_t *at = of_channel + z * step[0] + y * step[1] + x * step[2];
                    for (int64_t i = 0; i < group_in; i++) {
                        *to++ = at[i * in_step];
                    }
                }
            }
        }
    }
}

static taper_status get_weights(taper_call *call, const taper_qconv_params *params, taper_pack *pack,
                                const int8_t **weights)
{
    static const char kind = 0;
    *pack = (taper_pack){0};
    if (!params->conv.transposed && taper_tensor_is_channels_last(params->weight)) {
        *weights = taper_tensor_data(params->weight);
        return TAPER_OK;
    }
    const taper_pack_request request = {.kind = &kind,
                                        .tensors = {params->weight},
                                        .numbers = {params->conv.transposed, params->conv.groups},
                                        .bytes = (size_t)taper_tensor_numel(params->weight),
                                        .fill = fill_weights};
    TAPER_TRY(taper_pack_get(call, &request, pack));
    *weights = pack->data;
    return TAPER_OK;
}

// ---- taps of the kernel that are inside the input

// Computes the input's index for tap k of output index o along dimension d. Returns false if the tap is outside the
// input.
static bool input_index(const geometry *g, size_t d, int64_t o, int64_t k, int64_t *i)
{
    if (!g->transposed) {
        *i = o * g->stride[d] - g->padding[d] + k * g->dilation[d];
    } else {
        const int64_t reach = o + g->padding[d] - k * g->dilation[d];
        if (reach < 0 || reach % g->stride[d] != 0) {
            return false;
        }
        *i = reach / g->stride[d];
    }
    return *i >= 0 && *i < g->in[d];
}

static size_t list_taps(const geometry *g, const uint8_t *image, const int64_t *o, tap *taps)
{
    size_t count = 0;
    int64_t w = 0;
    // With groups, a group's channels are a part of a pixel, so pixels are contiguous only without groups.
    const int64_t pixel = g->in_channels, run = g->group_in;
    for (int64_t z = 0; z < g->kernel[0]; z++) {
        int64_t i[3];
        const bool in_z = input_index(g, 0, o[0], z, &i[0]);
        for (int64_t y = 0; y < g->kernel[1]; y++) {
            const bool in_y = in_z && input_index(g, 1, o[1], y, &i[1]);
            if (!in_y) {
                w += g->kernel[2] * run;
                continue;
            }
            for (int64_t x = 0; x < g->kernel[2]; x++, w += run) {
                if (!input_index(g, 2, o[2], x, &i[2])) {
                    continue;
                }
                const uint8_t *at = image + ((i[0] * g->in[1] + i[1]) * g->in[2] + i[2]) * pixel;
                tap *last = count != 0 ? &taps[count - 1] : NULL;
                if (g->groups == 1 && last != NULL && last->x + last->length == at && last->w + last->length == w) {
                    last->length += run;
                } else {
                    taps[count++] = (tap){at, w, run};
                }
            }
        }
    }
    return count;
}

static void sum_pixel(const geometry *g, const taper_qconv_job *job, const int8_t *weights, int64_t per_channel,
                      const tap *taps, size_t count, uint8_t *y)
{
    const int32_t x_zero = job->x->zero_point;
    for (int64_t c = 0; c < g->out_channels; c++, weights += per_channel) {
        const taper_q_channel *channel = &job->output.channels[c];
        const int64_t first = c / g->group_out * g->group_in;
        uint32_t sum = (uint32_t)channel->bias;
        for (size_t t = 0; t < count; t++) {
            sum += taper_q_dot(taps[t].x + first, weights + taps[t].w, taps[t].length, x_zero, channel->zero_point);
        }
        y[c] =
            (uint8_t)taper_q_requantize((int32_t)sum, channel->multiplier, job->output.zero_point, job->output.range);
    }
}

taper_status taper_qconv_compute(taper_call *call, const taper_qconv_job *job)
{
    taper_run *run = call->run;
    const geometry g = describe(job);
    const int64_t volume = g.kernel[0] * g.kernel[1] * g.kernel[2], per_channel = volume * g.group_in;
    const int64_t in_image = g.in[0] * g.in[1] * g.in[2] * g.in_channels;
    const int8_t *weights = NULL;
    taper_pack pack;
    size_t bytes;
    if (!taper_mul_size((size_t)volume, sizeof(tap), &bytes)) {
        return taper_fail_memory(run->error);
    }
    TAPER_TRY(get_weights(call, job->params, &pack, &weights));
    tap *taps = taper_heap_alloc(run->heap, bytes);
    taper_status status = taps == NULL ? taper_fail_memory(run->error) : TAPER_OK;
    uint8_t *y = job->y;
    int64_t o[3];
    for (int64_t n = 0; n < g.batch && status == TAPER_OK; n++) {
        const uint8_t *image = job->x->data + n * in_image;
        for (o[0] = 0; o[0] < g.out[0] && status == TAPER_OK; o[0]++) {
            for (o[1] = 0; o[1] < g.out[1] && status == TAPER_OK; o[1]++) {
                for (o[2] = 0; o[2] < g.out[2] && status == TAPER_OK; o[2]++, y += g.out_channels) {
                    const size_t count = list_taps(&g, image, o, taps);
                    sum_pixel(&g, job, weights, per_channel, taps, count, y);
                    status = taper_run_spend(run, 20 * (count + (uint64_t)volume) +
                                                      count * (uint64_t)(g.group_in * g.out_channels));
                }
            }
        }
    }
    taper_heap_free(run->heap, taps, taps != NULL ? bytes : 0);
    if (pack.data != NULL) {
        taper_pack_done(call, &pack);
    }
    return status;
}
