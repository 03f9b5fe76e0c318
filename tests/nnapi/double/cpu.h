// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of the emulation of NNAPI. Each operation has two steps: `prepare` checks the arguments and computes
// the sizes of the results, `run` computes the results. This code does not depend on the API; cpu_table.c lists the
// operations.
#ifndef TAPER_TESTS_NNAPI_CPU_H
#define TAPER_TESTS_NNAPI_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/nnapi/neural_networks.h"

enum { DOUBLE_RANK = 8 };

// A tensor. A scalar has no dimensions. Elements are in row-major order.
typedef struct tensor {
    int32_t type;
    uint32_t rank;
    uint32_t sizes[DOUBLE_RANK];
    float scale;
    int32_t zero_point;
    const float *channel_scales;
    uint32_t channel_dim;
    void *data; // elements in row-major order; NULL while the value is unknown
    bool omitted;
} tensor;

// A window that moves over images, with the numbers from the operation's arguments.
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
    tensor *out; // result; prepare sets its rank and sizes
    uint32_t out_count;
    window window;
    // For operations that move elements: offset of the first source element, and the step of each dimension, in
    // elements.
    int64_t offset, steps[DOUBLE_RANK];
    uint32_t axis;
    bool axes[DOUBLE_RANK];
    char why[200]; // reason why prepare failed
} call;

typedef struct operation_kernel {
    int32_t code;
    bool (*prepare)(call *c);
    void (*run)(const call *c);
} operation_kernel;

// Returns the functions of an operation, or NULL if the emulation does not have the operation.
const operation_kernel *double_kernel(int32_t code);

// ---- for the kernels (cpu_tensor.c)

__attribute__((format(printf, 2, 3))) bool refuse(call *c, const char *format, ...); // sets c->why, returns false
size_t type_width(int32_t type); // returns the bytes of an element, or 0 for an unknown type
bool type_is_tensor(int32_t type);
bool type_is_quant8(int32_t type);    // returns true for types with one scale and a zero point
size_t tensor_count(const tensor *t); // returns the number of elements, or SIZE_MAX if there are too many
bool tensor_sized(const tensor *t);   // returns true if all dimensions are known
int32_t scalar_int(const call *c, uint32_t input);
float scalar_float(const call *c, uint32_t input);
bool scalar_bool(const call *c, uint32_t input);
int32_t list_int(const tensor *t, uint32_t at);
void set_sizes(tensor *out, uint32_t rank, const uint32_t *sizes);
bool prepare_like_first(call *c);

// These functions read and write an element as a real number; int32 elements keep their value. The functions do not
// support weights with a scale per channel.
float get_real(const tensor *t, size_t at);
void put_real(const tensor *t, size_t at, float value);
int32_t get_quantized(const tensor *t, size_t at); // returns the stored integer
void put_quantized(const tensor *t, size_t at, int32_t value);
void quantized_range(int32_t type, int32_t *low, int32_t *high);

bool check_fuse(call *c, int32_t fuse);
float apply_fuse(int32_t fuse, float value);
// Returns the range of integers that a quantized tensor has after an activation.
void fused_range(const tensor *t, int32_t fuse, int32_t *low, int32_t *high);
// Returns round(sum * multiplier). The multiplier is represented by 31 bits and a power of two, as in drivers.
int32_t scale_sum(int64_t sum, double multiplier);

// Sets *axis to the dimension with this number; a negative number counts from the last dimension.
bool find_axis(call *c, int32_t number, uint32_t rank, uint32_t *axis);

// The sizes of an image and the strides of its dimensions, which may be in any order.
typedef struct image {
    uint32_t batch, height, width, channels;
    size_t step_n, step_h, step_w, step_c;
} image;
image see_image(const tensor *t, bool nchw);
void set_image(tensor *t, bool nchw, uint32_t batch, uint32_t height, uint32_t width, uint32_t channels);
// read_scheme computes the paddings for a scheme (SAME, VALID). check_window computes the size of the result from the
// paddings.
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
