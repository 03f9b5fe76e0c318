// SPDX-License-Identifier: BSD-2-Clause
// Constants in the device's memory, in the order in which shaders read them. They are made once and shared by all
// recordings that use them; the last release frees them.
#ifndef TAPER_BACKENDS_GPU_WEIGHTS_H
#define TAPER_BACKENDS_GPU_WEIGHTS_H

#include "backends/gpu/gpu_state.h"
#include "ir/tensor_def.h"

// The source of constants. A constant keeps its address while packed weights of it exist, so the address of its bytes
// identifies the constant. A key has at most TAPER_GPU_KEY_TENSORS tensors and TAPER_GPU_KEY_NUMBERS numbers.
enum { TAPER_GPU_KEY_TENSORS = 8, TAPER_GPU_KEY_NUMBERS = 13 };
typedef struct taper_gpu_key {
    const taper_tensor *tensors[TAPER_GPU_KEY_TENSORS]; // source tensors; NULL if unused
    double numbers[TAPER_GPU_KEY_NUMBERS];
    uint32_t kind; // number of the function that fills the constants
} taper_gpu_key;

typedef struct taper_gpu_weights {
    struct taper_gpu_weights *next;
    struct { // identity of each tensor
        const void *data;
        int64_t offset, sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    } names[TAPER_GPU_KEY_TENSORS];
    double numbers[TAPER_GPU_KEY_NUMBERS];
    uint32_t kind;
    size_t users;
    taper_gpu_buffer buffer;
} taper_gpu_weights;

// Finds the constants of a key. If they do not exist yet, makes `bytes` bytes of constants and fills them by fill(user,
// zeroed memory). The result is an owned reference.
TAPER_MUST_USE taper_status taper_gpu_weights_get(taper_gpu_state *state, const taper_gpu_key *key, uint64_t bytes,
                                                  void (*fill)(void *user, float *to), void *user,
                                                  taper_gpu_weights **weights, taper_error *error);
void taper_gpu_weights_release(taper_gpu_state *state, taper_gpu_weights *weights);

#endif
