// SPDX-License-Identifier: BSD-2-Clause
// Between the rules of layers: what a layer is made of, how its constants are packed, and the kernel that multiplies
// (shaders/conv.comp).
#ifndef TAPER_BACKENDS_GPU_LAYER_PARTS_H
#define TAPER_BACKENDS_GPU_LAYER_PARTS_H

#include "backends/gpu/gpu_emit.h"

// ---- constants: weights, bias and the batch norm behind them (layer_weights.c)

// Whoever fills packed constants: taper_gpu_key.kind.
enum {
    TAPER_GPU_KIND_CONV = 2,
    TAPER_GPU_KIND_DEPTHWISE,
    TAPER_GPU_KIND_LINEAR,
    TAPER_GPU_KIND_NORM,
    TAPER_GPU_KIND_WINOGRAD = 10
};

// Of a quantized layer: sums of whole numbers begin with `start`, and become quint8 times `factor`, for each channel.
typedef struct taper_gpu_integers {
    const int32_t *start;
    const float *factor;
    double in_scale, out_scale;
    double in_point, point, least; // zero points; the least that the result may be
    bool small;                    // no sum is larger than floats count to
} taper_gpu_integers;

typedef struct taper_gpu_layer {
    const taper_gpu_integers *integers;          // the weight is of qint8; NULL: of float32
    const taper_tensor *weight, *bias, *norm[4]; // norm: γ, β, μ, σ²; NULL: none
    bool has_norm;
    double eps;
    int64_t out, in; // channels; of a convolution, of all groups
    int64_t groups, kernel[2];
    int64_t tile;              // vectors of results that a thread makes
    int64_t part_in, part_out; // channels of a part: groups that are computed apart
    int64_t first;             // the one of the results of the weight that this begins with
    bool transposed;           // a convolution whose weight is [in, out / groups, …]
    bool transposed_linear;    // the weight is [in, out]
} taper_gpu_layer;

// A constant tensor of float32; where it is not needed None gives NULL.
TAPER_MUST_USE taper_status taper_gpu_constant(taper_gpu_emitter *e, const taper_ir_value *value, bool needed,
                                               const taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_gpu_read_norm(taper_gpu_emitter *e, const taper_node *node, int64_t channels,
                                                taper_gpu_layer *l);
// The batch norm that alone looks at the layer goes into its weights.
void taper_gpu_take_norm(taper_gpu_emitter *e, const taper_ir_value **value, taper_gpu_layer *l);
// Refuses a bias that is not one number for each result: what the plain nodes say is wrong is never read.
TAPER_MUST_USE taper_status taper_gpu_check_bias(taper_gpu_emitter *e, const taper_gpu_layer *l);
taper_gpu_key taper_gpu_layer_key(const taper_gpu_layer *l, uint32_t kind);
// Vectors of weights: [part][tile of results][tap][channel, whole vectors of them][vectors of the tile]; then biases,
// where *bias says.
int64_t taper_gpu_layer_vectors(const taper_gpu_layer *l, int64_t *bias);
// taper_gpu_weights_get's fill; user: the layer. Of depthwise ones [tap][vectors], then biases; of a norm alone scales,
// then shifts.
void taper_gpu_fill_layer(void *user, float *to);
// Batch norm and bias of a channel of results.
void taper_gpu_layer_scale(const taper_gpu_layer *l, int64_t channel, double *scale, double *shift);
// The weights of a channel of results as the tensor has them: floats, or whole numbers, at `at` + strides.
typedef struct taper_gpu_row {
    const void *data;
    int64_t at, in, y, x;
    bool integers;
} taper_gpu_row;
taper_gpu_row taper_gpu_layer_row(const taper_gpu_layer *l, int64_t out);
static inline double taper_gpu_row_number(const taper_gpu_row *row, int64_t in, int64_t ky, int64_t kx)
{
    const int64_t at = row->at + in * row->in + ky * row->y + kx * row->x;
    return row->integers ? (double)((const int8_t *)row->data)[at] : (double)((const float *)row->data)[at];
}
void taper_gpu_fill_depthwise(void *user, float *to);
void taper_gpu_fill_norm(void *user, float *to);
// The object of packed weights of a prepacked:: operator, which is argument 1.
TAPER_MUST_USE taper_status taper_gpu_packed_object(taper_gpu_emitter *e, const taper_node *node,
                                                    taper_object **object);

// ---- the kernel (product.c)

// What is multiplied: `out` [batch, rows, columns] of `part_out` vectors each, for each part.
typedef struct taper_gpu_product {
    taper_gpu_view in, out;
    int64_t in_strides[3];
    int64_t in_sizes[2], out_sizes[3];    // rows and columns; batch, rows and columns
    int64_t parts, in_groups, out_groups; // vectors of channels of a part
    int64_t kernel[2], stride[2], padding[2], dilation[2];
    bool padded, linear, guarded, biased, rows_packed, transposed;
    bool exact;           // whole numbers, whose sums are those of 32 bits
    int64_t pixels, tile; // that a thread makes: next to each other, vectors of each (taper_gpu_choose_tile)
    uint32_t team;        // threads that share the making of them
    double outside;       // what they are where there is padding
    uint32_t weights;     // buffer
    int64_t w_offset, w_batch, w_part, w_tile, w_row, w_rows, w_group, bias;
    double operations;
} taper_gpu_product;

// By its sizes, and what it is of; before weights are packed, in tiles.
void taper_gpu_choose_tile(const taper_gpu_emitter *e, taper_gpu_product *p);
TAPER_MUST_USE taper_status taper_gpu_add_product(taper_gpu_emitter *e, const taper_gpu_product *p,
                                                  const taper_gpu_loops *loops, const taper_gpu_chain *chain);
typedef struct taper_gpu_geometry {
    int64_t stride[2], padding[2], dilation[2], groups;
    bool transposed;
} taper_gpu_geometry;
// A convolution of images, packed along their channels (rules_conv.c).
TAPER_MUST_USE taper_status taper_gpu_emit_images(taper_gpu_emitter *e, taper_gpu_layer *l,
                                                  const taper_gpu_geometry *geometry, const taper_gpu_view *in,
                                                  const taper_gpu_view *out, const taper_gpu_chain *chain);
// x times a constant matrix, and what follows it (rules_linear.c).
TAPER_MUST_USE taper_status taper_gpu_emit_linear(taper_gpu_emitter *e, const taper_ir_value *x, taper_gpu_layer *l,
                                                  const taper_ir_value *result, const taper_shape *shape, double min,
                                                  double max);

#endif
