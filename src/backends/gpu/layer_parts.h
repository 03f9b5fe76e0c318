// SPDX-License-Identifier: BSD-2-Clause
// Declarations that the rules of layers share: the parameters of a layer, the packing of its constants, and the kernel
// that multiplies (shaders/conv.comp).
#ifndef TAPER_BACKENDS_GPU_LAYER_PARTS_H
#define TAPER_BACKENDS_GPU_LAYER_PARTS_H

#include "backends/gpu/gpu_emit.h"

// ---- constants: weights, bias and a following batch norm (layer_weights.c)

// The functions that fill packed constants, as numbers for taper_gpu_key.kind.
enum {
    TAPER_GPU_KIND_CONV = 2,
    TAPER_GPU_KIND_DEPTHWISE,
    TAPER_GPU_KIND_LINEAR,
    TAPER_GPU_KIND_NORM,
    TAPER_GPU_KIND_WINOGRAD = 10
};

// Parameters of a quantized layer. For each channel, the sum of integers begins with start[channel] and becomes quint8
// when it is multiplied by factor[channel].
typedef struct taper_gpu_integers {
    const int32_t *start;
    const float *factor;
    double in_scale, out_scale;
    double in_point, point, least; // zero points of input and result; smallest value of the result
    bool small;                    // true if floats represent all sums exactly
} taper_gpu_integers;

typedef struct taper_gpu_layer {
    const taper_gpu_integers *integers; // parameters of a layer with a qint8 weight; NULL for float32
    // Constants of the layer; `norm` contains γ, β, μ, σ²; each may be NULL.
    const taper_tensor *weight, *bias, *norm[4];
    bool has_norm;
    double eps;
    int64_t out, in; // numbers of result and input channels, of all groups together
    int64_t groups, kernel[2];
    int64_t tile; // number of vectors of results that a thread computes
    // Number of channels of a part; parts are groups, or merged groups, that are computed separately.
    int64_t part_in, part_out;
    int64_t first;          // first result channel that is computed, if only some channels of the weight are used
    bool transposed;        // true for a convolution whose weight is [in, out / groups, …]
    bool transposed_linear; // true for a linear layer whose weight is [in, out]
} taper_gpu_layer;

// Reads a constant float32 tensor. If `needed` is false, None is accepted and gives NULL.
TAPER_MUST_USE taper_status taper_gpu_constant(taper_gpu_emitter *e, const taper_ir_value *value, bool needed,
                                               const taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_gpu_read_norm(taper_gpu_emitter *e, const taper_node *node, int64_t channels,
                                                taper_gpu_layer *l);
// Merges a batch norm into the weights of the layer, if it is the only user of *value. *value then becomes the result
// of the batch norm.
void taper_gpu_take_norm(taper_gpu_emitter *e, const taper_ir_value **value, taper_gpu_layer *l);
// Refuses a bias that does not have one number for each result, so that kernels never read past the end of the bias.
// The CPU then runs the node and reports the error.
TAPER_MUST_USE taper_status taper_gpu_check_bias(taper_gpu_emitter *e, const taper_gpu_layer *l);
taper_gpu_key taper_gpu_layer_key(const taper_gpu_layer *l, uint32_t kind);
// Returns the number of weight vectors. The order of the vectors is [part][tile of results][tap][channel, rounded up to
// vectors][vectors of the tile]. Biases follow, at vector *bias.
int64_t taper_gpu_layer_vectors(const taper_gpu_layer *l, int64_t *bias);
// Fills the constants, for taper_gpu_weights_get; `user` is the layer. The constants of a depthwise layer are
// [tap][vectors], then biases. The constants of a norm that is not merged into a layer are scales, then shifts.
void taper_gpu_fill_layer(void *user, float *to);
// Computes the scale and shift of a result channel from its batch norm and bias.
void taper_gpu_layer_scale(const taper_gpu_layer *l, int64_t channel, double *scale, double *shift);
// The weights of a result channel in the original tensor: floats or integers, at index `at` plus strides.
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
// Reads the object of packed weights, argument 1 of a prepacked:: operator.
TAPER_MUST_USE taper_status taper_gpu_packed_object(taper_gpu_emitter *e, const taper_node *node,
                                                    taper_object **object);

// ---- the kernel (product.c)

// The arguments of the kernel that multiplies. The view `out` describes the result of a part. Its dimensions are batch,
// rows, columns, and vectors of the part's channels.
typedef struct taper_gpu_product {
    taper_gpu_view in, out;
    int64_t in_strides[3];
    int64_t in_sizes[2], out_sizes[3]; // in_sizes: rows and columns; out_sizes: batch, rows and columns
    // parts: number of parts. in_groups, out_groups: numbers of vectors of channels in a part of the input and of the
    // output.
    int64_t parts, in_groups, out_groups;
    int64_t kernel[2], stride[2], padding[2], dilation[2];
    bool padded, linear, guarded, biased, rows_packed, transposed;
    bool exact;           // true if integers are summed exactly, in 32 bits
    int64_t pixels, tile; // results of a thread: neighbouring pixels, and vectors of each pixel (taper_gpu_choose_tile)
    uint32_t team;        // number of threads that compute results together
    double outside;       // value of elements in the padding
    uint32_t weights;     // number of the weights' memory
    int64_t w_offset, w_batch, w_part, w_tile, w_row, w_rows, w_group, bias;
    double operations;
} taper_gpu_product;

// Chooses the tile according to the sizes of the product. Call this before weights are packed, because they are packed
// in tiles.
void taper_gpu_choose_tile(const taper_gpu_emitter *e, taper_gpu_product *p);
TAPER_MUST_USE taper_status taper_gpu_add_product(taper_gpu_emitter *e, const taper_gpu_product *p,
                                                  const taper_gpu_loops *loops, const taper_gpu_chain *chain);
typedef struct taper_gpu_geometry {
    int64_t stride[2], padding[2], dilation[2], groups;
    bool transposed;
} taper_gpu_geometry;
// Emits a convolution of images that are packed along their channels (rules_conv.c).
TAPER_MUST_USE taper_status taper_gpu_emit_images(taper_gpu_emitter *e, taper_gpu_layer *l,
                                                  const taper_gpu_geometry *geometry, const taper_gpu_view *in,
                                                  const taper_gpu_view *out, const taper_gpu_chain *chain);
// Emits x times a constant matrix, and the steps that follow (rules_linear.c).
TAPER_MUST_USE taper_status taper_gpu_emit_linear(taper_gpu_emitter *e, const taper_ir_value *x, taper_gpu_layer *l,
                                                  const taper_ir_value *result, const taper_shape *shape, double min,
                                                  double max);

#endif
