// SPDX-License-Identifier: BSD-2-Clause
// How the double computes: one call of an operation is prepared, which checks its arguments and finds the sizes of its
// results, and then run. Nothing here knows of the API; cpu_table.c has the list.
#ifndef TAPER_TESTS_NNAPI_CPU_H
#define TAPER_TESTS_NNAPI_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/nnapi/neural_networks.h"

enum { DOUBLE_RANK = 8 };

// A scalar has no dimensions. Elements lie in the order of the dimensions, the last one innermost.
typedef struct tensor {
    int32_t type;
    uint32_t rank;
    uint32_t sizes[DOUBLE_RANK];
    float scale;
    int32_t zero_point;
    const float *channel_scales;
    uint32_t channel_dim;
    void *data; // NULL: not known yet
    bool omitted;
} tensor;

// A window that moves over images, as its operation's arguments describe it.
typedef struct window {
    int32_t left, right, top, bottom, stride_w, stride_h, dilation_w, dilation_h, width, height, multiplier, groups,
        fuse;
    bool nchw;
} window;

typedef struct call {
    int level;
    int32_t code;
    tensor *in;
    uint32_t in_count;
    tensor *out; // prepare sets rank and sizes
    uint32_t out_count;
    window window;
    int64_t offset, steps[DOUBLE_RANK]; // of operations that move elements: where the first is, what a step costs
    uint32_t axis;
    bool axes[DOUBLE_RANK];
    char why[200]; // why prepare refused
} call;

typedef struct operation_kernel {
    int32_t code;
    bool (*prepare)(call *c);
    void (*run)(const call *c);
} operation_kernel;

// NULL: the double does not know the operation.
const operation_kernel *double_kernel(int32_t code);

// ---- for the kernels (cpu_tensor.c)

__attribute__((format(printf, 2, 3))) bool refuse(call *c, const char *format, ...); // false
size_t type_width(int32_t type);                                                     // bytes; 0: unknown
bool type_is_tensor(int32_t type);
bool type_is_quant8(int32_t type);    // with one scale and a zero point
size_t tensor_count(const tensor *t); // SIZE_MAX: too many
bool tensor_sized(const tensor *t);   // all dimensions are known
int32_t scalar_int(const call *c, uint32_t input);
float scalar_float(const call *c, uint32_t input);
bool scalar_bool(const call *c, uint32_t input);
int32_t list_int(const tensor *t, uint32_t at);
void set_sizes(tensor *out, uint32_t rank, const uint32_t *sizes);
bool prepare_like_first(call *c);

// An element as the number that it stands for; integers are themselves. Not for weights with a scale per channel.
float get_real(const tensor *t, size_t at);
void put_real(const tensor *t, size_t at, float value);
int32_t get_quantized(const tensor *t, size_t at); // the integer itself
void put_quantized(const tensor *t, size_t at, int32_t value);
void quantized_range(int32_t type, int32_t *low, int32_t *high);

bool check_fuse(call *c, int32_t fuse);
float apply_fuse(int32_t fuse, float value);
// The integers that an activation leaves of a quantized tensor's.
void fused_range(const tensor *t, int32_t fuse, int32_t *low, int32_t *high);
// round(sum * multiplier), with the multiplier as 31 bits and a power of two, as drivers do it.
int32_t scale_sum(int64_t sum, double multiplier);

// A dimension, counted from the end where it is negative.
bool find_axis(call *c, int32_t number, uint32_t rank, uint32_t *axis);

// An image's sizes and the distances between its elements, whichever order its dimensions have.
typedef struct image {
    uint32_t batch, height, width, channels;
    size_t step_n, step_h, step_w, step_c;
} image;
image see_image(const tensor *t, bool nchw);
void set_image(tensor *t, bool nchw, uint32_t batch, uint32_t height, uint32_t width, uint32_t channels);
// Padding of a scheme (SAME, VALID) or as given, and the size of what a window makes of an image.
bool check_window(call *c, const image *in, uint32_t *height, uint32_t *width);
bool read_scheme(call *c, int32_t scheme, const image *in);

bool prepare_binary(call *c);
void run_binary(const call *c);
bool prepare_unary(call *c);
void run_unary(const call *c);
bool prepare_cast(call *c);
void run_cast(const call *c);
bool prepare_conv(call *c);
void run_conv(const call *c);
bool prepare_transposed(call *c);
void run_transposed(const call *c);
bool prepare_linear(call *c);
void run_linear(const call *c);
bool prepare_pool(call *c);
void run_pool(const call *c);
bool prepare_resize(call *c);
void run_resize(const call *c);
bool prepare_softmax(call *c);
void run_softmax(const call *c);
bool prepare_mean(call *c);
void run_mean(const call *c);
bool prepare_concat(call *c);
void run_concat(const call *c);
bool prepare_reshape(call *c);
bool prepare_squeeze(call *c);
bool prepare_expand(call *c);
void run_copy(const call *c);
bool prepare_pad(call *c);
void run_pad(const call *c);
bool prepare_transpose(call *c);
bool prepare_slice(call *c);
bool prepare_strided(call *c);
void run_gather(const call *c);
bool prepare_split(call *c);
void run_split(const call *c);
bool prepare_depth(call *c);
void run_depth(const call *c);
bool prepare_shuffle(call *c);
void run_shuffle(const call *c);

#endif
